"""Known noise of channels, planes, delays and errors of efforts are found, and intervals hold them as often as they
say."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.config import Environment, EstimatorConfig
from hybrid_contact_ros.identification.base_delay import base_delay
from hybrid_contact_ros.identification.channel_noise import channel_noise
from hybrid_contact_ros.identification.effort_errors import _DELAYS, _delay, effort_errors
from hybrid_contact_ros.identification.ground_planes import find_plane
from hybrid_contact_ros.identification.intervals import by_blocks
from hybrid_contact_ros.identification.observed_contacts import Seen, pieces, stretches
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

DRAWS = 50
LEAST = 44  # of 50 draws that 95 % intervals hold: fewer come with a probability of 0.3 % where they do
LEG = """<robot name="leg"><link name="body"><inertial><mass value="5"/>
<inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="shank"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hip" type="revolute"><parent link="body"/><child link="shank"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="99" velocity="99"/></joint>
<link name="foot"/><joint name="ankle" type="fixed"><parent link="shank"/><child link="foot"/>
<origin xyz="0 0 -0.3"/></joint>
</robot>"""
CONFIG = EstimatorConfig.from_mapping({"contacts": {"foot": {"link": "foot"}}})


def correlated(rng: np.random.Generator, n: int, columns: int, tau: float, dt: float) -> np.ndarray:
    """Noise of variance 1 with the correlation time tau."""
    keep = np.exp(-dt / tau) if tau else 0.0
    x = rng.normal(size=(n, columns))
    for k in range(1, n):
        x[k] = keep * x[k - 1] + np.sqrt(1.0 - keep * keep) * x[k]
    return x


def moving(t: np.ndarray, columns: int) -> np.ndarray:
    """What joints do at a trot."""
    phase = np.arange(columns)
    return 0.3 * np.sin(2 * np.pi * 2.0 * t[:, None] + phase) + 0.05 * np.sin(2 * np.pi * 8.0 * t[:, None] + 2 * phase)


def seen_standing(time: np.ndarray, closed: np.ndarray, gap: np.ndarray, position: np.ndarray) -> Seen:
    """What an estimator would see of feet whose gaps and places are known."""
    nothing = np.zeros(closed.shape)
    return Seen(
        time, closed, closed, closed, gap, gap, nothing, np.zeros((*closed.shape, 3)), position, nothing, nothing,
        nothing, nothing, [np.empty(0)] * closed.shape[1], [np.empty(0)] * closed.shape[1],
    )  # fmt: skip


def test_intervals_of_a_mean_hold_it_as_often_as_they_say():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(DRAWS):
        x = rng.normal(2.0, 1.0, 12)
        found = by_blocks("mean", "m", 12, 12, lambda chosen, x=x: x[chosen].mean(axis=1))
        held += found.covers(2.0)
    assert held >= LEAST


def test_few_blocks_give_no_interval_and_say_so():
    found = by_blocks("mean", "m", 5, 100, lambda chosen: np.zeros(len(chosen)))
    assert not found.known and "5 independent stretches" in found.why


@pytest.mark.parametrize("tau", [0.0, 0.003])
def test_noise_of_moving_joints_is_within_its_interval_as_often_as_that_says(tau):
    rng, sigma, dt = np.random.default_rng(1), 0.002, 0.001
    t = dt * np.arange(2500)
    sigmas, taus = [], []
    for _ in range(DRAWS):
        found = channel_noise("q", "rad", [(t, moving(t, 3) + sigma * correlated(rng, t.size, 3, tau, dt))])
        sigmas.append(found.sigma.covers(sigma))
        taus.append(found.correlation.covers(tau))
    assert sum(sigmas) >= LEAST
    assert sum(taus) >= LEAST


def test_motion_without_noise_is_not_taken_for_noise():
    t = 0.001 * np.arange(3000)
    found = channel_noise("q", "rad", [(t, moving(t, 3))])
    assert not found.sigma.known and "motion hides it" in found.sigma.why


def test_a_lost_message_now_and_then_changes_no_noise():
    rng = np.random.default_rng(2)
    t = 0.001 * np.arange(6000)
    x = moving(t, 3) + 0.002 * rng.normal(size=(t.size, 3))
    kept = rng.random(t.size) > 0.05
    found = channel_noise("q", "rad", [(t[kept], x[kept])])
    assert found.sigma.value == pytest.approx(0.002, rel=0.05)


def test_values_of_a_slower_sensor_are_told():
    t = 0.001 * np.arange(3000)
    x = np.repeat(np.random.default_rng(3).normal(size=(300, 2)), 10, axis=0)
    found = channel_noise("q", "rad", [(t, x)])
    assert not found.sigma.known and "repeated" in found.sigma.why


def walking(rng: np.random.Generator, height: float, slope: float, foot: float) -> Seen:
    """Two feet in turn, there and back, on a plane at this height with a slope along x; the first stands higher."""
    time = 0.005 * np.arange(4800)  # 24 s
    n = time.size
    closed = np.stack([(time % 0.6) < 0.35, ((time + 0.3) % 0.6) < 0.35], axis=1)
    along = 0.5 * np.sin(2 * np.pi * time / 12.0)
    step = np.stack([np.floor(time / 0.6), np.floor((time + 0.3) / 0.6)], axis=1).astype(int)
    held = np.stack([along[np.searchsorted(step[:, i], step[:, i])] for i in range(2)], axis=1)
    bumps = 0.0005 * rng.normal(size=(step.max() + 1, 2))
    gap = height + slope * held + np.array([foot, -foot]) + np.take_along_axis(bumps, step, axis=0)
    gap = np.where(closed, gap + 0.001 * rng.normal(size=(n, 2)), 0.05)
    position = np.stack([held, np.broadcast_to([0.1, -0.1], (n, 2)), np.zeros((n, 2))], axis=2)
    return seen_standing(time, closed, gap, position)


def test_height_slope_and_feet_are_within_their_intervals_as_often_as_these_say():
    rng = np.random.default_rng(4)
    held = np.zeros(3, dtype=int)
    for _ in range(DRAWS):
        seen = [walking(rng, 0.007, 0.05, 0.002)]
        stances = stretches(seen, True)
        plane = find_plane("ground", Environment(), [0, 1], ["left", "right"], stances, pieces(stances, seen), seen)
        slope, across = plane.slopes
        held += [plane.height.covers(0.007), slope.covers(0.05), plane.feet["left"].covers(0.002)]
        assert not across.known and "feet of other radii look the same" in across.why
    assert (held >= LEAST).all(), held
    assert plane.moved is not None
    expected = np.array([-0.05, 0.0, 1.0]) / np.hypot(1.0, 0.05)
    assert np.array(plane.moved.normal) == pytest.approx(expected, abs=0.003)
    assert plane.moved.offset == pytest.approx(0.007, abs=0.002)


def test_a_robot_that_walks_one_way_cannot_tell_a_slope_from_drift():
    seen = walking(np.random.default_rng(5), 0.0, 0.0, 0.0)
    time = seen.time
    seen.position[:, :, 0] = 0.2 * time[:, None]
    seen.gap[:] += np.where(seen.closed, 0.01 * time[:, None], 0.0)
    stances = stretches([seen], True)
    plane = find_plane("ground", Environment(), [0, 1], ["left", "right"], stances, pieces(stances, [seen]), [seen])
    assert not plane.slopes[0].known and "walk there and back" in plane.slopes[0].why


@pytest.fixture(scope="module")
def leg() -> RigidBodyModel:
    return RigidBodyModel.from_urdf(LEG, CONFIG)


def turning(rng: np.random.Generator, late: float, n: int = 3000, dt: float = 0.001) -> list[RobotState]:
    """The body turns about the hip while the shank stands; the base's pose and rates are ``late`` s late, and noisy."""
    t = dt * np.arange(n)

    def angle(time):
        w = 2 * np.pi * np.array([1.7, 4.1])
        a, phase = np.array([0.2, 0.05]), np.outer(time, w)
        return np.sin(phase) @ a, np.cos(phase) @ (a * w)

    base, rate = angle(t - late)
    joint, speed = angle(t)
    states = []
    for k in range(n):
        q = np.array([0.0, 0.0, 0.3, 0.0, np.sin(0.5 * base[k]), 0.0, np.cos(0.5 * base[k]), -joint[k]])
        v = np.array([0.0, 0.0, 0.0, 0.0, rate[k], 0.0, -speed[k]]) + 0.02 * rng.normal(size=7)
        states.append(RobotState(round(1e9 * (1.0 + t[k])), q, v))
    return states


