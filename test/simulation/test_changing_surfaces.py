"""Surfaces that are not the same everywhere, or move."""

import numpy as np
import pytest

from helpers.execution_systems import GRAVITY
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.execution import ExecutionStatus
from hybrid_contact_ros.simulation.simulate import simulate


class Patches:
    """A point of 1 kg on a floor with its friction, and restitution, a function of x; pushed along it by ``push``."""

    def __init__(self, friction, restitution=lambda x: 0.0, push=0.0):
        self.friction, self.restitution, self.push = friction, restitution, push

    def problem(self, q, v):
        mu, e = self.friction(q[0]), self.restitution(q[0])
        bias = [-self.push, GRAVITY]
        return ContactProblem(np.eye(2), v, [[0, 1.0]], [[[1.0, 0]]], [mu], [e], gap=[q[1]], bias_force=bias)


def test_a_slide_from_ice_onto_rough_ground_is_braked_there():
    execution = simulate(Patches(lambda x: 0.0 if x < 1.0 else 0.5), [0.0, 0.0], [2.0, 0.0], 3.0)
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.word == ("{0}", "{0~}", "{0}")
    assert execution.q[-1, 0] == pytest.approx(1.0 + 2.0**2 / (2 * 0.5 * GRAVITY), abs=1e-8)
    assert [event.time for event in execution.events] == pytest.approx([0.5, 0.5 + 2.0 / (0.5 * GRAVITY)], abs=1e-6)


def test_a_slide_from_rough_ground_onto_ice_goes_on_without_friction():
    execution = simulate(Patches(lambda x: 0.5 if x < 0.2 else 0.0), [0.0, 0.0], [2.0, 0.0], 1.0)
    assert execution.v[-1, 0] == pytest.approx(np.sqrt(4.0 - 2 * 0.5 * GRAVITY * 0.2), abs=1e-6)


def test_a_push_that_friction_held_moves_on_ice():
    # It slides onto the ice with its last speed, and would stick at this push on the ground before
    execution = simulate(Patches(lambda x: 0.5 if x < 0.2 else 0.0, push=2.0), [0.0, 0.0], [1.5, 0.0], 1.0)
    speed = np.sqrt(1.5**2 - 2 * (0.5 * GRAVITY - 2.0) * 0.2)
    time = (1.5 - speed) / (0.5 * GRAVITY - 2.0)
    assert execution.v[-1, 0] == pytest.approx(speed + 2.0 * (1.0 - time), abs=1e-6)


def test_friction_that_grows_along_the_way_stops_where_its_work_has_eaten_the_speed():
    execution = simulate(Patches(lambda x: 0.2 + x), [0.0, 0.0], [2.0, 0.0], 3.0)
    stop = -0.2 + np.sqrt(0.04 + 2.0**2 / GRAVITY)  # g (0.2 x + x²/2) = v²/2
    assert execution.q[-1, 0] == pytest.approx(stop, abs=1e-8)
    assert execution.word == ("{0~}", "{0}")


def test_a_ball_bounces_with_the_restitution_of_where_it_lands():
    bouncing = Patches(lambda x: 0.0, lambda x: 0.0 if x < 1.0 else 0.5)
    fall = np.sqrt(2.0 / GRAVITY)
    for start, e in ((0.0, 0.0), (2.0, 0.5)):
        execution = simulate(bouncing, [start, 1.0], [0.5, 0.0], 1.2 * fall)
        np.testing.assert_allclose(execution.events[0].velocity_after[1], e * GRAVITY * fall, atol=1e-9)


class Rising:
    """A ball over a floor that rises by a function of time."""

    def __init__(self, floor):
        self.floor = floor

    def problem(self, q, v, time=0.0):
        gap = [q[0] - self.floor(time)]
        return ContactProblem([[1.0]], v, [[1.0]], [[[0.0]]], [0.0], gap=gap, bias_force=[GRAVITY])


class RisingGap(Rising):
    def gap(self, q, time=0.0):
        return np.array([q[0] - self.floor(time)])


@pytest.mark.parametrize("floor", [lambda t: 0.2 * t, lambda t: 0.1 * np.sin(2 * np.pi * t)])
@pytest.mark.parametrize("kind", [Rising, RisingGap])
def test_a_floor_that_moves_with_time_is_refused_and_has_to_be_a_coordinate(kind, floor):
    with pytest.raises(ValueError, match=r"changes with time.*coordinate"):
        simulate(kind(floor), [1.0], [0.0], 1.0)


def test_a_floor_that_is_found_to_move_on_the_way_ends_the_execution():
    class Hidden(Rising):
        def gap(self, q):
            return np.array([q[0]])

    execution = simulate(Hidden(lambda t: 0.2 * t), [1.0], [0.0], 1.0)
    assert execution.status is ExecutionStatus.DIVERGED
    assert "changes with time" in execution.why
    assert execution.intervals[-1].end == pytest.approx(np.sqrt(2.0 / GRAVITY))


def test_forces_that_depend_on_time_are_no_moving_floor():
    class Pushed:
        def problem(self, q, v, time=0.0):
            bias = [GRAVITY - 20.0 * time]
            return ContactProblem([[1.0]], v, [[1.0]], [[[0.0]]], [0.0], gap=[q[0]], bias_force=bias)

    assert simulate(Pushed(), [0.0], [0.0], 1.0).word == ("{0}", "{}")
