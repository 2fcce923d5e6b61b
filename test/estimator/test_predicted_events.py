"""Events that the estimator foretells and tells, in cases whose times are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.bodies import GRAVITY, MASS, NO_DEADLINE, NO_TERMS, block, body, free, landing
from hybrid_contact_ros.codes import ContactStatus, EventKind


@pytest.mark.parametrize("height, speed", [(0.02, 0.0), (0.05, -0.7), (0.03, 0.2)])
def test_a_falling_ball_touches_down_at_the_time_and_speed_of_free_fall(height, speed):
    ball = body([0, 0, 0], contact={"radius": 0.1}, prediction={"horizon": 1.0}, impact={"horizon": 1.0}, **NO_TERMS)
    answer = ball.update(free(0, height + 0.1, (0, 0, speed)))
    arrival = np.sqrt(speed**2 + 2 * GRAVITY * height)
    time = (speed + arrival) / GRAVITY
    assert answer.mode.status[0] == ContactStatus.OPEN
    assert answer.mode.next_event[0] == EventKind.TOUCHDOWN
    assert answer.mode.time_to_event[0] == pytest.approx(time, rel=1e-9)
    assert answer.mode.earliest[0] < time < answer.mode.latest[0]
    assert answer.mode.gap_acceleration[0] == pytest.approx(-GRAVITY)
    impact = answer.impact
    assert impact.time_to_impact == pytest.approx(time, rel=1e-9)
    assert impact.velocity_minus[2] == pytest.approx(-arrival, rel=1e-9)
    assert impact.nominal[2] == pytest.approx(0.0, abs=1e-9)
    assert np.abs(impact.velocities[:, 2]).max() < 1e-6 * arrival
    assert impact.kinetic_energy_minus == pytest.approx(0.5 * MASS * arrival**2, rel=1e-9)


def test_a_block_pulled_upwards_ever_harder_lifts_off_when_the_pull_reaches_its_weight():
    thing = block(activation={"force_on": 1.0})
    weight, rate = MASS * GRAVITY, 200.0  # N, N/s
    seen = []
    for i in range(140):
        pull = rate * 1e-3 * i
        answer = thing.update(free(i * 1_000_000, 0.05, force=(0, 0, pull)))
        if answer.mode.next_event[0] == EventKind.LIFTOFF and answer.mode.closed[0] and pull < weight:
            seen.append(1e-3 * i + answer.mode.time_to_event[0])
    assert len(seen) > 10
    half = 5e-4  # of a step: states date it when it has come
    assert np.array(seen) == pytest.approx(weight / rate + half, abs=5e-4)
    assert not answer.mode.closed.any()


def test_covariance_of_the_base_widens_the_bounds_of_a_touchdown_and_nothing_else():
    """Of the height: 5 mm; of the vertical speed: 0.1 m/s. Bounds of the sequence: two standard deviations over the
    speed; those of the mode are its density's, which is wider before anything is known of such events."""
    plain, wide = body([0.0, 0.0, 0.0]), body([0.0, 0.0, 0.0])
    state = free(0, 0.05, (0, 0, -1.0))
    covariance = np.zeros((2, 6, 6))
    covariance[0, 2, 2], covariance[1, 2, 2] = 0.005**2, 0.1**2
    a, b = plain.update(state).mode, wide.update(replace(state, base_covariance=covariance)).mode
    assert a.time_to_event[0] == b.time_to_event[0] and (a.status == b.status).all()
    assert b.earliest[0] < a.earliest[0] < a.latest[0] < b.latest[0]
    t = float(b.time_to_event[0])
    config = plain.config.activation
    gap = np.hypot(config.gap_sigma, 0.005)
    drift, bend = np.hypot(config.velocity_sigma, 0.1) * t, config.acceleration_sigma * t**2 / 2
    expected = 2 * np.sqrt(gap**2 + drift**2 + bend**2) / (1.0 + 9.81 * t)
    time, earliest, latest = b.sequence.times[0]
    assert time == t and latest - earliest == pytest.approx(2 * expected, rel=0.1)
    assert b.earliest[0] < earliest < latest < b.latest[0]


def test_landing_is_told_once_a_contact_and_leaves_all_closed():
    thing = block(**NO_DEADLINE)
    told = [e for s in landing() for e in thing.update(s).events if e.detected and e.kind == EventKind.TOUCHDOWN]
    assert sorted(e.contact for e in told) == [0, 1, 2, 3]
    assert {round(1e-9 * e.time_ns, 2) for e in told} == {round(np.sqrt(2 * 0.05 / GRAVITY), 2)}


def bouncing_ball(config=None):
    """Kinematics of a ball carried up and down by a hand that nobody models: 0.3 s on the ground, 0.2 s in the air."""
    ball = body([0, 0, 0], contact={"radius": 0.1}, **(config or {}))
    for i in range(1050):
        t = 0.002 * i
        phase = t % 0.5
        swing = phase - 0.3
        height = 0.1 + (0.05 * np.sin(np.pi * swing / 0.2) ** 2 if swing > 0 else -1e-4)
        speed = 0.05 * np.pi / 0.2 * np.sin(2 * np.pi * swing / 0.2) if swing > 0 else 0.0
        yield t, ball.update(free(round(1e9 * t), height, (0, 0, speed), (0, 0, 0)))


def test_a_steady_gait_foretells_liftoffs_in_the_mode_the_events_and_the_sequence():
    """The last stride: liftoff at 1.8 s. Detected ones are dated half a sample to three samples late, and foretold
    ones half a sample later than they come."""
    told = []
    for t, answer in bouncing_ball():
        told += [e for e in answer.events if not e.detected and e.kind == EventKind.LIFTOFF and t > 1.6]
        if 1.72 < t < 1.79:
            assert answer.mode.next_event[0] == EventKind.LIFTOFF
            assert t + answer.mode.time_to_event[0] == pytest.approx(1.8, abs=0.007)
        if 1.76 < t < 1.79:
            sequence = answer.mode.sequence
            assert sequence.kind[0] == EventKind.LIFTOFF and sequence.mode[0] == 0
            assert sequence.times[0] == pytest.approx(
                answer.mode.time_to_event[0] + np.array([0.0, -0.002, 0.002]), abs=0.002
            )
    assert len(told) == 1 and 1e-9 * told[0].time_ns == pytest.approx(1.8, abs=0.007)


def test_without_the_rhythm_nothing_is_remembered_of_strides():
    for t, answer in bouncing_ball({"prediction": {"rhythm": False}}):
        if 1.72 < t < 1.79:
            assert answer.mode.next_event[0] != EventKind.LIFTOFF
