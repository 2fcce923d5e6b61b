"""Foot sensors through the whole estimator: they decide without efforts, wherever the ground is."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.recordings import WALKER
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.support import weight
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.sensors import ContactForces
from hybrid_contact_ros.mechanics.state import RobotState

CONFIG = EstimatorConfig.from_mapping({"contacts": {side: {"link": f"{side}_foot"} for side in ("left", "right")}})
MODEL = RigidBodyModel.from_urdf(WALKER, CONFIG)
HALF = 0.5 * weight(MODEL)
WRONG = 0.025  # m, by which the ground is higher than the configured plane: more than feet that are still may be


@pytest.fixture(scope="module")
def estimator():
    return ContactEstimator(MODEL, CONFIG)


def standing(k: int, loads=None, swing=(0.0, 0.0), rates=(0.0, 0.0), frame=0.0) -> RobotState:
    """A state in which the feet are WRONG above the plane; loads: of the feet, parts of half of the weight. ``frame``:
    roll of the base, by which the axes of the sensors are turned."""
    q = np.r_[0.0, 0.0, 0.5 + WRONG, np.sin(frame / 2), 0.0, 0.0, np.cos(frame / 2), swing]
    v = np.r_[np.zeros(6), rates]
    forces = None
    if loads is not None:
        force = HALF * np.outer(loads, [0.0, np.sin(frame), np.cos(frame)])
        stamps = np.full(2, 10**9 + k * 1_000_000)
        forces = ContactForces(stamps, force, np.zeros(2, np.bool_), np.ones(2, np.bool_))
    return RobotState(10**9 + k * 1_000_000, q, v, contact_force=forces)


def last(estimator, states) -> np.ndarray:
    estimator.reset()
    for state in states:
        mode = estimator.update(state, Parts.MODE).mode
    return mode.closed


def test_a_foot_that_bears_load_is_closed_wherever_the_ground_is(estimator):
    assert not last(estimator, [standing(k) for k in range(30)]).any()
    assert last(estimator, [standing(k, (1.0, 1.0)) for k in range(30)]).all()
    one = [standing(k, (1.0, 1.0)) for k in range(30)] + [standing(k, (2.0, 0.0)) for k in range(30, 60)]
    assert last(estimator, one).tolist() == [True, False]
    assert estimator.sensors_doubted is False and len(estimator.sensors()) == 2


def test_a_force_is_read_in_the_axes_of_its_link(estimator):
    """The robot is rolled by 60°: the force is still along the ground's normal, and half of it in the link's z."""
    tilted = [standing(k, (1.0, 1.0), frame=1.0) for k in range(30)]
    last(estimator, tilted)
    assert estimator._engine.memory.beside.loads[0] == pytest.approx([1.0, 1.0], abs=1e-9)


def test_sensors_do_not_decide_where_they_are_not_asked_to():
    config = EstimatorConfig.from_mapping({"contacts": {s: {"link": f"{s}_foot"} for s in ("left", "right")},
                                           "sensors": {"decide": False}})  # fmt: skip
    assert not last(ContactEstimator(MODEL, config), [standing(k, (1.0, 1.0)) for k in range(30)]).any()


def test_what_came_once_and_comes_no_more_leaves_nothing_behind(estimator):
    """The states after the last measurement are answered as if there had been none, but for what is remembered."""
    states = [standing(k, (1.0, 1.0)) for k in range(10)] + [standing(k) for k in range(10, 13)]
    last(estimator, states)
    beside = estimator._engine.memory.beside
    assert not beside.given.present.any()
    assert (beside.memory.beside == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]).all()


def test_a_sensor_that_contradicts_its_foot_is_told_by_name(estimator):
    """The left foot stands and swings, and its sensor is loaded while it swings."""
    estimator.reset()
    for k in range(3000):
        phase = 2 * np.pi * (k % 400) / 400
        swings = phase < np.pi
        lift = 0.06 * np.sin(phase) if swings else 0.0
        rate = 0.06 * np.cos(phase) * 2 * np.pi / 0.4 if swings else 0.0
        estimator.update(standing(k, (1.0 if swings else 0.0, 1.5), (lift, 0.0), (rate, 0.0)), Parts.MODE)
    told = {one.contact: one for one in estimator.sensors()}
    assert told["left"].weight < 0.5 < told["right"].weight and estimator.sensors_doubted
    assert told["left"].sentence.startswith("the force sensor of left contradicts its foot's motion")
