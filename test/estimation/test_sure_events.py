"""A foot that skims the ground at the end of its stance leaves once, when it rises: that is what is learned from."""

import numpy as np
import pytest

from helpers.robot_systems import ball
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.memory import log_memory
from hybrid_contact_ros.estimation.rhythm import StrideRhythm
from hybrid_contact_ros.estimation.stride_course import event_skill
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.kernels.estimation.event_skill import STATE, remember_forecasts
from hybrid_contact_ros.kernels.estimation.sure_events import events_to_learn
from hybrid_contact_ros.prediction import Event

TOUCHDOWN, LIFTOFF, SLIP = int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF), int(EventKind.SLIP)
MS = 1_000_000


class Learner:
    """Detected events (kind, ms) of the first of two contacts, and those that are learned from: (kind, ms, when)."""

    def __init__(self):
        self.log, self.learned = log_memory(2), []

    def until(self, end, *happens, begin=0):
        """States of each millisecond up to ``end``, ms."""
        for now in range(begin, end + 1):
            rows = np.array([[0, kind, t * MS, 0, 0] for kind, t in happens if t == now], np.int64).reshape(-1, 5)
            count = events_to_learn(now * MS, len(rows), rows, self.log.waiting, self.log.landed, self.log.sure)
            self.learned += [(int(r[1]), int(r[2]) // MS, now) for r in self.log.sure[:count]]
        return self.learned


def test_a_foot_that_skims_before_it_rises_has_left_once_and_last():
    skims = [(LIFTOFF, 100), (TOUCHDOWN, 122), (LIFTOFF, 147)]
    assert Learner().until(400, *skims, (TOUCHDOWN, 350)) == [(LIFTOFF, 147, 177), (TOUCHDOWN, 350, 350)]


def test_a_foot_that_bounces_has_touched_once_and_first():
    bounces = [(TOUCHDOWN, 100), (LIFTOFF, 104), (TOUCHDOWN, 110), (LIFTOFF, 115), (TOUCHDOWN, 118)]
    assert Learner().until(300, *bounces) == [(TOUCHDOWN, 100, 100)]


def test_a_foot_that_touches_for_an_instant_and_lands_within_sixty_milliseconds_has_touched_at_first():
    """A walk's rebound: on the ground for 8 ms, off it for 32 ms, and once more."""
    rebounds = [(TOUCHDOWN, 100), (LIFTOFF, 108), (TOUCHDOWN, 140), (LIFTOFF, 145), (TOUCHDOWN, 190)]
    assert Learner().until(400, *rebounds, (LIFTOFF, 300)) == [(TOUCHDOWN, 100, 100), (LIFTOFF, 300, 330)]
    assert Learner().until(400, (TOUCHDOWN, 100), (LIFTOFF, 108), (TOUCHDOWN, 170)) == [
        (TOUCHDOWN, 100, 100), (LIFTOFF, 108, 168), (TOUCHDOWN, 170, 170)
    ]  # fmt: skip


def test_a_short_swing_is_one_and_slips_count_at_once():
    steps = [(SLIP, 50), (LIFTOFF, 100), (TOUCHDOWN, 130)]
    assert Learner().until(300, *steps) == [(SLIP, 50, 50), (LIFTOFF, 100, 130), (TOUCHDOWN, 130, 130)]


def test_slow_streams_learn_a_liftoff_with_the_touchdown_at_the_latest():
    log = log_memory(1)
    told = []
    for now, kind in ((0, LIFTOFF), (50, TOUCHDOWN)):
        count = events_to_learn(now * MS, 1, np.array([[0, kind, now * MS, 0, 0]]), log.waiting, log.landed, log.sure)
        told.append([tuple(row[1:3]) for row in log.sure[:count]])
    assert told == [[], [(LIFTOFF, 0), (TOUCHDOWN, 50 * MS)]]


def test_the_rhythm_is_that_of_the_liftoffs_after_which_feet_rise():
    rhythm = StrideRhythm(1, 2.0)
    for k in range(5):
        skims = [(EventKind.LIFTOFF, -47), (EventKind.TOUCHDOWN, -25)] if k % 2 else []
        for kind, ms in [*skims, (EventKind.LIFTOFF, 0), (EventKind.TOUCHDOWN, 200)]:
            rhythm.note(Event(0, 0, kind, True, (500 * k + 500 + ms) * MS, 0, 0, 1.0))
    assert rhythm.due[0, 1, 0] == pytest.approx(2.5, abs=1e-6)  # s after the first liftoff


def test_a_forecast_waits_for_a_liftoff_that_is_not_sure_yet():
    skill, closed = event_skill(1), np.ones(1, np.uint8)
    skill.forecast[:] = np.inf
    skill.forecast[0, STATE] = 0.005
    remember_forecasts(1.0, closed, np.ones(1), np.zeros(1), 0.0, skill)
    skill.forecast[:] = np.inf
    remember_forecasts(1.05, 0 * closed, np.ones(1), np.zeros(1), 0.0, skill)
    assert skill.share[0, 1, STATE] == 1.0  # the foot is open: it may have left
    remember_forecasts(1.05, closed, np.ones(1), np.zeros(1), 0.0, skill)
    assert skill.share[0, 1, STATE] < 1.0  # it stands


def test_a_pause_forgets_what_is_not_sure():
    memory = ContactEstimator(ball(), EstimatorConfig())._engine.memory
    memory.log.waiting[:] = 1
    memory.log.landed[:] = 1
    memory.pause()
    assert not memory.log.waiting.any() and (memory.log.landed < 0).all()
