"""Inertial units, force sensors and readings of feet become parts of states, and what is wrong with them is named."""

from __future__ import annotations

from types import SimpleNamespace as Space

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.config import EstimatorConfig, InputConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.contact_sensors import ReadingHealth
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.refusals import REASONS

INERTIA = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def foot(name: str) -> str:
    return (
        f'<link name="{name}">{INERTIA}</link><joint name="{name}_j" type="revolute"><parent link="base"/>'
        f'<child link="{name}"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
    )


ROBOT = (
    f'<robot name="r"><link name="base">{INERTIA}</link><link name="unit"/><link name="cell"/>'
    f"{foot('left')}{foot('sole')}"
    '<joint name="u" type="fixed"><parent link="base"/><child link="unit"/><origin xyz="0.1 0 0" rpy="0 0 1.5707963"/>'
    '</joint><joint name="c" type="fixed"><parent link="sole"/><child link="cell"/><origin xyz="0 0 0.2"/></joint>'
    "</robot>"
)
CONTACTS = {
    "point": {"link": "left"},
    "plate": {"link": "sole", "points": [0.1, 0.0, 0.0, -0.1, 0.0, 0.0, 0.0, 0.1, 0.0]},
}
MODEL = RigidBodyModel.from_urdf(ROBOT, EstimatorConfig.from_mapping({"floating_base": False, "contacts": CONTACTS}))
MS, START, NAN = 1_000_000, 1_000_000_000, float("nan")
UNKNOWN = [-1.0] + [0.0] * 8


def intake(**config) -> Intake:
    return Intake(MODEL, InputConfig(**config))


