"""The friction whose impact path ends nearest to an observed impulse of one contact."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.impact_path import impact_path

Array = NDArray[np.float64]

_POINTS = 48  # trial values of μ, before the best are refined
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_NARROWINGS = 26  # of an interval of μ: bisection leaves 1.5e-8 of its length, the golden section 4e-6
_DOUBLINGS = 12  # of μ, at most, until the impact sticks to its end


@kernel
def _misfit(G: Array, u: Array, impulse: Array, mu: float) -> float:
    """Distance of the tangential impulse of the path with friction ``mu`` from the observed one, over Λ_n."""
    end = impact_path(G, u, mu, impulse[0])
    x, y = end.tangential_x - impulse[1], end.tangential_y - impulse[2]
    square = G[1, 1] * x * x + 2.0 * G[1, 2] * x * y + G[2, 2] * y * y
    return math.sqrt(max(2.0 * square / (G[1, 1] + G[2, 2]), 0.0)) / impulse[0]  # type: ignore[no-any-return]


@kernel(allocates=True)
def fit_path(G: Array, u: Array, impulse: Array) -> tuple[float, float, float, float, float]:
    """Find the friction of an observed impact of one contact.

    Args:
        G: (3, 3), 1/kg, normal first. u: (3,), m/s, contact velocity before. impulse: (3,), N s, observed.

    Returns:
        μ; the least μ at which the impact sticks to its end; the misfit of μ; the next best μ, NaN if there is none,
        and its misfit. An impact that still slips with μ = 1024, after all doublings, has 1024 as its second number,
        and no larger μ is tried.
    """
    low, high = 0.0, 0.25
    for _ in range(_DOUBLINGS):
        if impact_path(G, u, high, impulse[0]).sticks:
            break
        low, high = high, 2.0 * high
    for _ in range(_NARROWINGS):
        middle = 0.5 * (low + high)
        if impact_path(G, u, middle, impulse[0]).sticks:
            high = middle
        else:
            low = middle
    step = high / _POINTS
    trial = np.empty(_POINTS + 1)
    for k in range(_POINTS + 1):
        trial[k] = _misfit(G, u, impulse, k * step)
    mu, misfit, second_mu, second_misfit = math.nan, math.inf, math.nan, math.inf
    for k in range(_POINTS + 1):
        if trial[k] > trial[max(k - 1, 0)] or trial[k] > trial[min(k + 1, _POINTS)]:
            continue
        a, b = max(k - 1, 0) * step, min(k + 1, _POINTS) * step
        c, d = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
        at_c, at_d = _misfit(G, u, impulse, c), _misfit(G, u, impulse, d)
        for _ in range(_NARROWINGS):
            if at_c < at_d:
                b, d, at_d = d, c, at_c
                c = b - _GOLDEN * (b - a)
                at_c = _misfit(G, u, impulse, c)
            else:
                a, c, at_c = c, d, at_d
                d = a + _GOLDEN * (b - a)
                at_d = _misfit(G, u, impulse, d)
        valley_mu, valley_misfit = (c, at_c) if at_c < at_d else (d, at_d)
        if abs(valley_mu - mu) <= step:  # two trial values shared the valley
            mu, misfit = (valley_mu, valley_misfit) if valley_misfit < misfit else (mu, misfit)
        elif valley_misfit < misfit:
            mu, misfit, second_mu, second_misfit = valley_mu, valley_misfit, mu, misfit
        elif valley_misfit < second_misfit and not abs(valley_mu - second_mu) <= step:
            second_mu, second_misfit = valley_mu, valley_misfit
    return mu, high, misfit, second_mu, second_misfit
