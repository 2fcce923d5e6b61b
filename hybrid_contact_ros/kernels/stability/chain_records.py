"""What the kernels of a chain of impacts (:mod:`.impact_chain`) are given, work in, and write."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.modes.records import Array, mode_scratch

Codes = NDArray[np.uint8]
Indices = NDArray[np.int64]


class ChainProblem(NamedTuple):
    """Contacts at one configuration: m of them with d tangents, n = m (1 + d) rows, normal first."""

    d: int
    most: int  # impacts that the chain may have
    steps: int  # of operator splitting at most, where an active set fails
    tolerance: float  # of the scaled residual of an impact
    G: Array  # (n, n), 1/kg: Delassus matrix
    b: Array  # (n,), m/s²: accelerations without contact forces
    friction: Array  # μ (m,)
    restitution: Array  # e (m,)


class ChainStart(NamedTuple):
    """What a chain begins with."""

    closed: Codes  # (m,): contacts that rest on the ground
    times: Array  # (m,): when each of the others would touch if nothing struck before, in any unit; inf: it does not
    before: Array  # (n,), m/s: u⁻


class ChainScratch(NamedTuple):
    """Scratch of one impact."""

    A: Array  # (2 n + SPLITTING_ROWS, n), work and order: ModeScratch of the mode solvers
    work: Array  # (2, n)
    order: Indices  # (2 n,)
    met: Codes  # (m,): contacts that take part in an impact
    scope: Codes  # (m,): those of them that may get an impulse in a solve
    moving: Codes  # (m,)
    slip: Array  # (m, d)
    state: Indices  # (m,)
    solved: Array  # (n,): impulse of a solve
    after: Array  # (n,): velocities after it
    push: Array  # (n,): impulse of one impact, restitution included
    pressed: Array  # (n,): impulse of its compression
    stopped: Array  # (n,): velocities after that
    start: Array  # (n,): velocities that an impact is solved from
    smooth: Array  # (m,): zeros, the friction of restitution


class ChainState(NamedTuple):
    """Where a chain is."""

    on: Codes  # (m,): 1 for a contact that rests on the ground
    gap: Array  # (m,): velocity times the unit of time; inf for a contact that takes no part
    velocity: Array  # u (n,), m/s
    impulse: Array  # Λ (n,), N s, all of the chain so far


class ChainLog(NamedTuple):
    """The word of a chain: one row for each impact, k of them, or no rows at all."""

    struck: Codes  # (k, m): contacts that touched
    rests: Codes  # (k, m): contacts that rest on the ground after it


def chain_scratch(m: int, d: int) -> ChainScratch:
    """Memory for chains of m contacts with d tangents."""
    n = m * (1 + d)
    return ChainScratch(
        *mode_scratch(n),
        met=np.zeros(m, np.uint8),
        scope=np.zeros(m, np.uint8),
        moving=np.zeros(m, np.uint8),
        slip=np.zeros((m, d)),
        state=np.zeros(m, np.int64),
        solved=np.zeros(n),
        after=np.zeros(n),
        push=np.zeros(n),
        pressed=np.zeros(n),
        stopped=np.zeros(n),
        start=np.zeros(n),
        smooth=np.zeros(m),
    )


def chain_state(m: int, d: int) -> ChainState:
    """Memory for the state of one chain."""
    n = m * (1 + d)
    return ChainState(on=np.zeros(m, np.uint8), gap=np.zeros(m), velocity=np.zeros(n), impulse=np.zeros(n))


def chain_log(impacts: int, m: int) -> ChainLog:
    """Memory for the word of a chain of so many impacts at most."""
    return ChainLog(struck=np.zeros((impacts, m), np.uint8), rests=np.zeros((impacts, m), np.uint8))
