"""Inputs that differ by an ulp: what another BLAS, compiler or processor would have made of the same numbers.

A BLAS chooses its kernels by the processor, and they add up in different orders. What a test asserts must hold for all
of them. A change of the inputs in their last bit has the same size as that rounding and needs no second machine, so
the tests that feel rounding run twice (the fixture ``rounding`` in ``conftest.py``): as given, and with inputs an ulp
off.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

import numpy as np

from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem

EPS = float(np.finfo(float).eps)

# What goes into products. Friction, restitution and gaps decide by comparison, and tests choose their limits exactly.
_NUDGED = ("mass", "velocity", "normal_jacobian", "tangent_jacobian", "bias_force", "jacobian_drift")


def nudged(values: Any, seed: int = 1, ulps: float = 1.0) -> np.ndarray:
    """Multiply each entry by 1 − ε, 1 or 1 + ε; zeros stay, because zeros of structure survive every BLAS.

    Which one depends on ``seed`` and on the values alone, so that equal inputs stay equal. A symmetric matrix stays
    symmetric.
    """
    array = np.array(values, dtype=np.float64)
    rng = np.random.default_rng([seed, zlib.crc32(array.tobytes())])
    signs = rng.integers(-1, 2, array.shape)
    if array.ndim == 2 and array.shape[0] == array.shape[1] and np.array_equal(array, array.T):
        signs = np.triu(signs) + np.triu(signs, 1).T
    return array * (1.0 + ulps * EPS * signs)


def terms(rows: Any, vector: Any) -> np.ndarray:
    """Σ |J| |v| of each row: what J v is added up from, and so what its rounding is relative to. J (…, nv), v (nv,)."""
    return np.abs(rows) @ np.abs(vector)


@contextmanager
def nudged_problems(seed: int = 1, ulps: float = 1.0) -> Iterator[None]:
    """Until it ends, every contact problem that is written down, or that a robot's model makes, is :func:`nudged`.

    Problems derived from another one (another velocity, fewer contacts) keep its numbers.
    """

    def nudge(problem: ContactProblem) -> ContactProblem:
        for name in _NUDGED:
            object.__setattr__(problem, name, nudged(getattr(problem, name), seed, ulps))
        return problem

    write_down, of_a_state = ContactProblem.__init__, RigidBodyModel.problem

    @wraps(write_down)
    def written_down(self: ContactProblem, *arguments: Any, **named: Any) -> None:
        write_down(self, *arguments, **named)
        nudge(self)

    @wraps(of_a_state)
    def made(self: RigidBodyModel, *arguments: Any, **named: Any) -> ContactProblem:
        return nudge(of_a_state(self, *arguments, **named))

    with patch.object(ContactProblem, "__init__", written_down), patch.object(RigidBodyModel, "problem", made):
        yield
