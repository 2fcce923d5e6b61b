"""e and μ from impacts of single contacts: which impacts tell them, the values of each, and censored quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.identification.observed_impacts import ObservedImpact
from hybrid_contact_ros.impacts.single_contact import SingleImpact, fit_friction, fit_restitution

Array = NDArray[np.float64]

_DOMINANT = 0.9  # share of the normal impulse that one contact must have
_UNEXPLAINED = 0.15  # of the jump; more of it must not be left by the impulses
_COMPLETE = 0.1  # of the speed of approach; less of it must be left when an impact has ended
_CLEARLY = 0.1  # of μ; an impact that would stick only from so much more on did slide to its end
MIN_IMPACTS = 3  # impacts from which e or μ is found at least
RESOLUTION = 1e-5  # paths are followed to about 1e-6, and no interval is narrower than what that leaves open


def tells(impact: ObservedImpact) -> bool:
    """Whether an impact tells e and μ: it is that of one contact, its impulse explains it, and it has ended."""
    normal = impact.impulse[:, 0]
    main = int(normal.argmax())
    before, after = (u[main, 0] for u in impact.velocities)
    alone = normal[main] >= _DOMINANT * normal.sum() > 0.0
    return bool(alone and impact.unexplained <= _UNEXPLAINED and before < 0.0 and after >= _COMPLETE * before)


@dataclass(frozen=True, slots=True)
class Material:
    """e and μ of n impacts.

    Attributes:
        restitution: (n,) e.
        approach: (n,) speed of approach, m/s.
        friction: (n,) μ.
        sticks_from: (n,) the least μ with which the impact sticks to its end.
        stuck: (n,), whether it did.
        slips: whether enough of the impacts slip to their end to tell μ.
    """

    restitution: Array
    approach: Array
    friction: Array
    sticks_from: Array
    stuck: NDArray[np.bool_]
    slips: bool


def material(used: Sequence[ObservedImpact], law: str) -> Material:
    """e by ``law``, and μ, of each of these impacts."""
    single = []
    for impact in used:
        i = int(impact.impulse[:, 0].argmax())
        J = impact.problem.select([i]).jacobian()
        G = J @ np.linalg.lstsq(impact.problem.mass, J.T, rcond=None)[0]
        single.append((G, impact.velocities[0][i], impact.impulse[i]))
    fits = [fit_friction(*one) for one in single]
    sticks_from = np.array([fit.sticks_from for fit in fits])
    noise = 2.0 * float(np.median([fit.misfit for fit in fits])) + RESOLUTION
    mu, middle = common_friction(fits, noise)
    stuck = sticks_from <= middle
    # An impact that sticks does so with any larger μ: it takes the one that the others showed.
    own = np.where(stuck, middle, mu)
    e = np.array([fit_restitution(*one, float(x), law) for one, x in zip(single, own, strict=True)])
    slips = int((sticks_from > middle + max(_CLEARLY * middle, noise)).sum()) >= MIN_IMPACTS
    if not slips:
        stuck = np.ones(mu.size, dtype=bool)
    return Material(e, np.array([-one[1][0] for one in single]), mu, sticks_from, stuck, slips)


def common_friction(fits: Sequence[SingleImpact], noise: float) -> tuple[Array, float]:
    """μ of each impact, and their median. Where two values explain an impact equally well, the one nearer to the median
    of the others is taken."""
    mu, most = np.array([fit.friction for fit in fits]), np.array([fit.sticks_from for fit in fits])
    clear = np.array([not fit.ambiguous(noise) for fit in fits])
    if clear.sum() < MIN_IMPACTS:
        clear[:] = True
    middle = float(quantile(mu[clear], most[clear], 0.5))
    mu = np.array([fit.near(middle, noise) for fit in fits])
    return mu, float(quantile(mu, most, 0.5))


def quantile(values: Array, most: Array, part: float, weights: Array | None = None) -> Array:
    """Quantile of censored numbers.

    Args:
        values: (n,) the numbers.
        most: (n,) a number that is at its ``most`` may in truth be larger.
        part: which quantile, in (0, 1).
        weights: (r, n), of r resamples.

    Returns:
        (r,) with weights, else (). It is the q among the values with the least Σ w ρ(x − min(q, most)), where ρ is the
        check function of the quantile (Powell 1984, 1986). With most = ∞ it is the ordinary quantile.

    Example:
        >>> never, always = np.full(5, np.inf), np.array([np.inf, np.inf, 2.0, np.inf, np.inf])
        >>> values = np.array([1.0, 2.0, 2.0, 3.0, 4.0])
        >>> float(quantile(values, never, 0.5)), float(quantile(values, always, 0.5))
        (2.0, 2.5)
    """
    candidates = np.sort(values)
    over = values - np.minimum(candidates[:, None], most)
    cost = np.where(over > 0.0, part * over, (part - 1.0) * over)
    total = cost.sum(axis=1) if weights is None else weights @ cost.T
    least = total <= total.min(axis=-1, keepdims=True) * (1.0 + 1e-9)
    first, last = least.argmax(axis=-1), candidates.size - 1 - least[..., ::-1].argmax(axis=-1)
    return np.asarray(0.5 * (candidates[first] + candidates[last]))
