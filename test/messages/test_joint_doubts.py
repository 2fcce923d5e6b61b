"""Velocities of joints are the rates of their positions, or it is told what is wrong with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.joint_doubts import JointDoubts

LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>
<limit lower="-9" upper="9" effort="99" velocity="99"/></joint>"""
ARM = (
    '<robot name="arm">'
    + "".join(LINK.format(name) for name in ("base", "upper", "lower", "wheel"))
    + JOINT.format(name="shoulder", kind="revolute", parent="base", child="upper")
    + JOINT.format(name="elbow", kind="prismatic", parent="upper", child="lower")
    + JOINT.format(name="roll", kind="continuous", parent="lower", child="wheel")
    + "</robot>"
)
MODELS = {
    floating: RigidBodyModel.from_urdf(
        ARM, EstimatorConfig.from_mapping({"floating_base": floating, "contacts": {"tip": {"link": "wheel"}}})
    )
    for floating in (False, True)
}


def told(
    change=lambda v: v, seconds=3.0, hz=500.0, swing=0.4, noise=0.0, floating=True, keep=lambda t: True, wrap=False
):
    """What is told of joints that swing, and of a wheel that rolls, whose velocities go through ``change``."""
    model, rng = MODELS[floating], np.random.default_rng(0)
    doubts, found, base = JointDoubts(model), [], 6 if floating else 0
    for k in range(int(seconds * hz)):
        t = k / hz
        if not keep(t):
            continue
        phase = 2.0 * np.pi * 1.3 * t + np.array([0.0, 1.0])
        joints = np.append(swing * np.sin(phase), 3.0 * t)
        rates = np.append(swing * 2.0 * np.pi * 1.3 * np.cos(phase), 3.0)
        step = np.zeros(model.nv)
        step[base:] = joints + 0.02 * noise * rng.normal(size=3)
        q = model.integrate(model.neutral(), step)
        if wrap:
            q[7 if floating else 0] = (step[base] + np.pi) % (2.0 * np.pi) - np.pi
        v = np.zeros(model.nv)
        v[base:] = change(rates + noise * rng.normal(size=3))
        found.append(doubts.add(RobotState(10**9 + round(1e9 * t), q, v)))
    return [words for words in found if words]


@settings(deadline=None, max_examples=20)
@given(
    swing=st.floats(0.0, 1.0), noise=st.floats(0.0, 0.2), scale=st.floats(0.7, 1.4),
    hz=st.sampled_from([20.0, 60.0, 1000.0]),
    floating=st.booleans(),
)  # fmt: skip
def test_rates_of_positions_are_not_doubted_with_noise_and_a_scale_that_is_off(swing, noise, scale, hz, floating):
    assert told(lambda v: scale * v, 2.0, hz, swing, noise, floating) == []


def test_a_joint_that_shakes_quickly_is_not_told_to_move_otherwise_than_its_velocities_say():
    """5 mrad at 48 Hz: of velocities taken every 20 ms it would seem to swing by 0.12 rad at 2 Hz."""
    model, doubts = MODELS[False], JointDoubts(MODELS[False])
    for k in range(3000):
        phase = 2.0 * np.pi * 48.0 * 0.001 * k
        q = model.integrate(model.neutral(), np.array([0.005 * np.sin(phase), 0.0, 0.0]))
        v = np.array([0.005 * 2.0 * np.pi * 48.0 * np.cos(phase), 0.0, 0.0])
        assert doubts.add(RobotState(10**9 + k * 10**6, q, v)) == ""


def test_stamps_that_leap_while_the_joints_do_not_move_are_not_doubts_of_velocities():
    model, doubts, leapt, found = MODELS[True], JointDoubts(MODELS[True]), 0.0, []
    for k in range(2000):
        t = 0.002 * k
        leapt += 0.055 if k % 12 == 11 else 0.0
        step, v = np.zeros(model.nv), np.zeros(model.nv)
        step[6:], v[6:] = np.sin(9.0 * t), 9.0 * np.cos(9.0 * t)
        found.append(doubts.add(RobotState(round(1e9 * (t + leapt)), model.integrate(model.neutral(), step), v)))
    assert not any(found)


def test_velocities_that_are_never_filled_are_told_although_states_are_lost_in_runs():
    found = told(lambda v: 0.0 * v, 5.0, keep=lambda t: round(500.0 * t) % 20 < 13)
    assert len(found) > 500 and all("is it filled?" in each for each in found)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v: 0.0 * v, "shoulder, elbow, roll: 0 while the positions move; is it filled?"),
        (lambda v: v * [0.0, 1.0, 1.0], "shoulder: 0 while the positions move; is it filled?"),
        (lambda v: v * [1.0, 1.0, -1.0], "roll: against the positions; is the sign turned?"),
        (lambda v: v * 180.0 / np.pi, "times what the positions show; is it in rad/s or m/s?"),
        (lambda v: v[[1, 2, 0]], "are both of the same joint?"),
    ],
)
def test_velocities_of_another_motion_are_told_by_name_until_they_are_right(change, words, floating):
    found = told(change, floating=floating)
    assert len(found) > 0.6 * 3.0 * 500.0 and all(words in each for each in found)  # from 1 s on, each message


def test_pauses_a_robot_that_stands_and_encoders_that_jump_by_a_turn_are_not_told():
    assert told(lambda v: 0.0 * v, keep=lambda t: t % 0.9 < 0.7) == []  # never for a second
    assert told(lambda v: v * [1.0, 1.0, 0.0], swing=0.0, floating=False)  # the wheel alone
    assert told(swing=4.0, wrap=True) == []
