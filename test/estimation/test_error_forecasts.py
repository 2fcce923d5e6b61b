"""Pushes and loads as explanations of what efforts leave of the motion, and what has come on at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros.kernels.estimation.error_forecasts import (
    JUDGED,
    LEAST,
    NOISE,
    NUMBERS,
    RECENT,
    RECENT_BOTH,
    forget_certainty,
    has_come_on,
)
from hybrid_contact_ros.kernels.estimation.lasting_push import (
    PARTS,
    PUSH,
    learn_push,
    no_push,
    outside_columns,
    take_push,
)

NV, STEP = 9, 0.01
SCALE = np.r_[np.full(3, 0.01), 0.05, 0.04, 0.025, np.full(3, 0.05)]  # 1/N, 1/(N m)


def columns(needed, basis=None):
    basis = np.zeros((0, NV)) if basis is None else basis
    found = np.empty((PARTS, NV))
    outside_columns(len(basis), SCALE, basis, np.r_[needed, np.zeros(NV - 3)], 0.8, found)
    return found


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999))
def test_a_load_needs_the_force_that_the_robot_needs_once_more_where_it_is(seed):
    rng = np.random.default_rng(seed)
    needed, place, part = rng.normal(size=3), rng.normal(size=3), 0.2
    force = needed / 0.8 / SCALE[:3]  # N
    wrench = part * np.r_[force, np.cross(place, force)] * SCALE[:6]
    parts = np.r_[np.zeros(6), part, part * place * SCALE[3] / SCALE[0]]
    np.testing.assert_allclose((parts @ columns(needed))[:6], wrench, atol=1e-12)
    assert not columns(needed)[:, 6:].any()


def test_what_the_contacts_may_explain_is_no_part_of_a_push():
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(NV, 4)))[0].T.copy()
    found = columns([0.1, -0.2, 0.8], basis)
    np.testing.assert_allclose(found @ basis.T, 0.0, atol=1e-12)


def test_a_push_and_a_load_are_found_together_and_foretell():
    rng = np.random.default_rng(2)
    true, push = rng.uniform(-0.2, 0.2, PARTS), no_push(1)[0]
    for _ in range(300):
        C = columns(np.array([0.0, 0.0, 0.8]) + 0.3 * rng.normal(size=3))
        learn_push(1000.0, 0.99, 0.1, C, true @ C, push)
    np.testing.assert_allclose(push[PUSH], true, atol=1e-3)
    left = true @ C
    take_push(C, push, left)
    assert np.abs(left).max() < 1e-3


def left(recent, seconds, numbers=None):
    """Whether something has come on, state by state, where so much is left for a time."""
    numbers = np.zeros(NUMBERS) if numbers is None else numbers
    numbers[JUDGED], numbers[RECENT] = 4.0, recent
    return np.array([has_come_on(STEP, numbers) for _ in range(round(seconds / STEP))]), numbers


@pytest.mark.parametrize(("before", "after", "leaps"), [(0.4, 1.0, False), (0.4, 1.4, True), (0.01, 0.25, False)])
def test_what_leaves_three_times_as_much_as_before_and_more_than_is_passed_over_has_come_on(before, after, leaps):
    told, numbers = left(before, 1.0)
    assert not told.any()
    assert left(after, 0.1, numbers)[0].all() == leaps


def test_what_stays_is_taken_for_what_is_left_after_some_time():
    _, numbers = left(0.5, 1.0)
    told, _ = left(3.0, 20.0, numbers)
    assert told[: round(5.0 / STEP)].all() and not told[-1]  # 8 s times the logarithm of 2, for 6 times as much
    assert left(0.05, 0.1, numbers)[1][LEAST] == 0.1


@pytest.mark.parametrize(("part", "lasts"), [(0.3, True), (0.8, False)])
def test_what_leaps_and_no_push_explains_has_not_come_on_from_outside(part, lasts):
    """Constants that were learned of a robot that crept leave ten times as much when it trots."""
    _, numbers = left(0.2, 1.0)
    numbers[RECENT_BOTH] = part * 2.0
    told, _ = left(2.0, 2.0, numbers)
    assert told[: round(0.5 / STEP)].all() and told[-1] == lasts


def test_before_anything_was_foretold_nothing_has_come_on():
    numbers = np.zeros(NUMBERS)
    numbers[RECENT] = 100.0
    assert not has_come_on(STEP, numbers)


class Errors:
    """What :func:`forget_certainty` scales."""

    def __init__(self):
        self.normal, self.cross = np.full((2, 2), 8.0), np.full(2, 4.0)


def test_what_was_learned_while_little_was_left_counts_no_more_than_what_is_learned_now():
    numbers, errors = np.zeros(NUMBERS), Errors()
    numbers[NOISE] = 0.1
    forget_certainty.py_func(0.15, numbers, errors)
    assert errors.cross[0] == 4.0 and numbers[NOISE] == 0.1
    forget_certainty.py_func(0.4, numbers, errors)
    assert errors.cross.tolist() == [1.0, 1.0] and np.tril(errors.normal).tolist() == [[2.0, 0.0], [2.0, 2.0]]
    assert numbers[NOISE] == 0.4
    forget_certainty.py_func(0.2, numbers, errors)
    assert numbers[NOISE] == 0.2 and errors.cross[0] == 1.0
