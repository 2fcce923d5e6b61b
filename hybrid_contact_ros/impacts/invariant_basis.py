"""What an impact leaves alone, and how much it may change the rest: for controllers that act through an impact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.landing_model import drive_caps
from hybrid_contact_ros.kernels.impacts import invariant_basis as basis_kernels
from hybrid_contact_ros.kernels.impacts.set_extent import set_extent
from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class InvariantBasis:
    """An M-orthonormal basis of the velocities that no contact impulse changes.

    Attributes:
        rows: B (r, nv), 1/√kg: J Bᵀ = 0 and B M Bᵀ = 1; B M v (r,), √J, keeps its value. r is nv − rank, and may be 0.
        mass: M (nv, nv). factor: L (nv, nv), M = L Lᵀ in its lower triangle.
        rank: of J. status: SOLVED; SINGULAR where M is not positive definite, and then r is 0; INACCURATE.
        residual: the larger of |B M Bᵀ − 1| and |J Bᵀ|, the latter over the largest √(Jᵢ M⁻¹ Jᵢᵀ).
    """

    rows: Array
    mass: Array
    factor: Array
    rank: int
    status: Status
    residual: float

    def components(self, velocity: Array) -> Array:
        """B M v (r,), or (…, r) of velocities (…, nv)."""
        return np.asarray(velocity @ self.mass @ self.rows.T)

    def project(self, velocity: Array) -> Array:
        """BᵀB M v (nv,), the part of v, or of a velocity error, that no contact impulse changes; or (…, nv). It does
        not depend on the choice of the basis, and is continuous while the rank stays."""
        return self.components(velocity) @ self.rows


def invariant_basis(problem: ContactProblem, contacts: Iterable[int] | None = None) -> InvariantBasis:
    """The velocities that no impulse of these contacts changes, whatever the law, the friction and the order.

    From M (v⁺ − v⁻) = JᵀΛ follows B M v⁺ = B M v⁻ for each row B with J Bᵀ = 0: the impact-invariant subspace of Yang
    and Posa (Impact invariant control with applications to bipedal locomotion, IROS 2021, section III). They take rows
    that are orthonormal in the Euclidean norm; here they are so in the kinetic norm, so that a component is the root of
    an energy whatever the units of the coordinates.

    The basis is a function of M and J alone: B is what the Gram-Schmidt process leaves of coordinate velocities, those
    of joints that no contact moves first, then the others in their order (base, joints). It is continuous while the
    rank stays and each coordinate has more than a tenth of its norm beside its predecessors; where that changes, a row
    may point elsewhere. :meth:`InvariantBasis.project` does not depend on that.

    Args:
        problem: the configuration; only M and J are read. contacts: those that may act, standing ones included; None
            for all. Both the normal and the tangents of each count, those of contacts without friction too.

    Raises:
        ValueError: an index out of range.

    Example:
        A stick that lands upright on its end may be stopped there, and goes on turning about this point.

        >>> import numpy as np
        >>> from hybrid_contact_ros import ContactProblem, invariant_basis
        >>> stick = ContactProblem(  # of 1 m and 3 kg; v = (x, z, turn) of its centre
        ...     np.diag([3.0, 3.0, 0.25]), [1.0, -2.0, 0.0], [[0.0, 1.0, 0.0]], [[[1.0, 0.0, -0.5]]], [0.4])
        >>> invariant_basis(stick).rows.round(6).tolist()  # 0.5 m/s along for each rad/s
        [[0.5, 0.0, 1.0]]
    """
    chosen = range(problem.contacts) if contacts is None else contact_set("contacts", contacts, problem.contacts)
    rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
    return basis_of(problem.mass, rows[sorted(chosen)].reshape(-1, problem.nv))


def basis_of(mass: Array, rows: Array) -> InvariantBasis:
    """The same of M (n, n) and J (r, n), without checks."""
    n = mass.shape[0]
    factor, found = np.zeros((n, n)), np.empty((n, n))
    scratch = np.empty((max(len(rows), n), n))
    status, rank, residual = basis_kernels.invariant_basis(
        np.ascontiguousarray(mass), np.ascontiguousarray(rows), factor, scratch, found
    )
    free = 0 if status == Status.SINGULAR else n - rank
    return InvariantBasis(found[:free].copy(), mass, factor, rank, Status(status), residual)


@dataclass(frozen=True, slots=True)
class OtherTerms:
    """What a landing adds to the impulses of its contacts; each is off at 0.

    Attributes:
        duration: s, the longest for which gravity and joint torques act.
        drive, drive_own: kg m², the largest inertia that drives seem to add to all joints, and to each by itself.
        first_joint: number of the first joint's velocity, 6 with a floating base.
    """

    duration: float = 0.0
    drive: float = 0.0
    drive_own: float = 0.0
    first_joint: int = 0


def set_changes(
    basis: InvariantBasis,
    terms: OtherTerms,
    bias: Array,
    velocity: Array,
    velocities: Array,
    generators: Array | None = None,
    margin: float = 0.0,
) -> tuple[Array, Array]:
    """The largest change of each invariant component, and of each coordinate, over a set of outcomes.

    The set is the hull of ``velocities``, plus all Σ aᵢ gᵢ with |aᵢ| ≤ 1, plus a ball of ``margin`` in the kinetic
    norm. Impulses leave B M v alone, and what else the landing model has does not:
    (M + K) Δv = −s (h − Sᵀτ) + Jᵀλ makes B M Δv = −s B (h − Sᵀτ) − B K Δv. The change is the largest of the set, or
    what this bounds for Δv of the set and any s and K of their intervals, if that is more.

    Args:
        basis: at the impact. terms: of the landing model. bias: h − Sᵀτ (nv,). velocity: v⁻ (nv,).
        velocities: v⁺ (n, nv), n ≥ 1. generators: (g, nv), None for none. margin: √J.

    Returns:
        (change (r,) of B M v, √J; jump (nv,), the largest |Δv|).
    """
    n = velocity.size
    change, jump = np.empty(len(basis.rows)), np.empty(n)
    set_extent(
        *(float(terms.duration), float(terms.drive), float(terms.drive_own), float(margin), int(terms.first_joint)),
        *(np.ascontiguousarray(basis.mass), bias, velocity, basis.factor, basis.rows, drive_caps(basis.mass)),
        *(
            np.ascontiguousarray(velocities),
            np.empty((0, n)) if generators is None else np.ascontiguousarray(generators),
        ),
        *(np.empty(n), np.empty(n)),
        change,
        jump,
    )
    return change, jump
