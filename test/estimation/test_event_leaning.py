"""Feet leave when the schedule wants it, and joints follow it later: events of a gait whose period changes."""

import numpy as np
import pytest

from hybrid_contact_ros.estimation.stride_course import event_skill, forget_skill, stride_course
from hybrid_contact_ros.kernels.estimation.event_skill import STRIDE, leaning, learn_skill
from hybrid_contact_ros.kernels.estimation.event_sources import EventsGiven, EventsTold, weigh_sources
from hybrid_contact_ros.kernels.estimation.stride_begin import note_event
from hybrid_contact_ros.kernels.estimation.stride_course import follow_course

STEP = 0.002  # s
LIFTS_AT = 0.6  # of a stride, in which the foot touches at its end
JOINTS = 4
SHIFTS = 2.0 * np.pi * np.arange(JOINTS) / 7.0
UP, LEVEL = np.array([[0.0, 0.0, 1.0]]), np.zeros(1)


def phase_at(time, change, period=0.6):
    """Strides of the schedule after so many s (n,), whose period changes by a part in turns of eight strides."""
    part = time / period
    return part + change * 8.0 / (2.0 * np.pi) * np.sin(2.0 * np.pi * part / 8.0)


def errors_of_liftoffs(delay, change, seconds=20.0, learns=True):
    """Of liftoffs by the last stride 20 ms ahead, s, in the second half of a walk whose joints are where the schedule
    was ``delay`` s before."""
    q, v, skill = np.zeros(JOINTS), np.zeros(JOINTS), event_skill(1)
    course, rng = stride_course(1, q, v, False, True), np.random.default_rng(1)
    times = STEP * np.arange(round(seconds / STEP))
    phases, follows = phase_at(times, change), phase_at(times - delay, change)
    found, one = [], np.ones(1)
    for k in range(times.size - 1):
        angle = 2.0 * np.pi * follows[k] + SHIFTS
        rate = (follows[k + 1] - follows[k]) / STEP
        q[:] = 0.3 * np.sin(angle) + 0.1 * np.sin(2.0 * angle) + 0.002 * rng.normal(size=JOINTS)
        v[:] = 2.0 * np.pi * rate * (0.3 * np.cos(angle) + 0.2 * np.cos(2.0 * angle)) + 0.05 * rng.normal(size=JOINTS)
        now = follow_course(STEP * (k > 0), round(1e9 * times[k]), k == 0, UP, np.zeros((1, 3)), LEVEL, course)
        closed = np.array([phases[k] % 1.0 < LIFTS_AT], np.uint8)
        given = EventsGiven(
            now, STEP, 2.0, 0.1, False, closed, one, -one, np.full((1, 2, 3), np.inf), one, np.zeros(1),
            np.zeros((1, 2, 3)), np.full((1, 3), -1.0), 0.001, 0.008, np.zeros(1, np.uint8), 0.02 * one, 0.001 * one,
        )  # fmt: skip
        weigh_sources(given, course, skill, EventsTold(np.zeros(1, np.uint8), np.zeros(1, np.uint8), np.zeros((1, 3))))
        if not learns:
            forget_skill(skill)
        after = np.searchsorted(phases, np.floor(phases[k]) + LIFTS_AT)
        if closed[0] and after - k == round(0.02 / STEP) and after < times.size and times[k] > 0.5 * seconds:
            found.append(skill.forecast[0, STRIDE] - 0.02)
        for lifts, at in ((1, LIFTS_AT), (0, 1.0)):
            if np.floor(phases[k + 1] - at) > np.floor(phases[k] - at):
                part = (np.ceil(phases[k] - at) + at - phases[k]) / (phases[k + 1] - phases[k])
                if note_event(0, lifts, now + part * STEP, course):
                    learn_skill(0, lifts, now + part * STEP, skill)
    return np.array(found)


def test_how_much_later_joints_follow_is_learned_while_the_period_changes():
    plain, learned = (errors_of_liftoffs(0.035, 0.25, learns=learns) for learns in (False, True))
    assert plain.size == learned.size > 10
    assert np.sqrt(np.mean(plain**2)) > 0.004
    assert np.sqrt(np.mean(learned**2)) < 0.5 * np.sqrt(np.mean(plain**2))


@pytest.mark.parametrize(("delay", "change"), [(0.0, 0.25), (0.035, 0.0)])
def test_where_joints_follow_at_once_or_the_period_stays_nothing_is_lost(delay, change):
    plain, learned = (errors_of_liftoffs(delay, change, learns=learns) for learns in (False, True))
    assert np.sqrt(np.mean(learned**2)) < np.sqrt(np.mean(plain**2)) + 0.0005


def leaned(paces, errors):
    """What is remembered after liftoffs that the last stride was wrong about by ``errors``, s, at changes of pace."""
    skill = event_skill(1)
    for k, (pace, error) in enumerate(zip(paces, errors, strict=True)):
        time = 1.0 + 0.3 * k
        skill.recent[0, 0] = np.nan
        skill.recent_time[0], skill.recent_kind[0, 0], skill.recent_place[:] = time - 0.02, 1, (1, 1)
        skill.recent_lean[0] = pace, leaning(pace, skill)
        skill.recent[0, 0, STRIDE] = time + error - skill.recent_lean[0, 1]
        learn_skill(0, 1, time, skill)
    return skill


def test_errors_that_go_with_the_change_of_pace_are_taken_off_at_any_pace():
    paces = 0.2 * np.sin(np.arange(40))
    skill = leaned(paces, -0.03 * paces)
    assert leaning(0.1, skill) == pytest.approx(-0.003, rel=0.1)
    assert leaning(-0.1, skill) == pytest.approx(0.003, rel=0.1)


def test_errors_at_a_steady_pace_are_taken_off_at_any_pace():
    skill = leaned(np.zeros(40), np.full(40, 0.005))
    assert leaning(0.0, skill) == leaning(0.2, skill) == pytest.approx(0.005, rel=0.4)


def test_errors_that_change_their_sign_are_not_taken_off():
    assert abs(leaning(0.1, leaned(np.zeros(40), 0.006 * (-1.0) ** np.arange(40)))) < 0.0005
