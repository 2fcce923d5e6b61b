"""The records that the rollout and its steps pass on, and the bounds that they share with the event times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]
Indices = NDArray[np.int64]


class TimeBounds(NamedTuple):
    """How uncertain the state is; ``sigmas`` standard deviations of it make the earliest and the latest time."""

    sigmas: float
    gap_sigma: Array  # of φ (m,), m
    velocity_sigma: Array  # of φ̇ (m,), m/s
    acceleration_sigma: float  # of φ̈ by the model, m/s²


class RolloutProblem(NamedTuple):
    """The hybrid model at one state; n = m (1 + d)."""

    d: int  # tangents per contact
    steps: int  # of splitting at most, where an active set fails
    horizon: float  # s
    slip_speed: float  # m/s; faster contact points slide
    tolerance: float  # on the scaled residual of the mode solver
    G: Array  # Delassus matrix (n, n), 1/kg
    b: Array  # contact accelerations without contact forces (n,), m/s²
    friction: Array  # μ (m,)
    restitution: Array  # e (m,)
    gap: Array  # φ (m,), m
    velocity: Array  # u (n,), m/s, normal first
    closed: Codes  # (m,) uint8: the mode now; m < 64
    next_kind: Codes  # (m,) uint8, EventKind, as of event_times.next_events
    next_times: Array  # (m, 3), s, time, earliest, latest


class RolloutScratch(NamedTuple):
    """The state of the model at the time that the rollout has reached, and the work arrays of the mode solver."""

    A: Array  # (2 n + splitting.ROWS, n)
    work: Array  # (2, n)
    order: Indices  # (2 n,)
    on: Codes  # (m,) uint8: closed
    moving: Codes  # (m,) uint8: slides, or has no friction
    touching: Codes  # (m,) uint8: on, as the mode solver was given it
    known: Codes  # (m,) uint8: what counts of what was foretold of it: FRESH, HAD_EVENT or UNLOADED
    state: Indices  # (m,), of the active set
    slip: Array  # (m, d), unit slip directions
    phi: Array  # gaps (m,), m
    u: Array  # contact velocities (n,), m/s
    forces: Array  # λ (n,), N, or Λ, N s
    a: Array  # contact accelerations (n,), m/s²
    after: Array  # contact velocities after an impact (n,), m/s


class RolloutOut(NamedTuple):
    """The events, in order of time, k at most."""

    contacts: Indices  # (k,)
    kinds: Codes  # (k,) uint8, EventKind
    times: Array  # (k, 3), s, time, earliest, latest
    modes: Indices  # (k,), bit mask of the closed contacts after the event
