"""Tolerances and intervals that change between two states: what is remembered stays, and all else is refused."""

from dataclasses import replace

import numpy as np
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.config_live import check_tuning, is_tunable
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

BALL = """<robot name="ball"><link name="ball"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""

ON_A_RAIL = """<robot name="slide"><link name="rail"/><link name="ball"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="down" type="prismatic"><parent link="rail"/><child link="ball"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="100" velocity="20"/></joint></robot>"""


def config(**changes):
    return EstimatorConfig.from_mapping({"contacts": {"ball": {"link": "ball", "radius": 0.1}}, **changes})


def fall(height=0.2, states=60):
    t = 0.002 * np.arange(states)
    z = np.maximum(0.1 + height - 0.5 * 9.81 * t**2, 0.1)
    v = np.where(z > 0.1, -9.81 * t, 0.0)
    for k in range(states):
        q, speed = np.array([0, 0, z[k], 0, 0, 0, 1.0]), np.array([0, 0, v[k], 0, 0, 0])
        yield RobotState(round(1e9 * t[k]), q, speed, np.zeros(6))


def estimator(given):
    return ContactEstimator(RigidBodyModel.from_urdf(BALL, given), given)


def bits(prediction):
    sets = () if prediction.impact is None else (prediction.impact.velocities.tobytes(),)
    mode = prediction.mode
    return mode.status.tobytes(), mode.probability.tobytes(), mode.time_to_event.tobytes(), sets


def test_the_same_configuration_changes_no_bit():
    given = config(impact={"deadline": 0.0, "samples": 32})
    left, tuned = estimator(given), estimator(given)
    for k, state in enumerate(fall()):
        if k % 7 == 3:
            tuned.tune(replace(given))
        assert bits(left.update(state)) == bits(tuned.update(state))


@pytest.mark.parametrize("locked", [False, True], ids=["floating", "arm"])
def test_the_state_before_is_still_the_one_that_an_impact_is_asked_of(locked):
    given = config(floating_base=not locked)
    thing = ContactEstimator(RigidBodyModel.from_urdf(ON_A_RAIL if locked else BALL, given), given)
    for state in fall(0.05, 30):
        joint = replace(state, q=state.q[2:3], v=state.v[2:3], effort=np.zeros(1))
        thing.update(joint if locked else state)
    before = thing.next_impact()
    thing.tune(replace(given))
    after = thing.next_impact()
    assert before is not None and before.time_to_impact == after.time_to_impact
    assert np.array_equal(before.velocity_minus, after.velocity_minus) and np.array_equal(before.mass, after.mass)


def test_another_noise_of_gaps_holds_from_the_next_state_on():
    given = config()
    thing, widths = estimator(given), []
    for k, state in enumerate(fall(0.05, 30)):
        if k == 20:
            thing.tune(replace(given, activation=replace(given.activation, gap_sigma=0.02)))
        mode = thing.update(state).mode
        widths.append(float(mode.latest[0] - mode.earliest[0]))
    assert widths[18] > widths[19] and widths[20] > 1.3 * widths[19]


def test_another_margin_of_friction_makes_the_next_set_wider():
    given = config(impact={"deadline": 0.0, "samples": 64})

    def width(margin):
        thing, found = estimator(given), None
        for k, state in enumerate(fall(0.05, 50)):
            if k == 5:
                thing.tune(replace(given, impact=replace(given.impact, friction_margin=margin)))
            sliding = replace(state, v=state.v + np.array([0.5, 0, 0, 0, 0, 0]))
            found = thing.update(sliding).impact or found
        return float(np.ptp(found.velocities[:, 0]))

    assert width(0.9) > width(0.05)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"observer": {"gain": 50.0}}, "observer.gain is read at configure"),
        ({"impact": {"directions": 8}}, "impact.directions is read at configure"),
        ({"impact": {"restitution_margin": 0.3}}, "clean the node up first"),
        ({"contacts": {"ball": {"link": "ball", "radius": 0.2}}}, "contacts is read at configure"),
    ],
)
def test_what_kernels_and_arrays_are_made_for_is_refused_and_stays(change, word):
    given = config()
    thing = estimator(given)
    with pytest.raises(ValueError, match=word):
        thing.tune(EstimatorConfig.from_mapping({"contacts": {"ball": {"link": "ball", "radius": 0.1}}, **change}))
    assert thing.config is given


def test_tolerances_and_intervals_may_be_set_and_nothing_else():
    assert is_tunable("activation.gap_on") and is_tunable("landing.rebound_max") and is_tunable("impact.deadline")
    assert not any(map(is_tunable, ("impact.law", "landing.remembered", "observer.gain", "activation", "joint_limits")))
    check_tuning(config(), config(stability={"grazing_speed": 0.2}))
