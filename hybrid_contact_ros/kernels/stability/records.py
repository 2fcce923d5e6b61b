"""The records of the stability kernels: m contacts, d tangents per contact, n = m (1 + d) rows, normal first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Codes = NDArray[np.uint8]


class StabilitySettings(NamedTuple):
    """How :func:`~.constraint.stability_flags` decides."""

    d: int
    steps: int  # of operator splitting in a mode, at most; 0: the work is bounded, and may be cut
    force_tolerance: float  # N; inside this dead band a flag is UNDECIDED
    acceleration_tolerance: float  # m/s², likewise
    grazing_speed: float  # m/s; a slower touchdown is grazing
    tolerance: float  # of the scaled residual of a mode


class StabilityProblem(NamedTuple):
    """The contacts of one state."""

    G: Array  # (n, n), 1/kg: Delassus matrix
    b: Array  # (n,), m/s²: accelerations without contact forces
    friction: Array  # μ (m,)
    restitution: Array  # e (m,)
    gap: Array  # φ (m,), m
    gap_velocity: Array  # φ̇ (m,), m/s


class SolvedMode(NamedTuple):
    """The force-acceleration mode of that state."""

    touching: Codes  # (m,): 0 for a contact that gets no force
    moving: Codes  # (m,): 1 for a contact that slides already
    jammed: Codes  # (m,), values of Jamming
    slip: Array  # (m, d): unit directions of the slides
    status: Codes  # (m,), values of ContactStatus
    forces: Array  # λ (n,), N
    accelerations: Array  # G λ + b (n,), m/s²


class TrialScratch(NamedTuple):
    """Scratch: another mode of the same contacts."""

    A: Array  # (2 n + SPLITTING_ROWS, n), work and order: ModeScratch of the mode solvers
    work: Array  # (2, n)
    order: Indices  # (2 n,)
    scope: Codes  # (m,): contacts that may get a force
    glide: Codes  # (m,): contacts whose direction of friction is given
    direction: Array  # (m, d)
    state: Indices  # (m,), values of FrictionState
    trial_forces: Array  # (n,)
    trial_accelerations: Array  # (n,)


class StabilityOut(NamedTuple):
    """Flags and the margins on which they were decided; the rows are numbered in :mod:`.constraint`."""

    flags: Codes  # (≥ 5, m), values of Flag
    margins: Array  # (≥ 5, m)


class PseudoImpulseSettings(NamedTuple):
    """How :func:`~.pseudo_impulse.pseudo_impulse_flags` decides."""

    d: int
    horizon: float  # s; later touchdowns are left out
    duration: float  # δt, s: bounces that end within about this time count as none
    force_tolerance: float  # N; times ``duration`` it is the dead band of the margins


class PseudoImpulseProblem(NamedTuple):
    """The contacts of one state."""

    G: Array  # (n, n), 1/kg
    b: Array  # (n,), m/s²
    friction: Array  # μ (m,)
    gap: Array  # φ (m,), m
    velocity: Array  # J v (n,), m/s


class SteadyMode(NamedTuple):
    """The force-acceleration mode of that state; members as of :class:`SolvedMode`."""

    moving: Codes
    slip: Array
    status: Codes
    forces: Array
    accelerations: Array


class ImpactScratch(NamedTuple):
    """Scratch: contacts held through an impact; the first six members as of :class:`TrialScratch`."""

    A: Array
    work: Array
    order: Indices
    glide: Codes
    direction: Array
    state: Indices
    trial: Array  # (n,): impulses of the impact, or forces after it
    at_impact: Array  # (n,): contact velocities when the impact comes
    unused: Array  # (n,)


class PseudoImpulseOut(NamedTuple):
    """One flag for each contact, and its margin."""

    flags: Codes  # (m,), values of Flag
    margins: Array  # (m,), N s
