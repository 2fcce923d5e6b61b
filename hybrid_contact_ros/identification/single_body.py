"""What the impacts of one contact tell of e and μ: which of them do, the numbers of each, and censored quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.identification.impacts import ObservedImpact
from hybrid_contact_ros.impacts.single_contact import SingleImpact, fit_friction, fit_restitution

Array = NDArray[np.float64]

_DOMINANT = 0.9  # share of the normal impulse that makes an impact that of one contact
_EXPLAINED = 0.15  # most of the jump that its impulses may leave
_COMPLETE = 0.1  # of the approach: what may be left of it after an impact that has ended
_CLEARLY = 0.1  # of μ: an impact that would stick from so much more on did slide to its end
FEWEST = 3
RESOLUTION = 1e-5  # paths are followed to about 1e-6: no interval is narrower than what that leaves open


def tells(impact: ObservedImpact) -> bool:
    """Whether an impact is one contact's, explained by its impulse, and ended."""
    normal = impact.impulse[:, 0]
    main = int(normal.argmax())
    before, after = (u[main, 0] for u in impact.velocities)
    alone = normal[main] >= _DOMINANT * normal.sum() > 0.0
    return bool(alone and impact.unexplained <= _EXPLAINED and before < 0.0 and after >= _COMPLETE * before)


@dataclass(frozen=True, slots=True)
class Material:
    """Per impact: e, the speed of approach, μ, the least μ at which it sticks to its end, whether it did; and whether
    enough of them slip to the end to tell μ."""

    restitution: Array
    approach: Array
    friction: Array
    sticks_from: Array
    stuck: NDArray[np.bool_]
    slips: bool


def material(used: Sequence[ObservedImpact], law: str) -> Material:
    """e of ``law`` and μ of each of these impacts."""
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
    # once it has stuck, any larger μ does: what the others showed
    own = np.where(stuck, middle, mu)
    e = np.array([fit_restitution(*one, float(x), law) for one, x in zip(single, own, strict=True)])
    slips = int((sticks_from > middle + max(_CLEARLY * middle, noise)).sum()) >= FEWEST
    if not slips:
        stuck = np.ones(mu.size, dtype=bool)
    return Material(e, np.array([-one[1][0] for one in single]), mu, sticks_from, stuck, slips)


def common_friction(fits: Sequence[SingleImpact], noise: float) -> tuple[Array, float]:
    """μ of each impact and their median; of two that explain an impact alike, the one nearer to the others' median."""
    mu, most = np.array([fit.friction for fit in fits]), np.array([fit.sticks_from for fit in fits])
    clear = np.array([not fit.ambiguous(noise) for fit in fits])
    if clear.sum() < FEWEST:
        clear[:] = True
    middle = float(quantile(mu[clear], most[clear], 0.5))
    mu = np.array([fit.near(middle, noise) for fit in fits])
    return mu, float(quantile(mu, most, 0.5))


def quantile(values: Array, most: Array, part: float, weights: Array | None = None) -> Array:
    """Quantile of numbers of which those at their ``most`` (n,) may in truth be larger; of resamples with ``weights``
    (r, n) if given, (r,), else ().

    The q among the values with the least Σ w ρ(x − min(q, most)), ρ the quantile's check function (Powell 1984, 1986):
    what q is known to reach the end of tells nothing more. With most = ∞ it is the quantile.
    """
    candidates = np.sort(values)
    over = values - np.minimum(candidates[:, None], most)
    cost = np.where(over > 0.0, part * over, (part - 1.0) * over)
    total = cost.sum(axis=1) if weights is None else weights @ cost.T
    least = total <= total.min(axis=-1, keepdims=True) * (1.0 + 1e-9)
    first, last = least.argmax(axis=-1), candidates.size - 1 - least[..., ::-1].argmax(axis=-1)
    return np.asarray(0.5 * (candidates[first] + candidates[last]))
