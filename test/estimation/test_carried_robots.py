"""A robot that something holds in the air is not said to fall for long, however little is known of its efforts."""

import numpy as np
import pytest

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
STEP, OVER = 0.002, 0.03  # s, m
GRAVITY = 9.81


@pytest.fixture(scope="module")
def robot():
    contacts = {foot: {"link": foot, "radius": 0.02} for foot in FEET}
    config = EstimatorConfig.from_mapping({"contacts": contacts})
    model = RigidBodyModel.from_urdf(example_urdf("a1_description/urdf/a1.urdf"), config)
    return ContactEstimator(model, config)


def modes(robot, speeds):
    """Of a robot without efforts whose feet begin ``OVER`` the ground; ``speeds`` of its base upwards, m/s."""
    robot.reset()
    q = np.zeros(19)
    q[6], q[7:] = 1.0, np.tile([0.0, 0.7, -1.4], 4)
    v = np.zeros(18)
    q[2] = 1.0
    q[2] += OVER - robot.model.problem(RobotState(0, q, v)).gap.min()
    for k, speed in enumerate(speeds):
        q[2] += STEP * speed
        v[2] = speed
        yield robot.update(RobotState(1 + k * round(1e9 * STEP), q.copy(), v.copy())).mode


def touches(mode):
    return mode.next_event == EventKind.TOUCHDOWN


def test_a_robot_that_hangs_still_is_not_said_to_touch(robot):
    told = list(modes(robot, np.zeros(50)))
    assert touches(told[0]).all()  # it may have been let go
    assert not any(touches(mode).any() for mode in told[25:])
    assert np.abs(told[-1].gap_acceleration).max() < 0.1


def test_a_robot_that_falls_is_said_to_touch_when_it_will(robot):
    fall = np.sqrt(2.0 * OVER / GRAVITY)
    for k, mode in enumerate(modes(robot, -GRAVITY * STEP * np.arange(30))):
        assert touches(mode).all()
        assert mode.time_to_event == pytest.approx(fall - k * STEP, abs=0.012)


def test_a_robot_that_is_lowered_evenly_is_said_to_touch_by_its_speed(robot):
    told = list(modes(robot, np.full(40, -0.3)))[-1]
    assert touches(told).all() and told.time_to_event == pytest.approx((OVER - 40 * STEP * 0.3) / 0.3, abs=0.005)
