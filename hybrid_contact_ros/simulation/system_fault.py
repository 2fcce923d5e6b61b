"""The one place where an error of the user's system is told from an error of ours.

A system is called some thousand times in a simulation, in states that its author may not have thought of. What it
raises, and an answer that is no answer, ends the execution with status DIVERGED and keeps what was simulated. Any other
error is a bug of this package, and propagates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]

_CALLBACKS = frozenset(
    ("problem", "gap", "configuration_rate", "integrate", "limb_acceleration", "checked_state", "effort")
)
_NAMES = (
    *("mass", "normal_jacobian", "tangent_jacobian", "friction", "restitution", "gap", "bias_force", "jacobian_drift"),
)


class SystemFault(ValueError):  # noqa: N818 - an Error would be ours
    """The user's system raised, or answered with what is no answer. ``__cause__`` is what it raised.

    The message names the type of that error and says what it says. It is a ValueError, because analyses that look at
    states around the present one take that for a state which the system refuses.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")


def guarded(callback: Callable[..., Any], check: Callable[[Any], None] | None = None) -> Callable[..., Any]:
    """The callback, raising SystemFault from whatever it, or ``check`` of its answer, raises."""

    @wraps(callback)
    def call(*args: Any, **named: Any) -> Any:
        try:
            answer = callback(*args, **named)
            if check is not None:
                check(answer)
        except SystemFault:
            raise
        except Exception as error:
            raise SystemFault(error) from error
        return answer

    return call


class GuardedSystem:
    """A system whose callbacks raise SystemFault; everything else is that of the system.

    It passes for an instance of the system's class, because analyses of chatter ask whether a system is a robot, or
    Lagrangian.

    Args:
        system: with ``problem(q, v)``. nv, contacts: the sizes that every contact problem of it must have.
    """

    def __init__(self, system: Any, nv: int, contacts: int) -> None:
        self._system, self._sizes = system, (nv, contacts)
        self._known: dict[str, Callable[..., Any]] = {}

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._system)

    @property
    def unguarded(self) -> Any:
        """The system itself."""
        return self._system

    def __eq__(self, other: object) -> bool:
        return bool(self._system == getattr(other, "_system", other))

    def __hash__(self) -> int:
        return hash(self._system)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._system, name)
        if name not in _CALLBACKS or not callable(value):
            return value
        if name not in self._known:
            self._known[name] = guarded(value, self._check_problem if name == "problem" else _check_finite)
        return self._known[name]

    def _check_problem(self, problem: ContactProblem) -> None:
        check_problem(problem, *self._sizes)


def check_problem(problem: ContactProblem, nv: int, contacts: int) -> None:
    """Refuse a contact problem of other sizes, or with a number that is not finite.

    Raises:
        ValueError: it is one.
    """
    if (problem.nv, problem.contacts) != (nv, contacts):
        raise ValueError(
            f"the contact problem has {problem.nv} velocities and {problem.contacts} contacts; at the start it had "
            f"{nv} and {contacts}"
        )
    for name in _NAMES:
        if not _finite(getattr(problem, name)):
            raise ValueError(f"{name} of the contact problem has an entry that is not finite")


def _check_finite(answer: Any) -> None:
    for part in answer if isinstance(answer, tuple) else (answer,):
        if not _finite(np.asarray(part, dtype=np.float64)):
            raise ValueError(f"an answer of the system has an entry that is not finite: {part}")


def _finite(numbers: Array) -> bool:
    """Whether all are; the sum of squares is a quick test, but those of large numbers overflow."""
    return math.isfinite(np.vdot(numbers, numbers)) or bool(np.isfinite(numbers).all())
