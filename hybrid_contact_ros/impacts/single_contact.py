"""The impact of one contact along its normal impulse, with slip that turns, stops or reverses; and the inverse problem.

With p the normal impulse so far, u = (u_n, u_t) the contact velocity and G = J M⁻¹ Jᵀ, Coulomb's circular cone gives

    du/dp = G (1, −μ s),   s = u_t / |u_t| while it slips,

(Routh 1891 in the plane; Keller, "Impact with friction", J. Appl. Mech. 1986, in space). Slip that has come to rest
sticks if |G_tt⁻¹ G_tn| ≤ μ, and else goes on in the one direction s with G_tn − μ G_tt s = κ s, κ > 0 (Batlle,
"Rough balanced collisions", J. Appl. Mech. 1996). The inverse problem is which μ and e lead to an observed impulse: the
ratio of normal velocities and |Λ_t| / Λ_n are these numbers only where slip keeps its direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.kernels.impacts.friction_fit import fit_path
from hybrid_contact_ros.kernels.impacts.impact_path import impact_path

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SingleImpact:
    """What the impulse of one contact says of it.

    Attributes:
        friction: μ whose path ends nearest to the observed tangential impulse; at most ``sticks_from``.
        sticks_from: least μ at which this impact sticks to its end: larger ones give the same impulse.
        misfit: distance of the path's tangential impulse from the observed one, over Λ_n, in units of μ.
        other: the best of the other μ whose misfit is a local minimum; NaN if there is none. Slip that reverses in the
            plane leads to the same impulse with two μ.
        other_misfit: the misfit of ``other``.
    """

    friction: float
    sticks_from: float
    misfit: float
    other: float
    other_misfit: float

    def near(self, friction: float, noise: float) -> float:
        """``friction`` or ``other``: the one nearer to a given μ, if their misfits differ by no more than ``noise``."""
        if self.other_misfit <= self.misfit + noise and abs(self.other - friction) < abs(self.friction - friction):
            return self.other
        return self.friction

    def ambiguous(self, noise: float) -> bool:
        """Whether ``other`` is as good, but for ``noise`` in the misfit."""
        return self.other_misfit <= self.misfit + noise


def fit_friction(G: ArrayLike, before: ArrayLike, impulse: ArrayLike) -> SingleImpact:
    """Find the friction coefficient μ of an observed impact of one contact.

    Args:
        G: (1 + d, 1 + d), J M⁻¹ Jᵀ, 1/kg, normal first, d = 1 or 2.
        before: (1 + d,), contact velocity before the impact, m/s.
        impulse: (1 + d,), observed impulse, N s; the path is followed to its normal component.

    Raises:
        ValueError: a wrong shape, or an impulse that does not push.

    Example:
        A point mass of 1 kg that slides at 1 m/s loses 0.3 m/s to friction while its fall at 1 m/s is stopped.

        >>> round(fit_friction([[1.0, 0.0], [0.0, 1.0]], [-1.0, 1.0], [1.0, -0.3]).friction, 6)
        0.3
    """
    return SingleImpact(*fit_path(*_in_space(G, before, impulse)))


def fit_restitution(G: ArrayLike, before: ArrayLike, impulse: ArrayLike, friction: float, law: str) -> float:
    """Find the restitution e of an observed impact of one contact, whose μ is given.

    Args:
        G, before, impulse: as of :func:`fit_friction`. friction: μ.
        law: "poisson": e is the impulse of restitution over that of compression; "stronge": e is the root of the normal
            work of restitution over that of compression.

    Returns:
        e, which is negative where the impulse did not stop the approach.

    Raises:
        ValueError: as :func:`fit_friction`, or another law.
    """
    if law not in ("poisson", "stronge"):
        raise ValueError(f'law is {law!r}; "poisson" or "stronge" is needed')
    G, before, impulse = _in_space(G, before, impulse)
    end = impact_path(G, before, friction, impulse[0])
    if end.normal_velocity < 0.0 < end.normal_rate:  # compression had not ended: what it would still have taken
        missing = -end.normal_velocity / end.normal_rate
        if law == "poisson":
            return float(impulse[0] / (end.compression + missing) - 1.0)
        work = 0.5 * missing * end.normal_velocity
        return -math.sqrt(work / (end.compression_work + work))
    if end.compression == 0.0 or end.compression_work == 0.0:
        return 0.0
    if law == "poisson":
        return float(impulse[0] / end.compression - 1.0)
    return math.sqrt(max(-end.restitution_work / end.compression_work, 0.0))


def _in_space(G: ArrayLike, before: ArrayLike, impulse: ArrayLike) -> tuple[Array, Array, Array]:
    """The arguments with two tangents, as arrays; nothing moves along the second one if the problem is in the plane."""
    matrix, u, push = (np.asarray(x, dtype=np.float64) for x in (G, before, impulse))
    size = u.size
    if size not in (2, 3) or u.shape != (size,) or push.shape != (size,) or matrix.shape != (size, size):
        raise ValueError(
            f"G {matrix.shape}, before {u.shape} and impulse {push.shape} must be those of one contact "
            "with 1 or 2 tangents"
        )
    if not push[0] > 0.0:
        raise ValueError(f"the normal impulse is {push[0]:g}; it must be > 0")
    whole = np.diag(np.full(3, matrix[-1, -1]))
    whole[:size, :size] = matrix
    return whole, np.r_[u, np.zeros(3 - size)], np.r_[push, np.zeros(3 - size)]
