"""Sets of the contacts of a problem: those that are named, those that touch, and the rows that they close."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem


def contact_set(name: str, contacts: Iterable[int], count: int) -> frozenset[int]:
    """The given indices as a set.

    Raises:
        ValueError: an index is not an integer in 0..count − 1; the text says so of the argument ``name``.
    """
    scalar = isinstance(contacts, (str, bytes, np.ndarray)) and np.ndim(contacts) == 0  # strings have no dimensions
    if scalar or not isinstance(contacts, Iterable):
        raise ValueError(f"{name} is {contacts!r}; give the indices of contacts as a list or a set, such as [0]")
    found = set()
    for contact in contacts:
        try:
            index = int(contact)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{name} holds {contact!r}; indices of contacts are needed") from None
        if index != contact or not 0 <= index < count:
            raise ValueError(f"{name} holds {contact!r}; contacts are numbered 0..{count - 1}")
        found.add(index)
    return frozenset(found)


def not_negative(**numbers: float) -> None:
    """Refuse numbers, given by their names, that make no sense as tolerances.

    Raises:
        ValueError: one is negative, NaN, or not a single number.
    """
    for name, value in numbers.items():
        if isinstance(value, (str, bytes)) or np.ndim(value) or not value >= 0.0:
            raise ValueError(f"{name} must be ≥ 0, got {value!r}")


def finite(**numbers: float) -> None:
    """Refuse numbers, given by their names, that make no sense as times.

    Raises:
        ValueError: one is infinite, NaN, or not a single number.
    """
    for name, value in numbers.items():
        if isinstance(value, (str, bytes)) or np.ndim(value) or not -np.inf < value < np.inf:
            raise ValueError(f"{name} must be a finite number, got {value!r}")


def counts(least: int = 1, **numbers: int) -> None:
    """Refuse numbers, given by their names, that make no sense as how many there may be.

    Raises:
        ValueError: one is no whole number, or smaller than ``least``.
    """
    for name, value in numbers.items():
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
        if not whole or value < least:
            raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}")


def touching_contacts(
    problem: ContactProblem, gap_tolerance: float = 1e-9, velocity_tolerance: float = 1e-9
) -> frozenset[int]:
    """Contacts with no gap that do not separate (Johnson (33)): φ ≤ ``gap_tolerance``, m, and φ̇ ≤
    ``velocity_tolerance``, m/s.

    Raises:
        ValueError: a tolerance that is negative or not a number.
    """
    not_negative(gap_tolerance=gap_tolerance, velocity_tolerance=velocity_tolerance)
    rate = problem.normal_jacobian @ problem.velocity
    return frozenset(np.flatnonzero((problem.gap <= gap_tolerance) & (rate <= velocity_tolerance)).tolist())


def closed_rows(problem: ContactProblem, closed: Iterable[int], sliding: Iterable[int] = ()) -> NDArray[np.bool_]:
    """Which rows (m, 1 + d) a mode closes: the normal of each contact, and the tangents where friction makes it
    stick."""
    slides = frozenset(sliding)
    held = np.zeros((problem.contacts, 1 + problem.tangents), dtype=bool)
    for i in closed:
        held[i, : 1 if i in slides or problem.friction[i] == 0.0 else 1 + problem.tangents] = True
    return held
