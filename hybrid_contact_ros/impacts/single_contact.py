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
from numba import njit
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_TURN = 0.4  # of the slip: how much of it friction alone could change in one step; its direction settles that fast
_STRAIGHT = 1e-7  # sine of the angle between slip and its rate: then it keeps its direction
_AT_REST = 1e-6  # of the fastest component of the velocity
_POINTS = 48  # trial values of μ, before the best are refined
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_HALVINGS = 26
_DOUBLINGS = 12


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


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _parts(first: float, middle: float, last: float) -> tuple[float, float, float]:
    """Of the parabola through these at 0, ½ and 1: the length where it is < 0, the integral there, and the other."""
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


@njit(cache=True, nogil=True, error_model="numpy")
def _slope(G: Array, u: Array, mu: float, p: float, x: float, y: float) -> tuple[float, float, float]:
    """−μ s and |u_t|, where the impulse so far is (p, x, y)."""
    a = u[1] + G[1, 0] * p + G[1, 1] * x + G[1, 2] * y
    b = u[2] + G[2, 0] * p + G[2, 1] * x + G[2, 2] * y
    r = math.sqrt(a * a + b * b)
    if r == 0.0:
        return 0.0, 0.0, 0.0
    return -mu * a / r, -mu * b / r, r


@njit(cache=True, nogil=True, error_model="numpy")
def impact_path(
    G: Array, u: Array, mu: float, end: float
) -> tuple[float, float, float, float, float, float, float, bool]:
    """Follow an impact from velocity u (3,) to the normal impulse ``end``; G (3, 3), normal first.

    Returns:
        tangential impulse (2), normal impulse of compression (u_n < 0), its normal work and that of restitution, u_n
        at the end and its rate there, and whether it sticks there.
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
        h = end - p
        if straight:
            fx, fy, sticks = _at_rest(G, mu)
        else:
            ra = G[1, 0] + G[1, 1] * fx + G[1, 2] * fy
            rb = G[2, 0] + G[2, 1] * fx + G[2, 2] * fy
            if abs(fx * rb - fy * ra) <= _STRAIGHT * mu * math.sqrt(ra * ra + rb * rb):
                straight = True
                towards = (fx * ra + fy * rb) / (mu * r) if mu > 0.0 else 0.0
                if towards * h > 1.0:
                    h = 1.0 / towards
        if straight:
            p, x, y = end if h == end - p else p + h, x + h * fx, y + h * fy
            after = u[0] + G[0, 0] * p + G[0, 1] * x + G[0, 2] * y
            part, down, up = _parts(now, 0.5 * (now + after), after)
            pressed, lost, won = pressed + part * h, lost + down * h, won + up * h
            rate = G[0, 0] + G[0, 1] * fx + G[0, 2] * fy
            now = after
            continue
        h = min(_TURN * r / fastest, 0.125 * end)
        last = h >= end - p
        if last:
            h = end - p
        gx, gy, _ = _slope(G, u, mu, p + 0.5 * h, x + 0.5 * h * fx, y + 0.5 * h * fy)
        ix, iy, _ = _slope(G, u, mu, p + 0.5 * h, x + 0.5 * h * gx, y + 0.5 * h * gy)
        jx, jy, _ = _slope(G, u, mu, p + h, x + h * ix, y + h * iy)
        dx, dy = h * (fx + 2.0 * (gx + ix) + jx) / 6.0, h * (fy + 2.0 * (gy + iy) + jy) / 6.0
        mx, my = x + 0.5 * dx + 0.125 * h * (fx - jx), y + 0.5 * dy + 0.125 * h * (fy - jy)
        half = u[0] + G[0, 0] * (p + 0.5 * h) + G[0, 1] * mx + G[0, 2] * my
        p, x, y = end if last else p + h, x + dx, y + dy
        after = u[0] + G[0, 0] * p + G[0, 1] * x + G[0, 2] * y
        part, down, up = _parts(now, half, after)
        pressed, lost, won = pressed + part * h, lost + down * h, won + up * h
        rate = G[0, 0] + G[0, 1] * jx + G[0, 2] * jy
        now = after
    return x, y, pressed, lost, won, now, rate, sticks


@njit(cache=True, nogil=True, error_model="numpy")
def _misfit(G: Array, u: Array, impulse: Array, mu: float) -> float:
    x, y, _, _, _, _, _, _ = impact_path(G, u, mu, impulse[0])
    x, y = x - impulse[1], y - impulse[2]
    square = G[1, 1] * x * x + 2.0 * G[1, 2] * x * y + G[2, 2] * y * y
    return math.sqrt(max(2.0 * square / (G[1, 1] + G[2, 2]), 0.0)) / impulse[0]  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, error_model="numpy")
def _fit(G: Array, u: Array, impulse: Array) -> tuple[float, float, float, float, float]:
    """μ, the least μ at which the impact sticks to its end, the misfit; the next best μ and its misfit."""
    low, high = 0.0, 0.25
    for _ in range(_DOUBLINGS):
        if impact_path(G, u, high, impulse[0])[7]:
            break
        low, high = high, 2.0 * high
    for _ in range(_HALVINGS):
        mu = 0.5 * (low + high)
        if impact_path(G, u, mu, impulse[0])[7]:
            high = mu
        else:
            low = mu
    step = high / _POINTS
    trial = np.empty(_POINTS + 1)
    for k in range(_POINTS + 1):
        trial[k] = _misfit(G, u, impulse, k * step)
    best, least, other, more = math.nan, math.inf, math.nan, math.inf
    for k in range(_POINTS + 1):
        if trial[k] > trial[max(k - 1, 0)] or trial[k] > trial[min(k + 1, _POINTS)]:
            continue
        a, b = max(k - 1, 0) * step, min(k + 1, _POINTS) * step
        c, d = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
        at_c, at_d = _misfit(G, u, impulse, c), _misfit(G, u, impulse, d)
        for _ in range(_HALVINGS):
            if at_c < at_d:
                b, d, at_d = d, c, at_c
                c = b - _GOLDEN * (b - a)
                at_c = _misfit(G, u, impulse, c)
            else:
                a, c, at_c = c, d, at_d
                d = a + _GOLDEN * (b - a)
                at_d = _misfit(G, u, impulse, d)
        mu, left = (c, at_c) if at_c < at_d else (d, at_d)
        if abs(mu - best) <= step:  # two trial values shared the valley
            best, least = (mu, left) if left < least else (best, least)
        elif left < least:
            best, least, other, more = mu, left, best, least
        elif left < more and not abs(mu - other) <= step:
            other, more = mu, left
    return best, high, least, other, more


def fit_friction(G: ArrayLike, before: ArrayLike, impulse: ArrayLike) -> SingleImpact:
    """μ of an observed impact of one contact.

    Args:
        G: (1 + d, 1 + d) J M⁻¹ Jᵀ, normal first, d = 1 or 2. before: (1 + d,) velocity before, m/s.
        impulse: (1 + d,) observed, N s; the path is followed to its normal part.

    Raises:
        ValueError: shapes, or an impulse that does not push.
    """
    return SingleImpact(*_fit(*_in_space(G, before, impulse)))


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