@pytest.mark.parametrize("late", [0.0, 0.004, -0.003])
def test_a_late_base_is_found_by_feet_that_stand(leg, late):
    states = turning(np.random.default_rng(6), late)
    time = np.array([1e-9 * s.stamp_ns for s in states])
    closed = np.ones((len(states), 1), dtype=bool)
    seen = [seen_standing(time, closed, np.zeros(closed.shape), np.zeros((len(states), 1, 3)))]
    found = base_delay(leg, [states], seen, pieces(stretches(seen, True), seen))
    assert found.known and found.value == pytest.approx(late, abs=0.0006)


def test_a_base_that_does_not_turn_tells_no_delay(leg):
    q = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0, 0.0])
    rng = np.random.default_rng(7)
    states = [RobotState((1 + k) * 1_000_000, q, 0.02 * rng.normal(size=7)) for k in range(2000)]
    time = np.array([1e-9 * s.stamp_ns for s in states])
    closed = np.ones((len(states), 1), dtype=bool)
    seen = [seen_standing(time, closed, np.zeros(closed.shape), np.zeros((len(states), 1, 3)))]
    found = base_delay(leg, [states], seen, pieces(stretches(seen, True), seen))
    assert not found.known and "no delay shows" in found.why


def effort_of(leg: RigidBodyModel, angle: float, bend: float) -> float:
    """Of the hip, at this angle and acceleration."""
    problem = leg.problem(RobotState(0, np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, angle]), np.zeros(7)))
    return float(problem.mass[6, 6] * bend + problem.bias_force[6])


