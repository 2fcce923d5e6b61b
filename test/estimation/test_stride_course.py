"""Where in its last stride a robot is, and what followed then: joints that swing as sines of a phase."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros.estimation.stride_course import stride_course
from hybrid_contact_ros.kernels.estimation.stride_begin import note_event
from hybrid_contact_ros.kernels.estimation.stride_course import LAG, MISMATCH, TRACKED, follow_course
from hybrid_contact_ros.kernels.estimation.stride_events import event_after, followed, touchdown_on_path

STEP = 0.002  # s
LIFTS_AT, TOUCHES_AT = 0.6, 1.0  # of a stride
JOINTS = 4
SHIFTS = 2.0 * np.pi * np.arange(JOINTS) / 7.0
UP, LEVEL = np.array([[0.0, 0.0, 1.0]]), np.zeros(1)
SWING = 0.08  # m


class Walker:
    """One leg of four joints on a fixed base. The foot's height follows from the phase."""

    def __init__(self, noise=0.0):
        self.q, self.v = np.zeros(JOINTS), np.zeros(JOINTS)
        self.course = stride_course(1, self.q, self.v, False, True)
        self.rng, self.noise = np.random.default_rng(3), noise
        self.time = self.now = 0.0

    def go(self, phases, rates):
        """States for the phases (n,), strides, at rates (n,), 1/s, a step apart; yields the phase after each."""
        for phase, rate in zip(phases, rates, strict=True):
            angle = 2.0 * np.pi * phase + SHIFTS
            self.q[:] = 0.3 * np.sin(angle) + 0.1 * np.sin(2.0 * angle)
            self.v[:] = 2.0 * np.pi * rate * (0.3 * np.cos(angle) + 0.2 * np.cos(2.0 * angle))
            self.q += 0.002 * self.noise * self.rng.normal(size=JOINTS)
            self.v += 0.05 * self.noise * self.rng.normal(size=JOINTS)
            place = np.array([[0.0, 0.0, height(phase)]])
            first = self.time == 0.0
            self.now = follow_course(
                0.0 if first else STEP, round(1e9 * self.time), first, UP, place, LEVEL, self.course
            )
            yield phase
            for k in (0, 1):
                at = LIFTS_AT if k else TOUCHES_AT
                passed = np.floor(phase + rate * STEP - at) - np.floor(phase - at)
                if passed > 0.0:
                    part = (np.ceil(phase - at) + at - phase) / rate
                    note_event(0, k, self.now + part, self.course)
            self.time += STEP

    def left(self, lifts):
        return event_after(0, lifts, self.now, self.course)


def height(phase):
    part = (phase % 1.0 - LIFTS_AT) / (TOUCHES_AT - LIFTS_AT)
    return SWING * np.sin(np.pi * part) if part > 0.0 else 0.0


def steady(strides, period=0.5):
    n = round(strides * period / STEP)
    return np.arange(n) * STEP / period, np.full(n, 1.0 / period)


def test_one_stride_and_one_event_foretell_the_next():
    walker = Walker(noise=1.0)
    errors = []
    for phase in walker.go(*steady(5)):
        left, spread = walker.left(1)
        if phase > 1.7 and phase % 1.0 < LIFTS_AT - 0.05:
            assert left < np.inf
            errors.append((left - (LIFTS_AT - phase % 1.0) * 0.5) / spread)
    assert np.abs(errors).max() < 3.0 and len(errors) > 300


@settings(max_examples=8, deadline=None)
@given(st.floats(-0.25, 0.25), st.floats(0.35, 1.2))
def test_a_period_that_changes_is_followed(change, period):
    """By the clock the next stride would last as long as the one before, which is wrong by up to a quarter of it."""
    walker = Walker()
    phase, phases, rates = 0.0, [], []
    while phase < 6.0:
        rate = (1.0 + change * np.sin(2.0 * np.pi * phase / 5.0)) / period
        phases.append(phase)
        rates.append(rate)
        phase += rate * STEP
    wrong = []
    for k, phase in enumerate(walker.go(phases, rates)):
        left, _ = walker.left(1)
        if phase > 2.5 and LIFTS_AT - 0.05 / (period * rates[k]) < phase % 1.0 < LIFTS_AT:
            soon = np.searchsorted(phases, np.floor(phase) + LIFTS_AT)
            wrong.append(abs(left - (soon - k) * STEP) if soon < len(phases) else 0.0)
    assert len(wrong) > 20
    assert np.median(wrong) < 0.002 + 0.01 * period and np.max(wrong) < 0.005 + 0.03 * period


