"""The records that the kernels of contact modes hand to each other.

m contacts, d tangents per contact, n = m (1 + d) rows, contact by contact, normal first. Beside the records two flags
for each contact go through all of these kernels: ``touching`` (m,) uint8, 0 for a contact that gets no force; and
``moving`` (m,) uint8, 1 for a contact that slides already (or has no friction), so that the direction of its friction
is given and not found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SPLITTING_ROWS = 7
"""Rows of ``ModeScratch.A`` that operator splitting needs beside its two matrices."""


class ContactDynamics(NamedTuple):
    """How contacts answer to contact forces λ: their accelerations are a = G λ + b, and friction is Coulomb's.

    Attributes:
        d: tangents per contact, 1 in the plane, 2 in space.
        G: (n, n), 1/kg, Delassus matrix. b: (n,), m/s², accelerations without contact forces.
        friction: μ (m,).
    """

    d: int
    G: Array
    b: Array
    friction: Array


class ModeIterate(NamedTuple):
    """What the solvers improve: on entry the first guess, afterwards the answer.

    Attributes:
        slip: (m, d), the unit direction in which a contact slides or starts to slide, or zero. Never written for a
            contact that is ``moving``.
        state: (m,) int64, values of :class:`~hybrid_contact_ros.codes.FrictionState`.
        forces: λ (n,), N. accelerations: a = G λ + b (n,), m/s², of all contacts.
    """

    slip: Array
    state: NDArray[np.int64]
    forces: Array
    accelerations: Array


class ModeScratch(NamedTuple):
    """Memory of the mode solvers; make it by :func:`mode_scratch`.

    Attributes:
        A: (2 n + SPLITTING_ROWS, n): the matrix of a mode, or the two matrices of operator splitting and its vectors.
        work: (2, n). order: (2 n,) int64: row order of the factors, then the row of each unknown.
    """

    A: Array
    work: Array
    order: NDArray[np.int64]


class SearchScratch(NamedTuple):
    """Memory of the enumeration of modes.

    Attributes:
        slip: (m, d); on entry the directions of the contacts that are ``moving``. state: (m,) int64.
        intended: (m,) int64, the mode that is tried. accelerations: (n,). status: (m,) uint8.
    """

    slip: Array
    state: NDArray[np.int64]
    intended: NDArray[np.int64]
    accelerations: Array
    status: NDArray[np.uint8]


class ModesFound(NamedTuple):
    """What an enumeration finds, one row for each mode.

    Attributes:
        modes: (limit, m) uint8, values of :class:`~hybrid_contact_ros.codes.ContactStatus`. forces: (limit, n), N.
    """

    modes: NDArray[np.uint8]
    forces: Array


class StateSettings(NamedTuple):
    """How :func:`~hybrid_contact_ros.kernels.modes.forces.force_acceleration` solves for a state.

    Attributes:
        d: tangents per contact.
        warm: whether to start from the mode, slip directions, forces and accelerations that :class:`StateOut` still
            holds of an earlier, solved state.
        steps: of operator splitting at most.
        critical_part: contacts that slide with more than this part of their critical friction are held at rest; inf
            leaves the law as it stands.
        slip_speed: m/s; a contact point that is faster slides.
        tolerance: of the scaled residual.
    """

    d: int
    warm: bool
    steps: int
    critical_part: float
    slip_speed: float
    tolerance: float


class StateProblem(NamedTuple):
    """The contact problem of one state.

    Attributes:
        L: (nv, nv), Cholesky factor of M. bias: h − Sᵀτ (nv,). rows: J (n, nv).
        G, b: as of :class:`ContactDynamics`, of all contacts. friction: μ (m,).
        sliding: (m, d), velocities of the contact points along their tangents, m/s. touching: (m,) uint8.
    """

    L: Array
    bias: Array
    rows: Array
    G: Array
    b: Array
    friction: Array
    sliding: Array
    touching: NDArray[np.uint8]


class StateScratch(NamedTuple):
    """Memory of the solve of one state.

    Attributes:
        A, work, order: as of :class:`ModeScratch`.
        intended (m,) int64, other_slip (m, d), found (1, m) uint8, other_forces (1, n): of the enumeration of modes.
    """

    A: Array
    work: Array
    order: NDArray[np.int64]
    intended: NDArray[np.int64]
    other_slip: Array
    found: NDArray[np.uint8]
    other_forces: Array


class StateOut(NamedTuple):
    """What the solve of one state writes.

    Attributes:
        critical: (m,), critical friction of each contact, inf where a slide never jams.
        jammed: (m,) uint8, values of :class:`~hybrid_contact_ros.codes.Jamming`.
        moving: (m,) uint8, solved as a contact that slides already.
        slip, state, forces, accelerations: as of :class:`ModeIterate`; read on entry where the start is warm.
        acceleration: v̇ (nv,). status: (m,) uint8, values of :class:`~hybrid_contact_ros.codes.ContactStatus`.
    """

    critical: Array
    jammed: NDArray[np.uint8]
    moving: NDArray[np.uint8]
    slip: Array
    state: NDArray[np.int64]
    forces: Array
    accelerations: Array
    acceleration: Array
    status: NDArray[np.uint8]


def mode_scratch(n: int) -> ModeScratch:
    """Memory for problems of n = m (1 + d) rows."""
    return ModeScratch(np.zeros((2 * n + SPLITTING_ROWS, n)), np.zeros((2, n)), np.zeros(2 * n, dtype=np.int64))


def state_scratch(m: int, d: int) -> StateScratch:
    """Memory for states with m contacts of d tangents."""
    n = m * (1 + d)
    return StateScratch(
        *mode_scratch(n),
        intended=np.zeros(m, dtype=np.int64),
        other_slip=np.zeros((m, d)),
        found=np.zeros((1, m), dtype=np.uint8),
        other_forces=np.zeros((1, n)),
    )


def state_out(nv: int, m: int, d: int) -> StateOut:
    """Results for states of ``nv`` coordinates with m contacts of d tangents: all contacts open, none jammed."""
    n = m * (1 + d)
    sizes: dict[str, Any] = {
        "critical": np.full(m, np.inf),
        "jammed": np.zeros(m, dtype=np.uint8),
        "moving": np.zeros(m, dtype=np.uint8),
        "slip": np.zeros((m, d)),
        "state": np.zeros(m, dtype=np.int64),
        "forces": np.zeros(n),
        "accelerations": np.zeros(n),
        "acceleration": np.zeros(nv),
        "status": np.ones(m, dtype=np.uint8),
    }
    return StateOut(**sizes)
