"""What acts from outside for a second is eliminated from the least squares for the errors of joints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros.config import TrustConfig
from hybrid_contact_ros.estimation.effort_errors import correction_and_errors
from hybrid_contact_ros.kernels.estimation.effort_correction import KINDS
from hybrid_contact_ros.kernels.estimation.lasting_push import PARTS, SIGMA
from hybrid_contact_ros.kernels.estimation.outside_window import (
    add_outside,
    end_window,
    shared_cross,
    shared_entry,
    weigh_outside,
)

NV, N = 12, 6
LIMB = np.r_[np.full(6, -1), [0, 0, 0, 1, 1, 1]].astype(np.int64)
UNKNOWN = KINDS * N + 1
KEEP = 0.99


def taught(seed: int, outside: float, samples: int = 40):
    """A window with its samples: columns (n, PARTS, nv) of what acts from outside, columns (n, k, nv) of the constants,
    and what is left (n, nv), of which ``outside`` times random parts are from outside."""
    rng = np.random.default_rng(seed)
    _, errors = correction_and_errors(LIMB, np.ones(NV), TrustConfig(), stands=True)
    acts = outside * rng.normal(size=PARTS)
    columns, constants, left = [], [], []
    for _ in range(samples):
        C = rng.normal(size=(PARTS, NV))
        y = acts @ C + 0.01 * rng.normal(size=NV)
        errors.row[:] = rng.normal(size=UNKNOWN)
        errors.work[:] = rng.normal(size=NV)
        A = np.zeros((UNKNOWN, NV))
        for p in range(UNKNOWN - 1):
            A[p, errors.joint[p % N]] = errors.row[p]
        A[-1] = errors.work
        errors.left[0], errors.left[1] = y, y
        add_outside(2.0, KEEP, C, errors)
        errors.normal[:] = KEEP * errors.normal + 2.0 * np.tril(A @ A.T)
        errors.cross[:] = KEEP * errors.cross + 2.0 * A @ y
        columns.append(C)
        constants.append(A)
        left.append(y)
    return errors, np.array(columns), np.array(constants), np.array(left)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.floats(0.05, 0.5))
def test_the_constants_are_those_of_a_least_squares_that_has_what_acts_from_outside_as_unknowns(seed, outside):
    errors, C, A, y = taught(seed, outside)
    assert weigh_outside(errors)
    entries = np.array([[shared_entry(p, q, errors) for q in range(UNKNOWN)] for p in range(UNKNOWN)])
    crosses = np.array([shared_cross(p, errors) for p in range(UNKNOWN)])
    normal = errors.normal + np.tril(errors.normal, -1).T
    found = np.linalg.solve(normal - entries + np.eye(UNKNOWN), errors.cross - crosses)
    both, weight = np.concatenate([A, C], axis=1), 2.0 * KEEP ** np.arange(len(y))[::-1]  # the slow, obvious way
    full = np.einsum("n,npk,nqk->pq", weight, both, both)
    full += np.diag(np.r_[np.ones(UNKNOWN), np.full(PARTS, SIGMA**-2)])
    expected = np.linalg.solve(full, np.einsum("n,npk,nk->p", weight, both, y))[:UNKNOWN]
    np.testing.assert_allclose(found, expected, atol=1e-8)
    end_window(True, errors)
    np.testing.assert_allclose(np.tril(normal - entries), np.tril(errors.normal), atol=1e-9 * np.abs(normal).max())
    assert not errors.window.any() and not errors.shared[0].any()


def test_where_nothing_acts_from_outside_the_window_tells_all_of_the_constants():
    errors, _, _, _ = taught(1, 0.0)
    assert not weigh_outside(errors)
    normal, cross = errors.normal.copy(), errors.cross.copy()
    end_window(False, errors)
    assert np.array_equal(normal, errors.normal) and np.array_equal(cross, errors.cross)


@pytest.mark.parametrize("part", [0.3, 3.0])
def test_what_explains_less_than_half_of_what_the_constants_leave_is_no_push(part):
    errors, _, _, _ = taught(2, 0.3)
    errors.window[PARTS + 1] *= part  # as if the constants left what a push explains that part of, in its sides
    assert weigh_outside(errors) == (part > 1.0)
