"""The velocity with which the robot comes to an impact: extrapolated from the last state, and how uncertain it is.

To second order v⁻ = v + T v̇ + ½ T² v̈. The mode's acceleration v̇ holds as long as the mode does; its course v̈ is
followed over the last states of this mode, since efforts and geometry change steadily between events. A contact that
slides and will stick before the impact stops where friction stops it (:func:`through_sticks`): its deceleration,
extrapolated further, would drive it backwards.
"""

from __future__ import annotations

import math
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.small_systems import after_transposed, eigen, factor_of, solved
from hybrid_contact_ros.kernels.impacts.landing_law import landing_outcomes, landing_scratch

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

_SEEN = 8  # states that are remembered
_SPACING = 900_000  # ns between them at least
_SPAN = 6_000_000  # ns, of those that a course is taken from at most
_FEWEST = 3
_STEADY, _YOUNG, _BENT = (1.0, 0.2), (0.25, 0.35), (0.0, 0.35)
"""What is added of a course, and how unsure that is: of a settled mode, of one that began lately, of no line."""
_SETTLED = 10_000_000  # ns, of a mode: before, drives swing back from what began it, and courses end soon
_STRAIGHT = 0.25  # a course is one whose points are off its line by no more than this part of its change
_QUANTILE = NormalDist().inv_cdf
_STEPS, _TOLERANCE = 200, 1e-8
_STICK_STEP = 0.002  # s


class CourseAhead(NamedTuple):
    """How the acceleration changes.

    Attributes:
        rate: v̈ (nv,), m/s³ or rad/s³. seen: s, for which it was seen.
        added: the part of it that v⁻ follows. unsure: standard deviation of that, as a part of the whole.
    """

    rate: Array
    seen: float
    added: float
    unsure: float

    def change(self, seconds: float, times: float) -> tuple[Array, Array]:
        """What the course adds to v (nv,) ``seconds`` later, if it lasts ``times`` as long as it was seen, and the
        standard deviation of that."""
        reach = min(seconds, times * self.seen)
        full = reach * (seconds - 0.5 * reach) * self.rate
        return self.added * full, self.unsure * full


class Course:
    """How the acceleration of the contact mode changes, by the last states of one mode. A pause, a stamp of the past or
    another mode starts it anew."""

    def __init__(self, nv: int) -> None:
        self._stamps: list[int] = []
        self._values = np.zeros((_SEEN, nv))
        self._mode = b""
        self._next = self._begun = 0

    def reset(self) -> None:
        """Forget all states."""
        self._stamps.clear()

    def add(self, stamp_ns: int, acceleration: Array, closed: Codes, slipping: Codes) -> None:
        """A state with its mode: acceleration (nv,), closed and slipping (m,)."""
        stamps, mode = self._stamps, closed.tobytes() + slipping.tobytes()
        if stamps:
            since = stamp_ns - stamps[-1]
            if mode != self._mode or since < 0 or since > _SPAN:
                stamps.clear()
            elif since < _SPACING:
                return
        self._mode = mode
        if not stamps:
            self._next, self._begun = 0, stamp_ns
        elif len(stamps) == _SEEN:
            del stamps[0]
        stamps.append(stamp_ns)
        self._values[self._next % _SEEN] = acceleration
        self._next += 1

    def ahead(self) -> CourseAhead | None:
        """The course at the last state; None where too few states tell of it."""
        return self.seen().course

    def seen(self) -> AccelerationsSeen:
        """A copy for another thread."""
        return AccelerationsSeen(tuple(self._stamps), self._values.copy(), self._next, self._begun)


class AccelerationsSeen:
    """The last states of :class:`Course`."""

    def __init__(self, stamps: tuple[int, ...], values: Array, following: int, begun: int) -> None:
        """stamps: ns. values: v̇ (_SEEN, nv), those of the next state at ``following`` modulo _SEEN. begun: ns, the
        first stamp of this mode."""
        self._stamps, self._values, self._next, self._begun = stamps, values, following, begun

    @cached_property
    def course(self) -> CourseAhead | None:
        """The course at the last state; None where too few states tell of it."""
        stamps = self._stamps
        first = next((i for i, stamp in enumerate(stamps) if stamps[-1] - stamp <= _SPAN), 0)
        count = len(stamps) - first
        if count < _FEWEST:
            return None
        places = np.arange(self._next - count, self._next) % _SEEN
        t = 1e-9 * (np.array(stamps[first:]) - stamps[-1]).astype(np.float64)
        values = self._values[places]
        middle, centred = values.mean(axis=0), t - t.mean()
        slope = centred @ values / (centred @ centred)
        off = values - middle - centred[:, None] * slope
        change = np.abs(slope).max() * -t[0]
        line = np.abs(off).max() <= _STRAIGHT * change
        trust = _BENT if not line else _STEADY if stamps[-1] - self._begun >= _SETTLED else _YOUNG
        return CourseAhead(np.asarray(slope), float(-t[0]), *trust)


