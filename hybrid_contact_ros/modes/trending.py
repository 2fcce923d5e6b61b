"""Signs of functions along a flow, by higher derivatives where the first ones vanish (Johnson, Definition 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import DOP853

Array = NDArray[np.float64]
HORIZONS = (1e-3, 1e-2, 1e-1)
"""Horizons, s, over which derivatives are looked for, one after the other."""
SHORTEST_HORIZON = 1e-7
"""Where the flow breaks off before the first horizon, shorter ones are tried down to about this, s."""
_NODES, _DEGREE = 12, 7  # points on a horizon, and the degree of the polynomial through the values there
_STEPS = 40  # of the integrator at most; a flow that needs more over a horizon cannot be judged from its first point


@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """How functions trend at a state.

    Attributes:
        sign: (k,), −1 for h ≺ 0, 0 for h ≡ 0, 1 for h ≻ 0. order: (k,), of the Lie derivative that decides, −1 for
        none.
    """

    sign: NDArray[np.int64]
    order: NDArray[np.int64]


def trending(
    function: Callable[[float, Array], ArrayLike],
    field: Callable[[float, Array], ArrayLike],
    time: float,
    state: ArrayLike,
    scale: ArrayLike = 1.0,
    orders: int = 4,
    tolerance: float = 1e-8,
) -> Trend:
    """Tell whether h trends negative or positive at a state, with respect to a vector field.

    The lowest Lie derivative L_F^m h, m ≤ ``orders``, that is not zero decides (Johnson (3)–(4)). These derivatives are
    the Taylor coefficients of h along the integral curve (Johnson, Lemma 3), found from a polynomial through the values
    of h on a horizon of 1 ms, then 10 and 100 ms where none shows. A term (L_F^m h) T^m / m! counts as zero below
    ``tolerance · scale``, so that "identically zero" means: too small to matter within 0.1 s, or hidden behind
    ``orders`` zeros.

    Args:
        function: h(t, x) -> (k,). field: F(t, x) -> (n,). time: s. state: x (n,) at ``time``.
        scale: the size of h that counts as large, a number or (k,). tolerance: see above.
        orders: the highest derivative that is looked at.

    Raises:
        ValueError: orders outside 0..6, or a scale or tolerance that is not positive.
    """
    if not 0 <= orders < _DEGREE:
        raise ValueError(f"orders is {orders}; derivatives of order 0..{_DEGREE - 1} can be told")
    x = np.asarray(state, dtype=np.float64)
    here = np.atleast_1d(np.asarray(function(time, x), dtype=np.float64))
    limit = np.broadcast_to(tolerance * np.asarray(scale, dtype=np.float64), here.shape)
    if not (limit > 0.0).all():
        raise ValueError("scale and tolerance must be positive")
    sign = np.where(np.abs(here) > limit, np.sign(here), 0.0).astype(np.int64)
    order = np.where(sign != 0, 0, -1)
    horizons = list(HORIZONS)
    while horizons and orders > 0 and not (sign != 0).all():
        horizon = horizons.pop(0)
        terms = _terms(function, field, time, x, horizon)
        if terms is None:
            horizons = [horizon / 10.0] if SHORTEST_HORIZON < horizon <= HORIZONS[0] else []
            continue
        if horizon < HORIZONS[0]:
            horizons = []
        for m in range(1, orders + 1):
            found = (sign == 0) & (np.abs(terms[m]) > limit)
            sign[found] = np.sign(terms[m])[found].astype(np.int64)
            order[found] = m
    return Trend(sign, order)


def _terms(
    function: Callable[[float, Array], ArrayLike],
    field: Callable[[float, Array], ArrayLike],
    time: float,
    state: Array,
    horizon: float,
) -> Array | None:
    """Taylor terms (degree + 1, k) of h at ``state``, at the end of the horizon; None where the flow breaks off."""
    if not np.isfinite(np.asarray(field(time, state), dtype=np.float64)).all():
        return None  # the integrator would look for a first step for ever
    nodes = 0.5 - 0.5 * np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    solver = DOP853(field, time, state, time + horizon, rtol=1e-12, atol=1e-14, max_step=horizon)
    values: list[Array] = []
    for _ in range(_STEPS):
        solver.step()
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            return None
        path = solver.dense_output()
        while len(values) < _NODES and time + horizon * nodes[len(values)] <= solver.t:
            at = time + horizon * nodes[len(values)]
            values.append(np.atleast_1d(np.asarray(function(at, path(at)), dtype=np.float64)))
        if solver.status == "finished":
            break
    if len(values) < _NODES or not np.isfinite(values).all():
        return None
    fit = chebyshev.chebfit(2.0 * nodes - 1.0, np.array(values), _DEGREE)
    # cheb2poly gives powers of 2s − 1; derivatives at its left end are the Taylor terms in s
    terms = []
    factor = 1.0
    for m in range(_DEGREE + 1):
        terms.append(factor * chebyshev.chebval(-1.0, fit))
        fit = chebyshev.chebder(fit) if m < _DEGREE else fit
        factor *= 2.0 / (m + 1)
    return np.array(terms)
