"""How much time passes along s, as numbers (Halm, Theorem 5 and Corollary 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TimeAdvancement:
    """How fast time t advances with s on a set of states.

    Attributes:
        span: the largest |r · v| on the set, N s, for r of Halm's Lemma 6: while time stands still, s grows by 2 span
            at most.
        slowing: how many units of s a unit of time takes on average at most, without the 1 of (46c): the largest
            |r · M⁻¹ f|, N, with f the smooth forces.
    """

    span: float
    slowing: float

    @property
    def s_star(self) -> float:
        """An s* of Theorem 5, in s: longer stretches of s take time. It is twice what impacts alone can take."""
        return 4.0 * self.span

    @property
    def t_star(self) -> float:
        """The t* of Theorem 5 that goes with :attr:`s_star`, s."""
        return self.elapsed(self.s_star)

    @property
    def rate(self) -> float:
        """A lower bound of lim inf t_f(s_f) / s_f (Corollary 3) for motions that stay in the set."""
        return 1.0 / (1.0 + self.slowing)

    def elapsed(self, s: float) -> float:
        """The time (s) that passes at least while s grows by ``s`` and the state stays in the set."""
        return max(0.0, s - 2.0 * self.span) * self.rate


def time_advancement(problems: Sequence[ContactProblem], direction: ArrayLike, drift: float = 0.0) -> TimeAdvancement:
    """Bound how long s can grow without time (Halm, Theorem 5, Corollary 3), on a set given by some of its states.

    Halm proves by compactness that s*, t* > 0 exist. With one r for the whole set, y = r · v rises at least at the rate
    of the normal impulse and falls at most at |r · M⁻¹ f| a unit of time:

        dy ≥ (ds − dt) − |r · M⁻¹ f| dt,   so that   dt (1 + slowing) ≥ s − 2 span.

    A block at rest on the ground attains it. ``problems`` are states of the set, corners of it where M and the rows are
    constant; for others they are a sample, and so are the numbers.

    Args:
        problems: contact problems with all contacts that may touch in the set; ``bias_force`` is −f.
        direction: r (nv,), with r · M⁻¹ Jᵀ λ ≥ ‖λ_n‖₁ for all forces in the friction cones of all states
            (:func:`~hybrid_contact_ros.impacts.theory.net_force_direction` finds one for a state).
        drift: the largest |ṙ · v|, N, where r depends on the configuration along the motions.

    Raises:
        ValueError: r does not satisfy Lemma 6 at some state.
    """
    r = np.asarray(direction, dtype=np.float64)
    span = slowing = 0.0
    for problem in problems:
        seen = np.linalg.solve(problem.mass, r)
        gain = problem.normal_jacobian @ seen
        gain -= problem.friction * np.linalg.norm(problem.tangent_jacobian @ seen, axis=1)
        if gain.min(initial=1.0) < 1.0 - 1e-9:
            worst = int(gain.argmin())
            raise ValueError(f"direction is none of Lemma 6: contact {worst} moves v along it by {gain[worst]}")
        span = max(span, abs(float(r @ problem.velocity)))
        slowing = max(slowing, abs(float(seen @ problem.bias_force)))
    return TimeAdvancement(span, slowing + drift)
