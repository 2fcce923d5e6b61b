"""Restitution and friction of the contacts, each known to lie in an interval, for sets of velocities after an
impact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.impacts.contact_space import Array
from hybrid_contact_ros.kernels.impacts.restitution_stores import POISSON, STRONGE
from hybrid_contact_ros.mechanics.problem import ContactProblem

Range = ArrayLike | tuple[ArrayLike, ArrayLike]
"""A number or (m,) numbers, or a tuple (low, high) of these: an interval. A list is always one number a contact."""

LAWS = {"inelastic": STRONGE, "stronge": STRONGE, "poisson": POISSON}
"""Impact laws of sets by name. The inelastic one is Stronge's with e = 0."""

_KAPPA = 1e-4
"""κ of the bound √(E² + 2 δ N) ≤ E + κ N + δ / (2 κ), which makes Stronge's law linear.

For one contact, scaled: E = e max(−u_n⁻, 0) is the speed of separation that restitution may give back, N is the speed
by which the impulses of the other contacts close the contact, and δ is the speed with which a contact may still
approach when the solver counts it as separated. See ``restitution_row`` of :mod:`.impulse_laws`."""


class Material:
    """What is known of the contacts: e and μ of each between two ends, (m,) each.

    Args:
        problem: its own restitution and friction are taken where ``None`` is given.
        law: a key of :data:`LAWS`. restitution: e, between 0 and 1. friction: μ, ≥ 0.
        common: whether all contacts are of one material: a draw stands at the same place in the intervals of all.

    Raises:
        ValueError: a range that is empty, out of bounds or of the wrong shape, or restitution for the inelastic law.
    """

    def __init__(
        self, problem: ContactProblem, law: str, restitution: Range | None, friction: Range | None, common: bool
    ) -> None:
        m = problem.contacts
        self.law, self.common = law, common
        self.e_low, self.e_high = _ends("restitution", problem.restitution if restitution is None else restitution, m)
        if (self.e_high > 1.0).any():
            raise ValueError(f"restitution must lie in [0, 1], got {self.e_high.max():g}")
        if law == "inelastic":
            if restitution is not None and self.e_high.any():
                raise ValueError('law is "inelastic", which has no restitution; choose "stronge" or "poisson"')
            self.e_low, self.e_high = np.zeros(m), np.zeros(m)
        self.mu_low, self.mu_high = _ends("friction", problem.friction if friction is None else friction, m)

    @property
    def friction_ratio(self) -> Array:
        """The low end of μ (m,) over its high end; 1 where the high end is 0."""
        high = self.mu_high
        return np.divide(self.mu_low, high, out=np.ones(high.size), where=high > 0.0)

    @property
    def exact_friction(self) -> bool:
        """Whether μ is one number a contact."""
        return bool((self.mu_low == self.mu_high).all())

    @property
    def same_as_inelastic(self) -> bool:
        """Whether samples are those of the inelastic law, bit by bit: no restitution, and one friction."""
        return self.exact_friction and not self.e_high.any()

    @property
    def restitution_gain(self) -> Array:
        """Largest total impulse (m,) over that of compression alone: 1 + e by Poisson's law, and a little more by
        Stronge's (:func:`~hybrid_contact_ros.kernels.impacts.fast_bounds.impulse_bounds`)."""
        more = _KAPPA if self.law == "stronge" and self.e_high.any() else 0.0
        return 1.0 + self.e_high + more

    @property
    def residual_slack(self) -> float:
        """Factor by which bounds allow more for the residuals of the solver: 1, and large for Stronge's law, which
        takes a root of the work of compression."""
        return 2.5 / _KAPPA if self.law == "stronge" and self.e_high.any() else 1.0

    def with_highest_friction(self, problem: ContactProblem) -> ContactProblem:
        """The problem with the high ends of μ and of e."""
        return problem.replace_trusted(friction=self.mu_high, restitution=self.e_high)


def _ends(name: str, value: Range | Sequence[float], m: int) -> tuple[Array, Array]:
    """Lower and upper ends (m,) of a :data:`Range` of numbers ≥ 0.

    Raises:
        ValueError: naming what is wrong.
    """
    pair = value if isinstance(value, tuple) else (value, value)
    if len(pair) != 2:
        raise ValueError(f"{name} is a tuple of {len(pair)}; an interval is a tuple (low, high)")
    low, high = (_per_contact(name, end, m) for end in pair)
    empty = np.flatnonzero(low > high)
    if empty.size:
        i = empty[0]
        raise ValueError(f"{name} of contact {i} has a low end {low[i]:g} above its high end {high[i]:g}")
    return low, high


def _per_contact(name: str, value: ArrayLike, m: int) -> NDArray[np.float64]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not made of numbers: {error}") from None
    if array.shape not in ((), (m,)):
        raise ValueError(f"{name} has shape {array.shape}; a number or ({m},), one a contact, is needed")
    if not (np.isfinite(array) & (array >= 0.0)).all():
        raise ValueError(f"{name} must be finite and ≥ 0, got {array}")
    return np.full(m, array) if array.ndim == 0 else array.copy()
