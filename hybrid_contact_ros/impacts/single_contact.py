"""The impact of one contact along its normal impulse, with slip that turns, stops or reverses; and its inverse.

With p the normal impulse so far, u = (u_n, u_t) the contact's velocity and G = J M⁻¹ Jᵀ, Coulomb's circular cone gives

    du/dp = G (1, −μ s),   s = u_t / |u_t| while it slips,

(Routh 1891 in the plane; Keller, "Impact with friction", J. Appl. Mech. 1986, in space). Slip that has come to rest
sticks if |G_tt⁻¹ G_tn| ≤ μ, and else goes on in the one direction s with G_tn − μ G_tt s = κ s, κ > 0 (Batlle,
"Rough balanced collisions", J. Appl. Mech. 1996). Inverted: which μ and e lead to an observed impulse. Newton's ratio
of velocities and |Λ_t| / Λ_n are these numbers only where slip keeps its direction.
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
        other: another μ that is nearest among its neighbours, the best of these; NaN without one. Slip that reverses in
            the plane leads to the same impulse with two μ. other_misfit: its misfit.
    """

    friction: float
    sticks_from: float
    misfit: float
    other: float
    other_misfit: float

    def near(self, friction: float, noise: float) -> float:
        """The one of both μ that is nearer to ``friction``, if their misfits differ by no more than ``noise``."""
        if self.other_misfit <= self.misfit + noise and abs(self.other - friction) < abs(self.friction - friction):
            return self.other
        return self.friction

    def ambiguous(self, noise: float) -> bool:
        """Whether the other μ is as good, but for ``noise``."""
        return self.other_misfit <= self.misfit + noise


def fit_friction(G: ArrayLike, before: ArrayLike, impulse: ArrayLike) -> SingleImpact:
    """μ of an observed impact of one contact.

    Args:
        G: (1 + d, 1 + d) J M⁻¹ Jᵀ, normal first, d = 1 or 2. before: (1 + d,) velocity before, m/s.
        impulse: (1 + d,) observed, N s; the path is followed to its normal part.

    Raises:
        ValueError: shapes, or an impulse that does not push.
    """
    return SingleImpact(*fit_path(*_in_space(G, before, impulse)))


def fit_restitution(G: ArrayLike, before: ArrayLike, impulse: ArrayLike, friction: float, law: str) -> float:
    """e of an observed impact of one contact, given its μ; arguments as of :func:`fit_friction`.

    ``law`` "poisson": impulse of restitution over that of compression; "stronge": root of the normal work of
    restitution over that of compression. Negative where the impulse did not stop the approach.

    Raises:
        ValueError: likewise, or another law.
    """
    if law not in ("poisson", "stronge"):
        raise ValueError(f'law is {law!r}; "poisson" or "stronge" is needed')
    G, before, impulse = _in_space(G, before, impulse)
    _, _, pressed, lost, won, after, rate, _ = impact_path(G, before, friction, impulse[0])
    if after < 0.0 < rate:  # what compression would still have taken
        missing = -after / rate
        if law == "poisson":
            return float(impulse[0] / (pressed + missing) - 1.0)
        return -math.sqrt(0.5 * missing * after / (lost + 0.5 * missing * after))
    if pressed == 0.0 or lost == 0.0:
        return 0.0
    return float(impulse[0] / pressed - 1.0) if law == "poisson" else math.sqrt(max(-won / lost, 0.0))


def _in_space(G: ArrayLike, before: ArrayLike, impulse: ArrayLike) -> tuple[Array, Array, Array]:
    """With two tangents; what moves in the second in the plane is nothing."""
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
