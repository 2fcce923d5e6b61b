"""JointMap: any joint order in, the model's order out; faults named."""

from __future__ import annotations

import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.mechanics_robots import joint, link, load, robot
from hybrid_contact_ros.config import Contact, EstimatorConfig
from hybrid_contact_ros.mechanics.joints import BaseMeasurement
from hybrid_contact_ros.mechanics.model import RigidBodyModel

ZERO = np.zeros(3)
LEVEL = BaseMeasurement((0.1, 0.2, 0.3), (0.0, 0.0, 0.0, 1.0), (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))


def base(quaternion) -> BaseMeasurement:
    return BaseMeasurement(ZERO, quaternion, ZERO, ZERO)


@pytest.fixture(scope="module")
def wheeled() -> RigidBodyModel:
    text = robot(
        link("base"),
        link("arm"),
        link("wheel"),
        link("slide"),
        joint("shoulder", "base", "arm"),
        joint("axle", "arm", "wheel", "continuous", axis="1 0 0"),
        joint("rail", "wheel", "slide", "prismatic", axis="0 0 1"),
    )
    return RigidBodyModel.from_urdf(text, EstimatorConfig())


def test_every_velocity_coordinate_has_its_unit(wheeled, go2):
    units = dict(zip(wheeled.velocity_names, wheeled.velocity_units, strict=True))
    assert {name: units[name] for name in wheeled.joint_names} == {"shoulder": "rad/s", "axle": "rad/s", "rail": "m/s"}
    assert go2.velocity_units == ("m/s",) * 3 + ("rad/s",) * 15


@settings(max_examples=60)
@given(st.data())
def test_any_order_with_any_strangers_gives_the_same_bits(go2, data):
    strangers = data.draw(st.lists(st.sampled_from(["gripper", "lidar", "arm_1"]), unique=True))
    names = list(data.draw(st.permutations([*go2.joint_names, *strangers])))
    value = {name: 0.1 * i for i, name in enumerate(go2.joint_names)}
    position = [value.get(n, np.nan) for n in names]
    rates = [2 * p for p in position]
    effort = [3 * p for p in position]
    mapping = go2.joint_map(names)
    assert mapping.ignored == tuple(n for n in names if n in strangers)
    state = mapping.state(7, position, rates, effort, LEVEL)
    plain = np.array([value[n] for n in go2.joint_names])
    assert state.stamp_ns == 7
    np.testing.assert_array_equal(state.q, [0.1, 0.2, 0.3, 0, 0, 0, 1, *plain])
    np.testing.assert_array_equal(state.v, [1, 2, 3, 4, 5, 6, *(2 * plain)])
    np.testing.assert_array_equal(state.effort, [0, 0, 0, 0, 0, 0, *(3 * plain)])
    assert state.fault(go2.nq, go2.nv) is None


@settings(max_examples=30)
@given(order=st.permutations(["shoulder", "axle", "rail"]), angle=st.floats(-10, 10))
def test_continuous_joints_come_out_as_cosine_and_sine_in_any_order(wheeled, order, angle):
    value = {"shoulder": 0.5, "axle": angle, "rail": -0.25}
    state = wheeled.joint_map(order).state(0, [value[n] for n in order], [value[n] for n in order], None, LEVEL)
    np.testing.assert_array_equal(state.q[7:], [0.5, np.cos(angle), np.sin(angle), -0.25])
    np.testing.assert_array_equal(state.v[6:], [0.5, angle, -0.25])


def test_the_arrays_of_messages_are_read(go2):
    values = array.array("d", range(12))
    state = go2.joint_map(go2.joint_names).state(0, values, np.arange(12), list(range(12)), LEVEL)
    np.testing.assert_array_equal(state.q[7:], range(12))
    np.testing.assert_array_equal(state.effort[6:], range(12))
    frozen = np.frombuffer(values.tobytes())
    go2.problem(go2.joint_map(go2.joint_names).state(0, frozen, frozen, frozen, LEVEL))


def test_no_effort_and_unmeasured_effort_are_none(go2):
    mapping, z = go2.joint_map(go2.joint_names), np.zeros(12)
    assert mapping.state(0, z, z, None, LEVEL).effort is None
    assert mapping.state(0, z, z, array.array("d"), LEVEL).effort is None
    assert mapping.state(0, z, z, np.full(12, np.nan), LEVEL).effort is None


@pytest.mark.parametrize("kind", ["position", "velocity", "effort"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_name_the_joint(go2, kind, value):
    arrays = {name: np.zeros(12) for name in ("position", "velocity", "effort")}
    arrays[kind][4] = value
    with pytest.raises(ValueError, match=f"{kind} of joint 'FR_thigh_joint' is {value}"):
        go2.joint_map(go2.joint_names).state(0, arrays["position"], arrays["velocity"], arrays["effort"], LEVEL)


def test_infinities_that_would_cancel_are_found(go2):
    z, bad = np.zeros(12), np.zeros(12)
    bad[0], bad[1] = np.inf, -np.inf
    with pytest.raises(ValueError, match="position of joint 'FL_hip_joint' is inf"):
        go2.joint_map(go2.joint_names).state(0, bad, z, None, LEVEL)


def test_large_values_that_overflow_a_sum_are_no_fault(go2):
    z, large = np.zeros(12), np.full(12, 1e308)
    assert go2.joint_map(go2.joint_names).state(0, z, large, large, LEVEL).v[6] == 1e308


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (kind, size)
        for kind in ("position", "velocity", "effort")
        for size in (0, 11, 13)
        if (kind, size) != ("effort", 0)
    ],
)
def test_arrays_of_a_wrong_length_are_refused(go2, kind, size):
    arrays = {name: np.zeros(12) for name in ("position", "velocity", "effort")}
    arrays[kind] = np.zeros(size)
    with pytest.raises(ValueError, match=f"{kind} (is empty|has shape)"):
        go2.joint_map(go2.joint_names).state(0, arrays["position"], arrays["velocity"], arrays["effort"], LEVEL)


