"""A real cube's bounces: fitted on one part of the tosses, contained on another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks import cube_tosses
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

CONFIG = Path(__file__).resolve().parents[2] / "config"

FITTED = cube_tosses.Cube(0.00270, 0.00257, (0.0, 0.0, 0.0063), 0.004, 0.0003)
"""What the benchmark identifies from the tosses with toss_id % 3 == 1, rounded."""


@pytest.fixture
def events(shared, monkeypatch) -> list[cube_tosses.Event]:
    monkeypatch.setenv("HYBRID_CONTACT_SHARED", str(shared))
    found = cube_tosses.load()
    if found is None:
        pytest.skip("no cube tosses in the shared data")
    return [event for event in found if event.toss % 3 == 2]


def test_sets_with_intervals_contain_what_the_cube_did(events):
    model = cube_tosses.law("poisson", restitution=(0.25, 0.39), friction=(0.12, 0.20))
    nearest, radius, _ = cube_tosses.score(FITTED, model, events).T
    assert np.mean(nearest <= 0.15) >= 0.95 and np.mean(nearest <= 0.10) >= 0.70
    assert np.median(radius) <= 0.15


def test_the_configuration_of_the_cube_contains_them_too(shared):
    """What a user of ``config/cube.yaml`` gets: ``ContactEstimator.impact`` chooses the corners, set as configured."""
    path = shared / "data" / "cube_tosses" / "events.npz"
    if not path.exists():
        pytest.skip("no cube tosses in the shared data")
    events = np.load(path)
    config = EstimatorConfig.from_file(CONFIG / "cube.yaml")
    estimator = ContactEstimator(RigidBodyModel.from_urdf(CONFIG / "cube.urdf", config), config)
    nearest = []
    for i in np.flatnonzero(events["clean"] & (events["toss_id"] % 3 == 2))[::3]:
        turn = Rotation.from_quat(events["quat_wxyz"][i][[1, 2, 3, 0]])
        before, after = (
            np.concatenate([turn.inv().apply(events[f"{name}_{when}"][i]) for name in ("v", "omega_world")])
            for when in ("pre", "post")
        )
        state = RobotState(0, np.concatenate([events["pos"][i], turn.as_quat()]), before)
        outcomes = estimator.impact(state, deadline_ns=0).velocities
        jump = (after - before) * cube_tosses.WEIGHT
        nearest.append(np.linalg.norm((outcomes - after) * cube_tosses.WEIGHT, axis=1).min() / np.linalg.norm(jump))
    assert np.mean(np.array(nearest) <= 0.15) >= 0.97 and np.mean(np.array(nearest) <= 0.10) >= 0.95


def test_the_inelastic_set_cannot_contain_them(events):
    nearest, _, _ = cube_tosses.score(FITTED, cube_tosses.law("inelastic", friction=0.16), events[::4]).T
    assert np.mean(nearest <= 0.15) == 0.0


def test_where_four_corners_meet_a_set_contains_what_one_answer_misses(events):
    together = [event for event in events if len(event.corners) == 4]
    contained = [
        np.mean(
            cube_tosses.score(FITTED, cube_tosses.law("poisson", 0.29, 0.16, single=single), together)[:, 0] <= 0.15
        )
        for single in (False, True)
    ]
    assert contained[0] > 0.9 and contained[1] < 0.6


def test_the_centre_of_mass_explains_the_single_corner_jumps(events):
    """Published geometry leaves 7 % of a jump that no impulse at the corner explains, the fitted one a sixth of it."""
    alone = [event for event in events if len(event.corners) == 1]
    left = [
        np.median([np.linalg.norm(cube_tosses.single_impulse(cube, event)[1]) for event in alone])
        for cube in (cube_tosses.Cube(), FITTED)
    ]
    assert left[0] > 0.06 and left[1] < 0.015