def swinging(leg: RigidBodyModel, n: int, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times, angles, speeds and true efforts of a shank that swings under a body that is held."""
    t = dt * np.arange(n)
    w = 2 * np.pi * np.array([1.1, 2.9])
    a = np.array([0.5, 0.2])
    angle, speed = np.sin(np.outer(t, w)) @ a, np.cos(np.outer(t, w)) @ (a * w)
    bend = -np.sin(np.outer(t, w)) @ (a * w * w)
    effort = np.empty(n)
    for k in range(n):
        q = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, angle[k]])
        problem = leg.problem(RobotState(0, q, np.r_[np.zeros(6), speed[k]]))
        effort[k] = problem.mass[6, 6] * bend[k] + problem.bias_force[6]
    return t, angle, speed, effort


def test_scale_bias_and_friction_of_efforts_are_within_their_intervals_as_often_as_these_say(leg):
    t, angle, speed, effort = swinging(leg, 2000, 0.002)
    rng = np.random.default_rng(8)
    closed = np.zeros((t.size, 1), dtype=bool)
    held = np.zeros(3, dtype=int)
    for _ in range(DRAWS):
        states = []
        for k in range(t.size):
            q = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, angle[k]])
            v = np.r_[0.01 * rng.normal(size=6), speed[k] + 0.05 * rng.normal()]
            y = 1.1 * effort[k] + 0.2 + 0.15 * np.sign(speed[k]) + 0.05 * rng.normal()
            states.append(RobotState(round(1e9 * (1.0 + t[k])), q, v, np.r_[np.zeros(6), y]))
        seen = [seen_standing(1.0 + t, closed, np.full(closed.shape, 0.5), np.zeros((t.size, 1, 3)))]
        (joint,) = effort_errors(leg, [states], seen).joints
        held += [joint.scale.covers(1.1), joint.bias.covers(0.2), joint.friction.covers(0.15)]
    assert (held >= LEAST).all(), held
    assert joint.noise.value > 0.05  # of the sensor, and what noise of v makes of accelerations


@pytest.mark.parametrize("late", [0.0, 0.0045, -0.0005])
def test_late_efforts_are_found_and_make_no_other_scale(leg, late):
    t, angle, speed, effort = swinging(leg, 4000, 0.001)
    rng, closed = np.random.default_rng(9), np.zeros((t.size, 1), dtype=bool)
    fast = 0.2 * np.sin(2 * np.pi * 25.0 * t)  # of a stiff drive, with the angle that belongs to it
    inertia = effort_of(leg, 0.0, 1.0) - effort_of(leg, 0.0, 0.0)
    angle = angle - fast / inertia / (2 * np.pi * 25.0) ** 2
    speed = speed - 0.2 * np.cos(2 * np.pi * 25.0 * t) / inertia / (2 * np.pi * 25.0)
    measured = np.interp(t - late, t, effort + fast)
    states = [
        RobotState(
            round(1e9 * (1.0 + t[k])),
            np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, angle[k]]),
            np.r_[np.zeros(6), speed[k] + 0.02 * rng.normal()],
            np.r_[np.zeros(6), measured[k]],
        )
        for k in range(t.size)
    ]
    seen = [seen_standing(1.0 + t, closed, np.full(closed.shape, 0.5), np.zeros((t.size, 1, 3)))]
    found = effort_errors(leg, [states], seen)
    assert found.delay.value == pytest.approx(late, abs=3e-4)
    assert found.joints[0].scale.value == pytest.approx(1.0, abs=0.02)


def test_a_limb_that_is_in_the_air_in_one_stretch_alone_does_not_hide_the_delay():
    """Draws of stretches without it have nothing of its joint."""
    rng = np.random.default_rng(10)
    tables = []
    for stretches_of in (range(12), range(1)):
        x = np.column_stack([rng.normal(size=300), np.ones(300), np.sign(rng.normal(size=300))])
        efforts = x[:, :1] + np.abs(_DELAYS - 0.002) * 100.0 * rng.normal(size=(300, 1))
        block = np.repeat(list(stretches_of), 300 // len(stretches_of)).astype(float)
        tables.append(np.column_stack([x, x, block, efforts]))
    found = _delay(tables)
    assert found.known and found.value == pytest.approx(0.002, abs=1e-4)


def test_without_efforts_nothing_is_said_of_them(leg):
    states = turning(np.random.default_rng(9), 0.0, n=100)
    closed = np.zeros((100, 1), dtype=bool)
    time = np.array([1e-9 * s.stamp_ns for s in states])
    seen = [seen_standing(time, closed, np.full(closed.shape, 0.5), np.zeros((100, 1, 3)))]
    (joint,) = effort_errors(leg, [states], seen).joints
    assert not joint.scale.known and joint.scale.why == "no efforts were measured"