@pytest.mark.parametrize("stops_at", [3.1, 3.45, 3.8])
def test_a_robot_that_stops_foretells_nothing_50_ms_later(stops_at):
    walker = Walker(noise=1.0)
    phases, rates = steady(stops_at)
    for _ in walker.go(phases, rates):
        pass
    assert followed(walker.course.lag)
    for k, _ in enumerate(walker.go(np.full(250, phases[-1]), np.zeros(250))):
        if k * STEP > 0.05:
            assert not followed(walker.course.lag) and np.isinf(walker.left(1)[0])
    assert walker.course.lag[TRACKED] == 0.0


def test_events_a_stride_apart_are_not_enough_where_the_motion_is_another():
    """The joints move at random; the contact touches and leaves by the clock."""
    walker = Walker()
    rng = np.random.default_rng(0)
    for k in range(2500):
        walker.q += STEP * walker.v
        walker.v += 0.3 * rng.normal(size=JOINTS) - 0.01 * walker.v
        walker.now = follow_course(STEP * (k > 0), k * 2_000_000, k == 0, UP, np.zeros((1, 3)), LEVEL, walker.course)
        if k % 125 == 0:
            note_event(0, (k // 125) % 2, walker.now, walker.course)
        assert walker.course.lag[TRACKED] == 0.0


def test_a_bounce_is_one_touchdown_at_the_first_touch_however_often_it_bounces():
    course = stride_course(1, np.zeros(1), np.zeros(1), False, True)
    new = [note_event(0, k % 2, 1.0 + 0.012 * k, course) for k in range(7)]
    assert new == [True] + 6 * [False]
    assert course.lifted[0, -1] == 0 and course.events[0, -1] == 1.0
    assert (course.lifted[0, :-1] < 0).all()


def test_of_a_foot_that_has_touched_in_this_stride_the_last_stride_tells_the_touchdown_of_the_next():
    """It may rebound: what is open now, and touched last, does not touch as it did a stride ago."""
    course = stride_course(1, np.zeros(1), np.zeros(1), False, True)
    course.lag[TRACKED], course.lag[LAG], course.lag[MISMATCH] = 1.0, 0.5, 1.0
    for k, time in enumerate((1.0, 1.3, 1.5, 1.8)):  # touches and leaves in turn
        note_event(0, k % 2, time, course)
    assert event_after(0, 0, 1.99, course)[0] == pytest.approx(0.01)
    note_event(0, 0, 2.0, course)
    assert event_after(0, 0, 2.01, course)[0] == pytest.approx(0.49)
    assert touchdown_on_path(0, 2.01, 0.1, 0.001, 0.0, course) == np.inf


def test_a_pause_and_a_first_state_forget_the_last_stride():
    for first, gap in ((True, STEP), (False, 10.0)):
        walker = Walker()
        for _ in walker.go(*steady(3)):
            pass
        assert followed(walker.course.lag) and walker.course.lag[LAG] == pytest.approx(0.5, abs=0.002)
        follow_course(gap, round(1e9 * (walker.time + gap)), first, UP, np.zeros((1, 3)), LEVEL, walker.course)
        assert not followed(walker.course.lag) and (walker.course.lifted < 0).all()


@pytest.mark.parametrize("step", [-0.02, 0.0, 0.02])
def test_ground_of_another_height_is_met_where_the_path_of_the_last_swing_meets_it(step):
    walker = Walker()
    phases, rates = steady(3.85)
    for _ in walker.go(phases, rates):
        pass
    gap = height(phases[-1]) - step
    told = touchdown_on_path(0, walker.now, 0.2, gap, 0.0, walker.course)
    later = np.linspace(phases[-1], 4.0, 4000)
    heights = SWING * np.sin(np.pi * (later % 1.0 - LIFTS_AT) / (TOUCHES_AT - LIFTS_AT))
    if step > 0.0:
        expected = (later[np.argmax(heights < step)] - phases[-1]) * 0.5
    else:  # beyond the end of the last swing, at the speed of its end
        speed = SWING * np.pi / (TOUCHES_AT - LIFTS_AT) / 0.5
        expected = (4.0 - phases[-1]) * 0.5 - step / speed
    assert told == pytest.approx(expected, abs=0.003)
