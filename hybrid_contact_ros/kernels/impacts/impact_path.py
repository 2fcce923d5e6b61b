"""One contact's impact along its normal impulse; see :mod:`hybrid_contact_ros.impacts.single_contact`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel

Array = NDArray[np.float64]

_TURN = 0.4  # part of the slip that friction alone may change in one step: its direction settles that fast
_STRAIGHT = 1e-7  # sine of the angle between the slip and its rate below which the slip keeps its direction
_AT_REST = 1e-6  # of the fastest component of the first velocity: slower slip has come to rest


class PathEnd(NamedTuple):
    """An impact path at its end, where the normal impulse is p."""

    tangential_x: float  # N s, impulse along the first tangent
    tangential_y: float  # N s, along the second
    compression: float  # N s, normal impulse while the contact approached
    compression_work: float  # J, ≤ 0, normal work of compression
    restitution_work: float  # J, ≥ 0, normal work of restitution
    normal_velocity: float  # m/s
    normal_rate: float  # 1/kg, of the normal velocity per unit of p
    sticks: bool


@kernel
def _at_rest(G: Array, mu: float) -> tuple[float, float, bool]:
    """Tangential impulse per unit of p of a contact whose slip has come to rest, and whether it sticks."""
    a, b, c = G[1, 1], G[1, 2], G[2, 2]
    f, g = G[1, 0], G[2, 0]
    small = 1e-12 * (a + c)  # directions that nothing can move in
    a, c = a + small, c + small
    det = a * c - b * b
    x, y = -(c * f - b * g) / det, -(a * g - b * f) / det
    if math.sqrt(x * x + y * y) <= mu:
        return x, y, True
    # |s| falls as κ grows: s = (κ + μ G_tt)⁻¹ G_tn
    low, high = 0.0, math.sqrt(f * f + g * g)
    x, y = 0.0, 0.0
    for _ in range(80):
        k = 0.5 * (low + high)
        p, q, r = k + mu * a, mu * b, k + mu * c
        det = p * r - q * q
        x, y = (r * f - q * g) / det, (p * g - q * f) / det
        if x * x + y * y > 1.0:
            low = k
        else:
            high = k
    size = math.sqrt(x * x + y * y)
    return -mu * x / size, -mu * y / size, False


@kernel
def _parts(first: float, middle: float, last: float) -> tuple[float, float, float]:
    """A parabola by its values at 0, ½ and 1: length where it is < 0, integral there, and integral where it is ≥ 0."""
    c = 2.0 * (first - 2.0 * middle + last)
    b = last - first - c
    whole = first + b / 2.0 + c / 3.0
    if first <= 0.0 and last <= 0.0:
        return 1.0, whole, 0.0
    if first >= 0.0 and last >= 0.0:
        return 0.0, 0.0, whole
    root = math.sqrt(max(b * b - 4.0 * c * first, 0.0))
    t = -2.0 * first / (b + root) if first < 0.0 else -2.0 * first / (b - root)
    t = min(max(t, 0.0), 1.0)
    until = t * (first + t * (b / 2.0 + t * c / 3.0))
    return (t, until, whole - until) if first < 0.0 else (1.0 - t, whole - until, until)


@kernel
def _slope(G: Array, u: Array, mu: float, p: float, x: float, y: float) -> tuple[float, float, float]:
    """−μ s and |u_t|, where the impulse so far is (p, x, y): normal, and along the two tangents."""
    a = u[1] + G[1, 0] * p + G[1, 1] * x + G[1, 2] * y
    b = u[2] + G[2, 0] * p + G[2, 1] * x + G[2, 2] * y
    r = math.sqrt(a * a + b * b)
    if r == 0.0:
        return 0.0, 0.0, 0.0
    return -mu * a / r, -mu * b / r, r


@kernel
def impact_path(G: Array, u: Array, mu: float, end: float) -> PathEnd:
    """Follow the impact of one contact until the normal impulse is ``end``, N s.

    Args:
        G: (3, 3), 1/kg, normal first. u: (3,), m/s, contact velocity before. mu: friction coefficient.
    """
    tiny = _AT_REST * max(abs(u[0]), abs(u[1]), abs(u[2]))
    p, x, y, now = 0.0, 0.0, 0.0, u[0]
    pressed, lost, won, rate, sticks = 0.0, 0.0, 0.0, G[0, 0], False
    fastest = mu * (G[1, 1] + G[2, 2]) + math.sqrt(G[1, 0] * G[1, 0] + G[2, 0] * G[2, 0])
    if fastest == 0.0:
        fastest = _TURN
    while p < end:
        fx, fy, r = _slope(G, u, mu, p, x, y)
        sticks, straight = False, r <= tiny
        step = end - p
        if straight:
            fx, fy, sticks = _at_rest(G, mu)
        else:
            ra = G[1, 0] + G[1, 1] * fx + G[1, 2] * fy
            rb = G[2, 0] + G[2, 1] * fx + G[2, 2] * fy
            if abs(fx * rb - fy * ra) <= _STRAIGHT * mu * math.sqrt(ra * ra + rb * rb):
                straight = True
                towards = (fx * ra + fy * rb) / (mu * r) if mu > 0.0 else 0.0
                if towards * step > 1.0:
                    step = 1.0 / towards
        if straight:
            p, x, y = end if step == end - p else p + step, x + step * fx, y + step * fy
            after = u[0] + G[0, 0] * p + G[0, 1] * x + G[0, 2] * y
            part, down, up = _parts(now, 0.5 * (now + after), after)
            pressed, lost, won = pressed + part * step, lost + down * step, won + up * step
            rate = G[0, 0] + G[0, 1] * fx + G[0, 2] * fy
            now = after
            continue
        step = min(_TURN * r / fastest, 0.125 * end)
        last = step >= end - p
        if last:
            step = end - p
        gx, gy, _ = _slope(G, u, mu, p + 0.5 * step, x + 0.5 * step * fx, y + 0.5 * step * fy)
        ix, iy, _ = _slope(G, u, mu, p + 0.5 * step, x + 0.5 * step * gx, y + 0.5 * step * gy)
        jx, jy, _ = _slope(G, u, mu, p + step, x + step * ix, y + step * iy)
        dx, dy = step * (fx + 2.0 * (gx + ix) + jx) / 6.0, step * (fy + 2.0 * (gy + iy) + jy) / 6.0
        mx, my = x + 0.5 * dx + 0.125 * step * (fx - jx), y + 0.5 * dy + 0.125 * step * (fy - jy)
        half = u[0] + G[0, 0] * (p + 0.5 * step) + G[0, 1] * mx + G[0, 2] * my
        p, x, y = end if last else p + step, x + dx, y + dy
        after = u[0] + G[0, 0] * p + G[0, 1] * x + G[0, 2] * y
        part, down, up = _parts(now, half, after)
        pressed, lost, won = pressed + part * step, lost + down * step, won + up * step
        rate = G[0, 0] + G[0, 1] * jx + G[0, 2] * jy
        now = after
    return PathEnd(x, y, pressed, lost, won, now, rate, sticks)
