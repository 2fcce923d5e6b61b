"""Recordings written as bags: what is not known is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.quadruped import CONFIG, Gait, walk
from hybrid_contact_ros.config_node import InputConfig
from hybrid_contact_ros.recordings.unit import specific_force
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag


def test_a_recording_without_velocities_is_written_without_them(fall, tmp_path):
    bare = replace(fall, dq=None, effort=None)
    counts = write_recording(bare, tmp_path / "bare.mcap")
    assert counts["/joint_states"] == fall.time.size


def test_an_inertial_unit_is_written_and_a_replay_needs_no_odometry_then(tmp_path):
    """A walk whose base is known in closed form: by its legs and the unit its height is found within 5 mm."""
    told = walk(Gait(seconds=3.0))
    counts = write_recording(told, tmp_path / "walk.mcap", imu=True)
    assert counts["/imu"] == told.time.size
    force = specific_force(told)
    assert np.median(np.linalg.norm(force, axis=1)) == pytest.approx(9.81, abs=0.2)
    found: list[float] = []
    alone = replace(CONFIG, input=InputConfig(base="imu"))
    replay_bag(tmp_path / "walk.mcap", alone, on_prediction=lambda state, _: found.append(state.q[2]))
    assert len(found) > 0.9 * told.time.size
    moved = np.array(found) - told.position[-len(found) :, 2]
    assert np.ptp(moved[200:]) < 0.005


def test_a_recording_of_a_fixed_base_has_no_inertial_unit(fall, tmp_path):
    with pytest.raises(ValueError, match="floating base"):
        write_recording(replace(fall, quaternion=None, position=None), tmp_path / "fixed.mcap", imu=True)
    assert not (tmp_path / "fixed.mcap").exists()
