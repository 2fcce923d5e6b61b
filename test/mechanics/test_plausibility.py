"""What a joint can measure at all: far beyond the URDF's limits is refused by name, and nothing that robots do is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.joints import BaseMeasurement, ImplausibleError
from hybrid_contact_ros.mechanics.model import RigidBodyModel

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
BASE = BaseMeasurement((0, 0, 0), (0, 0, 0, 1), (0, 0, 0), (0, 0, 0))
ROBOTS = (
    "go2_description/urdf/go2.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "double_pendulum_description/urdf/double_pendulum_simple.urdf",
)


def arm(kind: str = "revolute", limit: str = 'lower="-1" upper="2" velocity="4" effort="30"') -> RigidBodyModel:
    """One joint on a fixed base."""
    element = f"<limit {limit}/>" if limit else ""
    text = (
        f'<robot name="arm"><link name="base">{INERTIA}</link><link name="tip">{INERTIA}</link>'
        f'<joint name="elbow" type="{kind}"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>{element}'
        "</joint></robot>"
    )
    return RigidBodyModel.from_urdf(text, EstimatorConfig(floating_base=False))


def fault(model: RigidBodyModel, position=0.0, velocity=0.0, effort=0.0, factor=10.0):
    n = len(model.joint_names)
    values = [np.broadcast_to(np.asarray(x, float), n) for x in (position, velocity, effort)]
    return model.plausibility(factor).fault(model.joint_map(model.joint_names).state(1, *values, BASE))


@pytest.mark.parametrize(
    ("kind", "value", "whose", "unit"),
    [("position", 1e300, "state", "rad"), ("velocity", 1e6, "state", "rad/s"), ("effort", 1e300, "effort", "N m")],
)
def test_a_value_far_beyond_the_limits_is_named_with_its_joint_and_bounds(kind, value, whose, unit):
    found = fault(arm(), **{kind: value})
    assert found is not None and found[0] == whose
    assert f"{kind} of joint 'elbow' is {value:.6g} {unit}, outside [" in found[1]


def test_stops_turns_of_the_encoder_and_impacts_are_plausible():
    model = arm()
    for position in (-1.0, 2.0, -1.05, 2.1, *(2.0 + 2.0 * math.pi * np.arange(-9, 9))):
        assert fault(model, position=position) is None
    for velocity in (4.0, -39.0):
        assert fault(model, velocity=velocity) is None
    assert fault(model, effort=-299.0) is None
    assert fault(model, velocity=41.0) is not None and fault(model, effort=301.0) is not None


def test_a_prismatic_joint_in_millimetres_is_noticed():
    assert fault(arm("prismatic", 'lower="0" upper="0.04" velocity="0.2" effort="20"'), position=20.0) is not None
    assert fault(arm("prismatic", 'lower="0" upper="0.04" velocity="0.2" effort="20"'), position=0.045) is None


@pytest.mark.parametrize("limit", ['lower="0" upper="0" velocity="0" effort="0"', 'velocity="0" effort="0"'])
def test_limits_of_zero_count_as_none(limit):
    model = arm("revolute", limit)
    assert fault(model, position=1e3, velocity=300.0, effort=1e4) is None
    for kind in ("position", "velocity", "effort"):
        assert fault(model, **{kind: 1e300}) is not None


def test_a_continuous_joint_turns_on_and_on_until_its_angle_means_nothing():
    model = arm("continuous", "")
    assert fault(model, position=1e6, velocity=300.0) is None
    with pytest.raises(ImplausibleError, match="position of joint 'elbow' is 1e\\+300 rad"):
        fault(model, position=1e300)


def test_a_factor_of_zero_switches_the_look_off():
    assert not arm().plausibility(0.0).on and arm().plausibility(10.0).on


@pytest.mark.parametrize("path", ROBOTS)
def test_robots_at_their_stops_with_turned_encoders_and_three_times_their_speed_are_plausible(path):
    model = RigidBodyModel.from_urdf(example_urdf(path), EstimatorConfig())
    limits = model.pinocchio_model
    joints = [limits.joints[limits.getJointId(name)] for name in model.joint_names]
    low = np.array([limits.lowerPositionLimit[j.idx_q] for j in joints])
    high = np.array([limits.upperPositionLimit[j.idx_q] for j in joints])
    speed = np.minimum([limits.velocityLimit[j.idx_v] for j in joints], 1e3)
    strength = np.minimum([limits.effortLimit[j.idx_v] for j in joints], 1e5)
    revolute = np.array(["P" not in j.shortname().removeprefix("JointModel")[:1] for j in joints])
    for stop in (np.clip(low, -10.0, 10.0), np.clip(high, -10.0, 10.0)):
        for turns in (-3, 0, 3):
            position = stop + np.where(revolute, 2.0 * math.pi * turns, 0.01 * turns)
            assert fault(model, position, 3.0 * speed, -3.0 * strength) is None
    for kind, value in (("velocity", 1e6), ("effort", 1e300)):
        assert fault(model, **{kind: value}) is not None


def test_a_link_is_where_the_root_is_only_when_it_is_bolted_on_without_an_offset():
    text = (
        f'<robot name="r"><link name="base">{INERTIA}</link><link name="trunk"/><link name="imu"/>'
        f'<link name="leg">{INERTIA}</link>'
        '<joint name="a" type="fixed"><parent link="base"/><child link="trunk"/></joint>'
        '<joint name="b" type="fixed"><parent link="base"/><child link="imu"/><origin xyz="0.1 0 0"/></joint>'
        '<joint name="c" type="continuous"><parent link="base"/><child link="leg"/><axis xyz="0 0 1"/></joint></robot>'
    )
    model = RigidBodyModel.from_urdf(text, EstimatorConfig())
    assert model.base_offset("base") == model.base_offset("/base") == model.base_offset("trunk") == 0.0
    assert model.base_offset("imu") == pytest.approx(0.1)
    assert model.base_offset("leg") == math.inf and model.base_offset("nose") is None