class Contacts(NamedTuple):
    """The robot at a state, with the contacts that are closed; r = 3 k rows, normal first."""

    mass: Array  # M (nv, nv)
    bias: Array  # h − Sᵀτ (nv,)
    rows: Array  # J (r, nv)
    drift: Array  # J̇ v (r,)
    friction: Array  # μ (k,)


def through_sticks(now: Contacts, velocity: Array, seconds: float) -> Array:
    """v (nv,) after ``seconds``, by steps of the motion with friction: contacts that slide may come to rest.

    Each step solves M Δv = −dt (h − Sᵀτ) + Jᵀλ with Coulomb's law at the velocity after it, for the closed contacts.
    """
    n, r = velocity.size, now.rows.shape[0]
    scratch = landing_scratch(r // 3, 2, n)
    pieces = max(1, math.ceil(seconds / _STICK_STEP))
    dt = np.full(1, seconds / pieces)
    left = np.ascontiguousarray((-dt[0] * now.drift)[None])
    out = np.zeros((1, n)), np.zeros((1, r)), np.zeros(1)
    v = velocity.copy()
    for _ in range(pieces):
        landing_outcomes(
            _STEPS, _TOLERANCE, 2, now.mass, now.bias, now.rows, v, dt, np.zeros((1, n)), now.friction[None], left,
            *scratch, *out,
        )  # fmt: skip
        if not out[2][0] <= 1e-4:
            return velocity + seconds * np.nan
        v = out[0][0].copy()
    return v


def make_regular(square: Array) -> None:
    """Redundant contacts, and directions in which a mechanism cannot move, are welcome: they get the least forces."""
    diagonal = square.flat[:: len(square) + 1]  # a copy
    square.flat[:: len(square) + 1] = diagonal + (1e-9 * np.abs(diagonal).max() or 1.0)


def friction_margins(mass: Array, bias: Array, rows: Array, friction: Array, acceleration: Array) -> Array:
    """μ λ_n − ‖λ_t‖ (k,), N, of contacts whose forces make this acceleration; rows J (3 k, nv), bias h − Sᵀτ (nv,)."""
    back = solved(mass, np.concatenate((rows, bias[None])).T)
    square = rows @ back[:, :-1]
    make_regular(square)
    forces = solved(square, rows @ (acceleration + back[:, -1])).reshape(-1, 3)
    return np.asarray(friction * forces[:, 0] - np.hypot(forces[:, 1], forces[:, 2]))


def landing_map(mass: Array, rows: Array, friction: Array, impulse: Array) -> Array:
    """∂v⁺/∂v⁻ (nv, nv) of a landing whose contacts keep pushing as they do.

    Contacts with an impulse within their cones are held, those on the cone slide on; their directions of slip are
    taken not to turn.

    Args:
        rows: J (3 k, nv). friction: μ (k,). impulse: λ (3 k,), N s.
    """
    n = mass.shape[0]
    held: list[Array] = []
    push: list[Array] = []
    pushes = impulse.reshape(-1, 3).tolist()
    unit = 1e-9 * max((abs(x) for z in pushes for x in z), default=0.0)
    for i, (mu, (normal, *along)) in enumerate(zip(friction.tolist(), pushes, strict=True)):
        size = math.hypot(*along)
        if not normal > unit:
            continue
        J = rows[3 * i : 3 * i + 3]
        if size < (1.0 - 1e-6) * mu * normal:
            held.append(J)
            push.append(J)
        else:
            held.append(J[:1])
            push.append(J[:1] + (mu / size * (impulse[3 * i + 1 : 3 * i + 3] @ J[1:]) if size > 0.0 else 0.0))
    if not held:
        return np.eye(n)
    C = np.concatenate(held)
    back = solved(mass, np.concatenate(push).T)
    square = C @ back
    make_regular(square)
    through = back @ solved(square, -C)
    through.flat[:: n + 1] += 1.0
    return np.asarray(through)


def spread_axes(mass: Array, through: Array, covariance: Array, level: float) -> tuple[Array, Array]:
    """Half-axes (g, nv) of a box that holds ``level`` of a Gaussian error of v⁻ after the landing, to first order, the
    longest last, and the errors of v⁻ (g, nv) that most likely make them.

    The axes are the principal ones in the kinetic norm, each as many standard deviations long.

    Args:
        through: ∂v⁺/∂v⁻ (nv, nv). covariance: of v⁻ (nv, nv).
    """
    n = mass.shape[0]
    L = factor_of(mass)
    turned = L.T @ through
    size, axes = eigen(turned @ covariance @ turned.T)
    kept = size > 1e-8 * max(float(size[-1]), 1e-300)
    if not (kept.any() and size[-1] > 0.0):
        return np.zeros((0, n)), np.zeros((0, n))
    sigmas = _QUANTILE(0.5 * (1.0 + level ** (1.0 / int(kept.sum()))))
    units = axes[:, kept] * (sigmas / np.sqrt(size[kept]))
    after = np.ascontiguousarray(after_transposed(L, units * size[kept]).T)
    return after, np.ascontiguousarray((covariance @ turned.T @ units).T)
