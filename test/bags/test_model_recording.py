"""States of a model as a recording, which the replay reads back."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros import EstimatorConfig, RigidBodyModel, RobotState, model_recording


@pytest.fixture
def cube(root):
    urdf = (root / "config" / "cube.urdf").read_text()
    return RigidBodyModel.from_urdf(urdf, EstimatorConfig.from_file(root / "config" / "cube.yaml")), urdf


def test_contacts_are_closed_where_their_gap_is_nearly_nothing(cube):
    model, urdf = cube
    neutral = model.neutral()
    lowest = model.problem(RobotState(0, neutral, np.zeros(6))).gap.min()
    states = [(neutral + np.r_[0.0, 0.0, height - lowest, np.zeros(4)], np.zeros(6)) for height in (0.1, 1e-4, 0.0)]
    times = [0.0, 0.1, 0.2]
    recording = model_recording(model, urdf, times, states)
    assert recording.closed.sum(axis=1).tolist() == [0, 0, 4]
    assert model_recording(model, urdf, times, states, touching=1e-3).closed.sum(axis=1).tolist() == [0, 4, 4]
    assert recording.position.shape == (3, 3) and recording.q.shape == (3, 0) and recording.effort is None


def test_what_a_simulators_forces_say_takes_the_place_of_gaps_to_the_configured_ground(cube):
    model, urdf = cube
    states = [(model.neutral(), np.zeros(6))] * 2
    touched = np.zeros((2, len(model.contact_names)))
    touched[1, 3] = 1
    recording = model_recording(model, urdf, [0.0, 0.1], states, closed=touched > 0)
    assert recording.closed.dtype == bool and recording.closed.tolist() == (touched > 0).tolist()
    with pytest.raises(ValueError, match=r"closed has shape \(2, 1\) for 2 times and \d+ contacts"):
        model_recording(model, urdf, [0.0, 0.1], states, closed=touched[:, :1])


def test_numbers_of_states_and_efforts_must_agree(cube):
    model, urdf = cube
    state = (model.neutral(), np.zeros(6))
    with pytest.raises(ValueError, match="2 times, 1 states and 2 efforts"):
        model_recording(model, urdf, [0.0, 0.1], [state])
    with pytest.raises(ValueError, match="1 times, 1 states and 3 efforts"):
        model_recording(model, urdf, [0.0], [state], effort=np.zeros((3, 0)))