def header(ns: int, frame: str = "") -> Space:
    return Space(stamp=Space(sec=ns // 10**9, nanosec=ns % 10**9), frame_id=frame)


def xyz(values) -> Space:
    return Space(**dict(zip("xyzw", map(float, values), strict=False)))


def state(streams: Intake, ns: int):
    msg = Space(header=header(ns), name=["left_j", "sole_j"], position=[0.0] * 2, velocity=[0.0] * 2, effort=[])
    return streams.joint_state(msg, ns)


def after(streams: Intake, topic: str, *messages, ns: int = START + MS):
    for msg in messages:
        streams.side_input(topic, msg, ns)
    return state(streams, ns)


def imu(ns: int = START, frame="unit", o=(0, 0, 0, 1), w=(1, 2, 3), a=(0, 0, 9.81), P=(0.0,) * 9, **others) -> Space:
    zeros = [0.0] * 9
    return Space(
        header=header(ns, frame), orientation=xyz(o), orientation_covariance=list(P), angular_velocity=xyz(w),
        angular_velocity_covariance=others.get("V", zeros), linear_acceleration=xyz(a),
        linear_acceleration_covariance=others.get("A", zeros),
    )  # fmt: skip


@pytest.mark.parametrize("as_bytes", [False, True])
def test_an_inertial_measurement_is_turned_into_the_axes_of_the_root_link(as_bytes):
    """The unit is turned by 90° about z: its x is the root link's y."""
    turn = Rotation.from_euler("xyz", [0.1, -0.2, 0.3])
    spread = np.diag([1.0, 2.0, 3.0]).ravel().tolist()
    streams = intake(imu=True)
    for k in range(2):  # the second one is read where its numbers stand
        msg = imu(START + k, o=turn.as_quat(), w=(1, 2, 3), a=(4, 5, 6), V=spread)
        found = after(streams, "imu", serialize("Imu", msg) if as_bytes else msg, ns=START + MS + k).imu
    assert found.stamp_ns == START + 1 and found.place == pytest.approx([0.1, 0.0, 0.0])
    assert found.angular_velocity == pytest.approx([-2.0, 1.0, 3.0], abs=1e-6)
    assert found.acceleration == pytest.approx([-5.0, 4.0, 6.0], abs=1e-6)
    assert np.diag(found.covariance[1]) == pytest.approx([2.0, 1.0, 3.0], abs=1e-6)
    assert np.isnan(found.covariance[[0, 2]]).all()
    expected = turn * Rotation.from_euler("z", np.pi / 2).inv()
    assert (Rotation.from_quat(found.orientation).inv() * expected).magnitude() < 1e-6


def test_minus_one_says_that_a_unit_does_not_measure_that():
    found = after(intake(imu=True), "imu", imu(o=(0, 0, 0, 0), w=(NAN, 0, 0), V=UNKNOWN, A=UNKNOWN)).imu
    assert found.orientation is None and found.angular_velocity is None and found.acceleration is None
    assert after(intake(imu=True), "imu", imu(P=UNKNOWN)).imu.orientation is None


BAD_IMU = [
    ("not_finite", {"w": (NAN, 0, 0)}),
    ("not_finite", {"o": (NAN, 0, 0, 1)}),
    ("quaternion_norm", {"o": (0, 0, 0, 2)}),
    ("implausible", {"w": (2e3, 0, 0)}),
    ("implausible", {"a": (0, 0, -2e4)}),
    ("sensor_frame", {"frame": "left"}),
    ("sensor_frame", {"frame": "nowhere"}),
    ("invalid_stamp", {"ns": 0}),
    ("repeated_stamp", {"ns": START}),
]


@pytest.mark.parametrize(("reason", "changes"), BAD_IMU)
def test_a_bad_inertial_measurement_is_refused_by_name(reason, changes):
    streams = intake(imu=True)
    found = after(streams, "imu", imu(), imu(**{"ns": START + 1, **changes})).imu
    assert found.stamp_ns == START and dict(streams.faults) == {reason: 1}
    assert streams.last_fault[1].startswith(f"imu: {REASONS[reason]}")


def test_measurements_hold_for_their_timeout():
    streams = intake(imu=True, sensor_timeout=0.01)
    assert after(streams, "imu", imu(), ns=START + 10 * MS).imu is not None
    assert state(streams, START + 11 * MS).imu is None and streams.faults == {"side_late": 1}


def test_nothing_is_taken_that_nobody_asked_for():
    assert list(intake().side) == ["joint_command"]
    found = state(intake(), START)
    assert (found.imu, found.contact_force, found.contact_reading) == (None, None, None)


def wrench(ns: int = START, frame="", force=(1, 2, 3), torque=(0, 0, 0)) -> Space:
    return Space(header=header(ns, frame), wrench=Space(force=xyz(force), torque=xyz(torque)))


TOPICS = ("/left/wrench", "right/wrench")


def test_a_wrench_becomes_the_force_of_its_contact():
    found = after(intake(wrench_topics=TOPICS), "/left/wrench", wrench()).contact_force
    assert found.valid.tolist() == [True, False, False, False] and found.force[0].tolist() == [1.0, 2.0, 3.0]
    assert np.isnan(found.force[1:]).all() and found.stamp_ns.tolist() == [START, 0, 0, 0] and not found.in_world.any()


def test_the_wrench_of_a_sole_becomes_forces_that_make_it():
    """The cell sits 0.2 m above the sole's frame, where it says what moment the forces make."""
    force, torque = np.array([5.0, -3.0, 100.0]), np.array([1.0, 2.0, 0.5])
    streams = intake(wrench_topics=TOPICS)
    found = after(streams, "right/wrench", wrench(frame="cell", force=force, torque=torque)).contact_force
    points = np.reshape(CONTACTS["plate"]["points"], (-1, 3)) - [0.0, 0.0, 0.2]
    assert found.force[1:].sum(axis=0) == pytest.approx(force)
    assert np.cross(points, found.force[1:]).sum(axis=0) == pytest.approx(torque)
    assert found.valid.tolist() == [False, True, True, True]


def test_a_force_in_the_axes_of_the_world_says_so():
    found = after(intake(wrench_topics=TOPICS), "/left/wrench", wrench(frame="base")).contact_force
    assert found is None  # here the root link is welded to the world, and is a link of its own
    streams = intake(wrench_topics=TOPICS)
    streams.frame_id = "map"
    assert after(streams, "/left/wrench", wrench(frame="map")).contact_force.in_world.tolist() == [True] + [False] * 3


@pytest.mark.parametrize(
    ("reason", "changes"),
    [
        ("not_finite", {"force": (NAN, 0, 0)}),
        ("implausible", {"torque": (1e8, 0, 0)}),
        ("sensor_frame", {"frame": "cell"}),
    ],
)
def test_a_bad_wrench_is_refused_by_name(reason, changes):
    streams = intake(wrench_topics=TOPICS)
    assert after(streams, "/left/wrench", wrench(**changes)).contact_force is None
    assert dict(streams.faults) == {reason: 1} and streams.last_fault[1].startswith("/left/wrench: ")


def test_topics_of_wrenches_are_one_for_each_link():
    assert list(intake(wrench_topics=("", "sole")).side) == ["joint_command", "sole"]
    with pytest.raises(ValueError, match="1 entries; one for each of left, sole"):
        intake(wrench_topics=("left",))
    with pytest.raises(ValueError, match="names a topic twice"):
        intake(wrench_topics=("a", "a"))


def readings(ns: int, names=("left", "plate_0"), values=(10.0, 20.0)) -> Space:
    return Space(header=header(ns), name=list(names), position=[], velocity=[], effort=list(values))


def test_readings_become_loads_between_what_was_seen():
    streams = intake(contact_sensors=True)
    for k, value in enumerate([100.0] * 3 + [300.0] * 3 + [150.0]):
        ns = START + k * MS
        found = after(streams, "contact_sensors", readings(ns, values=(value, value + 7.0)), ns=ns).contact_reading
    assert found.load[:2] == pytest.approx([0.25, 0.25], abs=1e-3) and found.valid.tolist() == [
        True,
        True,
        False,
        False,
    ]
    assert found.raw[:2].tolist() == [150.0, 157.0] and np.isnan(found.raw[2:]).all()


def test_a_link_names_all_its_contacts():
    found = after(intake(contact_sensors=True), "contact_sensors", readings(START, ("sole",), (3.0,))).contact_reading
    assert np.isnan(found.raw[0]) and found.raw[1:].tolist() == [3.0] * 3


@pytest.mark.parametrize(
    ("reason", "changes"),
    [
        ("array_length", {"values": (1.0,)}),
        ("contact_names", {"names": ("hand", "head")}),
        ("not_finite", {"values": (1.0, np.inf)}),
        ("not_finite", {"values": (np.nan, np.nan)}),
    ],
)
def test_bad_readings_are_refused_by_name(reason, changes):
    streams = intake(contact_sensors=True)
    assert after(streams, "contact_sensors", readings(START, **changes)).contact_reading is None
    assert dict(streams.faults) == {reason: 1}


def strides(t: np.ndarray) -> np.ndarray:
    """Readings of three feet that step, 0 to 500."""
    phases = np.array([0.0, 1 / 3, 2 / 3])
    return np.clip(900.0 * np.sin(2 * np.pi * (t[:, None] / 0.5 - phases)), 0.0, 500.0)


def followed(raw: np.ndarray, step: float = 0.01) -> tuple[ReadingHealth, np.ndarray]:
    health = ReadingHealth(raw.shape[1])
    loads = [health.add(START + round(k * step * 1e9), row) for k, row in enumerate(raw)]
    return health, np.array(loads)


TIME = np.arange(0.0, 60.0, 0.01)


def test_the_drift_of_a_zero_is_taken_out():
    """The zero climbs by 300 of a span of 500 within a minute, and falls again: loads of swings stay low."""
    clean = strides(TIME)
    drift = 300.0 * np.sin(np.pi * TIME / 60.0)[:, None]
    health, loads = followed(clean + drift)
    swing = (clean == 0.0) & (TIME > 2.0)[:, None]
    stance = (clean == 500.0) & (TIME > 2.0)[:, None]
    assert loads[swing].max() < 0.25 and loads[stance].min() > 0.75
    assert not health.dead.any() and not health.stuck.any()


@pytest.mark.parametrize("value", [0.0, 321.0])
def test_a_sensor_that_reads_one_number_while_others_step_is_stuck(value):
    raw = strides(TIME)
    raw[TIME > 30.0, 1] = value
    health, _ = followed(raw[:3200])  # 2 s later: four strides
    assert health.stuck.tolist() == [False, True, False]
    health, _ = followed(raw[:3050])  # a stance of half a second is no fault
    assert not health.stuck.any()


@pytest.mark.parametrize("value", [0.0, 250.0, 500.0])
def test_a_sensor_that_freezes_is_stuck_after_half_a_second(value):
    """Its readings changed from one to the next as long as they were those of a foot; those of the others still do."""
    rng = np.random.default_rng(5)
    raw = strides(TIME) + rng.normal(0.0, 3.0, (TIME.size, 3))
    raw[TIME > 10.0, 1] = value
    health, _ = followed(raw[:1052])
    assert health.stuck.tolist() == [False, True, False]
    raw[TIME > 12.0, 1] = 100.0 + rng.normal(0.0, 3.0, (TIME > 12.0).sum())
    health, _ = followed(raw[:1202])
    assert not health.stuck.any()


def test_sensors_that_have_no_noise_at_their_zero_are_not_stuck_in_swings_nor_for_a_second():
    raw = strides(TIME) + np.where(strides(TIME) > 0.0, np.random.default_rng(5).normal(0.0, 3.0, (TIME.size, 3)), 0.0)
    raw[np.abs(TIME - 20.0) < 0.5, 2] = 0.0  # a foot that is held up
    health = ReadingHealth(3)
    for k, row in enumerate(raw[:2500]):
        health.add(START + round(k * 1e7), row)
        assert not health.stuck.any()


def test_a_robot_of_which_nothing_moves_has_no_sensor_that_is_stuck():
    rng = np.random.default_rng(5)
    raw = strides(TIME) + rng.normal(0.0, 3.0, (TIME.size, 3))
    raw[TIME > 10.0] = (250.0, 260.0, 270.0)
    assert not followed(raw[:2000])[0].stuck.any()


def test_a_sensor_that_only_rustles_is_dead_and_one_that_comes_back_is_not():
    raw = strides(TIME)
    rng = np.random.default_rng(0)
    raw[:, 2] = rng.normal(0.0, 1.0, TIME.size)
    health, _ = followed(raw[:1000])
    assert health.surely_dead.tolist() == [False, False, True]
    raw[1000:, 2] = strides(TIME)[1000:, 2]
    assert not followed(raw[:1200])[0].dead.any()


@pytest.mark.parametrize("glitch", [65535.0, -65535.0, 1e300])
@pytest.mark.parametrize("first", [0, 7, 2000])
def test_a_glitch_of_one_sensor_takes_nothing_from_the_others(glitch, first):
    """Every 250th reading from the first on is one of the electronics."""
    raw = strides(TIME)[:3000]
    _, clean = followed(raw)
    raw[first::250, 0] = glitch
    health, loads = followed(raw)
    assert not health.dead.any() and not health.stuck.any()
    good = np.ones(raw.shape, dtype=np.bool_)
    good[first::250, 0] = False
    later = np.arange(3000) > 200
    np.testing.assert_allclose(loads[later][good[later]], clean[later][good[later]], atol=0.02)
    assert np.isnan(loads[max(first, 250) :: 250, 0]).all() if first in (0, 2000) else True


def test_a_standing_robot_has_no_faulty_sensors():
    health, _ = followed(np.full((2000, 3), 400.0))
    assert not health.stuck.any() and not health.surely_dead.any()


@pytest.mark.parametrize("rate", [50.0, 100.0, 1000.0])
@pytest.mark.parametrize("noise", ["gauss", "uniform"])
def test_noise_of_standing_feet_is_no_swing_beside_which_a_quiet_sensor_were_stuck(rate, noise):
    rng, count = np.random.default_rng(3), 4000
    raw = np.full((count, 3), 400.0)
    raw[:, :2] += rng.normal(size=(count, 2)) if noise == "gauss" else rng.uniform(-1.0, 1.0, (count, 2))
    health = ReadingHealth(3)
    for k in range(count):
        health.add(START + round(1e9 * k / rate), raw[k])
        assert not health.stuck.any() and not health.surely_dead.any(), k


def test_stuck_and_dead_sensors_are_told_and_not_used():
    streams = intake(contact_sensors=True)
    for k, (first, second, third) in enumerate(strides(TIME)[:400]):
        ns = START + k * 10 * MS
        values = (first, second if k < 100 else 250.0, 0.01 * third)
        msg = readings(ns, ("left", "plate_0", "plate_1"), values)
        found = after(streams, "contact_sensors", msg, ns=ns).contact_reading
    assert found.valid.tolist() == [True, False, False, False]
    assert set(streams.faults) == {"sensor_stuck", "sensor_dead"}
    assert "plate_0" in next(text for kind, text in streams.sentences.items() if kind.reason == "sensor_stuck")


def wanted(ns: int = START, names=("left",), values=(1.0,)) -> Space:
    return Space(header=header(ns), name=list(names), position=list(values), velocity=[], effort=[])


def test_commanded_contacts_are_remembered_since_they_are_wanted():
    streams = intake(commanded_contacts=True)
    for k, value in enumerate((0.0, 0.9, 1.0, 1.0)):
        msg = wanted(START + k * MS, ("left", "plate_1", "stranger"), (value, 0.0, 1.0))
        found = after(streams, "commanded_contacts", msg, ns=START + (k + 1) * MS).commanded_contacts
    assert found.wanted[[0, 2]].tolist() == [1.0, 0.0] and np.isnan(found.wanted[[1, 3]]).all()
    assert (found.since_ns[[0, 2]] - START).tolist() == [MS, 0] and found.stamp_ns == START + 3 * MS
    assert not streams.faults


BAD_COMMANDS = [
    ("array_length", {"values": (1.0, 0.0)}),
    ("contact_names", {"names": ("hand",)}),
    ("not_finite", {"values": (float("inf"),)}),
    ("implausible", {"values": (1.5,)}),
    ("implausible", {"values": (-1.0,)}),
    ("repeated_stamp", {"ns": START}),
]


@pytest.mark.parametrize(("reason", "changes"), BAD_COMMANDS)
def test_a_bad_commanded_contact_is_refused_by_name(reason, changes):
    streams = intake(commanded_contacts=True)
    found = after(streams, "commanded_contacts", wanted(), wanted(**{"ns": START + 1, **changes})).commanded_contacts
    assert found.stamp_ns == START and dict(streams.faults) == {reason: 1}


def test_a_topic_of_forces_cannot_be_that_of_commanded_contacts():
    with pytest.raises(ValueError, match="twice"):
        intake(wrench_topics=("commanded_contacts", ""))


def test_stamps_of_a_unit_that_is_late_are_taken_for_what_it_measured():
    found = after(intake(imu=True, imu_delay=0.004), "imu", imu(START + 5 * MS), ns=START + 6 * MS).imu
    assert found.stamp_ns == START + MS