def test_missing_joints_are_listed(go2):
    with pytest.raises(ValueError, match="2 of 12 joints are missing: FL_hip_joint, FR_hip_joint"):
        go2.joint_map([n for n in go2.joint_names if n not in ("FL_hip_joint", "FR_hip_joint")])
    with pytest.raises(ValueError, match="the message names no joints"):
        go2.joint_map([])
    with pytest.raises(ValueError, match=r"missing: FL_hip_joint; did you mean FL_hip\?"):
        go2.joint_map(["FL_hip", *go2.joint_names[1:]])


def test_a_joint_given_twice_is_refused(go2):
    with pytest.raises(ValueError, match="given twice: FL_hip_joint"):
        go2.joint_map([*go2.joint_names, "FL_hip_joint"])


def test_a_floating_base_needs_odometry(go2):
    z = np.zeros(12)
    with pytest.raises(ValueError, match="needs a measurement of the base"):
        go2.joint_map(go2.joint_names).state(0, z, z)


@pytest.mark.parametrize("scale", [0.995, 1 + 1e-7, 1.009])
def test_quaternions_that_are_nearly_unit_are_normalised(go2, scale):
    z = np.zeros(12)
    unit = np.array([0.5, -0.5, 0.5, 0.5])
    q = go2.joint_map(go2.joint_names).state(0, z, z, None, base(scale * unit)).q
    np.testing.assert_allclose(q[3:7], unit, atol=1e-15)


@pytest.mark.parametrize(
    ("quaternion", "says"),
    [
        ((0.0, 0.0, 0.0, 0.0), "the orientation was never set"),
        ((0.0, 0.0, 0.0, 1.1), "has norm 1.1, not 1"),
        ((0.0, 0.0, np.nan, 1.0), "it is not finite"),
        ((0.0, 0.0, np.inf, 1.0), "it is not finite"),
    ],
)
def test_quaternions_that_are_none_are_refused(go2, quaternion, says):
    z = np.zeros(12)
    with pytest.raises(ValueError, match=says):
        go2.joint_map(go2.joint_names).state(0, z, z, None, base(quaternion))


@pytest.mark.parametrize("field", ["position", "linear_velocity", "angular_velocity"])
def test_a_base_that_is_not_finite_is_refused(go2, field):
    parts = {"position": ZERO, "quaternion_xyzw": (0, 0, 0, 1), "linear_velocity": ZERO, "angular_velocity": ZERO}
    parts[field] = (0.0, np.nan, 0.0)
    z = np.zeros(12)
    with pytest.raises(ValueError, match="the base has a position or velocity that is not finite"):
        go2.joint_map(go2.joint_names).state(0, z, z, None, BaseMeasurement(**parts))


def test_a_robot_without_joints_is_its_odometry():
    cube = load("cube")
    state = cube.joint_map(()).state(0, (), (), (), LEVEL)
    np.testing.assert_array_equal(state.q, [0.1, 0.2, 0.3, 0, 0, 0, 1])
    assert state.effort is None


def test_a_fixed_base_ignores_odometry():
    arm = load("arm")
    z = np.zeros(8)
    state = arm.joint_map(arm.joint_names).state(0, z, z, z, LEVEL)
    assert state.q.shape == (8,)


def test_locked_joints_are_welded_at_zero_and_no_message_need_carry_them():
    text = robot(
        link("base"), link("arm"), link("hand"), joint("shoulder", "base", "arm"), joint("wrist", "arm", "hand")
    )
    free = RigidBodyModel.from_urdf(text, EstimatorConfig())
    config = EstimatorConfig(locked_joints=("wrist",), contacts={"palm": Contact(link="hand")})
    locked = RigidBodyModel.from_urdf(text, config)
    assert locked.joint_names == ("shoulder",) and locked.nv == free.nv - 1
    assert locked.contact_frames == ("hand",) and locked.hash != free.hash
    state = locked.joint_map(["shoulder"]).state(0, [0.3], [0.1], None, LEVEL)
    whole = free.joint_map(["shoulder", "wrist"]).state(0, [0.3, 0.0], [0.1, 0.0], None, LEVEL)
    np.testing.assert_allclose(locked.problem(state).mass, free.problem(whole).mass[:7, :7], atol=1e-12)
    with pytest.raises(ValueError, match="1 of 2 joints are missing: wrist; name those that are never published in"):
        free.joint_map(["shoulder"])


def test_only_joints_that_move_can_be_locked_and_they_lock_those_that_follow_them_without_an_offset():
    leads = '<mimic joint="shoulder"/>'
    parts = (link("base"), link("arm"), link("hand"), joint("shoulder", "base", "arm"))
    text = robot(*parts, joint("wrist", "arm", "hand", more=leads))
    with pytest.raises(ValueError, match="locked_joints: no moving joint 'elbow' in the URDF; it has shoulder, wrist"):
        RigidBodyModel.from_urdf(text, EstimatorConfig(locked_joints=("elbow",)))
    assert RigidBodyModel.from_urdf(text, EstimatorConfig(locked_joints=("shoulder",))).joint_names == ()
    bent = text.replace(leads, '<mimic joint="shoulder" offset="0.3"/>')
    with pytest.raises(ValueError, match="'wrist' mimics 'shoulder', but 'shoulder' is fixed"):
        RigidBodyModel.from_urdf(bent, EstimatorConfig(locked_joints=("shoulder",)))
    assert RigidBodyModel.from_urdf(text, EstimatorConfig(locked_joints=("wrist",))).joint_names == ("shoulder",)
