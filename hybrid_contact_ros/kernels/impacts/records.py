"""The records that the kernels of impacts hand to each other.

Everything is scaled and on friction axes (:mod:`.friction_axes`): m contacts with g axes each, p = m (1 + g) unknowns,
a contact's normal first. Records are built in the first lines of the kernels that Python calls, and hold views.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

STEPS, TERMINATED, RESIDUAL, SEARCHED, SEVERAL, UNCERTAIN, SEARCH_WORK = range(7)
"""Columns of what is told of every sample: increments that it took; 1 if it ended because no contact approached any
more (0 else); the largest residual; increments searched for other solutions, those of them that had several, and those
where the search may have missed some; units of work that the searches took."""
SAMPLE_COLUMNS = 7


class IncrementProblem(NamedTuple):
    """One increment LCP (Halm (72)–(75)); :mod:`.pivoting` has its conditions."""

    g: int
    H: Array  # (p, p), symmetric: scaled Delassus matrix
    w: Array  # (p,): scaled contact velocities before the increment
    cap: Array  # (m,): largest normal impulse, Λ_max
    c: Array  # (m,): bound of the impulse along an axis, per unit of normal impulse


class Tableau(NamedTuple):
    """What pivoting works on; :mod:`.tableau` says what it means."""

    T: Array  # (≥ p + 3, p rounded up to whole blocks), T[column, row]; .mode_basis takes up to 2p + 5 rows
    row: Array  # (p + 3,): expression of the leaving variable
    column: Array  # (p + 3,): column of the leaving variable
    side: Array  # (p + 3,): +1 or −1, on which side each pair is
    holds: Array  # (p + 3,): X_BASIC where x of the pair is basic, Y_BASIC where y is (.tableau)
    values: Array  # (p + 3,): values of x
    felt: Array  # (p + 3,): scratch


class IncrementScratch(NamedTuple):
    """Scratch of :func:`.increment.increment`, and its answer."""

    tableau: Array  # (2p + 5, p rounded up to whole blocks)
    lines: Array  # (6, p + 3)
    push: Array  # (p,): impulses
    after: Array  # (p,): velocities after the increment


class SearchLimits(NamedTuple):
    """How much is spent on other solutions of an increment."""

    chance: float  # probability that an increment is searched
    limit: float  # units of work of one search
    budget: float  # units of work of all samples of this call


class SearchScratch(NamedTuple):
    """Scratch of :func:`.all_solutions.search`, and the solutions that it finds."""

    T: Array  # (m + 1, p, p + 1)
    A: Array  # (p + 1, p + 1)
    states: Integers  # (5, p)
    modes: Integers  # (m, any)
    solutions: Array  # (any, p): impulses
    velocities: Array  # (any, p): velocities after the increment


class Walk(NamedTuple):
    """What the samples of a set have in common: how they begin, proceed and end."""

    step: Array  # (m,): largest cap of an increment; caps are drawn uniformly below it
    last_step: Array  # (m,): caps of the increment that a sample gets which approaches after max_steps; 0: no such one
    max_steps: int
    separating: Array  # (m,) > 0: a contact that approaches no faster has separated
    draws: Array  # (samples, max_steps, m): caps in place of the random ones; (0, 0, 0) for none


class MaterialRange(NamedTuple):
    """What is known of the contacts: each e and c lies between two ends, (m,) each."""

    common: bool  # whether all contacts stand at the same place in their intervals
    e_low: Array
    e_high: Array
    c_low: Array
    c_high: Array


class Stores(NamedTuple):
    """Restitution of one sample, (m,) each: energy by Stronge's law, impulse by Poisson's, scaled."""

    cap: Array  # largest normal impulse of the increment
    release: Array  # normal impulse of the increment that is restitution; 0 where the contact is compressed or free
    store: Array  # what compression has left and restitution may spend
    most_held: Array  # the most that the store ever held
    change: Array  # scratch: of the store in the increment
    reach: Array  # bound of |H z| in any row per unit of the contact's normal impulse
    allowance: Array  # impulse that restitution may still take before the contact counts as jammed
    e: Array  # restitution of this sample
    c: Array  # friction bound of this sample
