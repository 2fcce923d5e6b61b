"""Interval arithmetic with outward rounding: arrays of intervals that certainly contain the true values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_TRIGONOMETRIC_ERROR = 1e-15  # several units in the last place of values up to 1
_LARGEST_ANGLE = 1e6  # rad; beyond it the reduction of the argument is not worth trusting


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Elementwise [lo, hi], arrays of one shape. Numbers and arrays in +, −, × and ÷ are taken as exact."""

    lo: Array
    hi: Array

    __array_ufunc__ = None  # numpy arrays on the left leave the operation to this class

    @staticmethod
    def of(lo: ArrayLike, hi: ArrayLike | None = None) -> Interval:
        """[lo, hi], or [lo, lo]."""
        low = np.asarray(lo, dtype=np.float64)
        return Interval(low, low if hi is None else np.asarray(hi, dtype=np.float64))

    @staticmethod
    def stack(parts: list[Interval]) -> Interval:
        """Intervals of one shape along a new first axis."""
        return Interval(np.stack([p.lo for p in parts]), np.stack([p.hi for p in parts]))

    def __getitem__(self, index: Any) -> Interval:
        return Interval(self.lo[index], self.hi[index])

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __add__(self, other: Interval | ArrayLike) -> Interval:
        right = _interval(other)
        return _outward(self.lo + right.lo, self.hi + right.hi)

    __radd__ = __add__

    def __sub__(self, other: Interval | ArrayLike) -> Interval:
        return self + (-_interval(other))

    def __rsub__(self, other: ArrayLike) -> Interval:
        return _interval(other) + (-self)

    def __mul__(self, other: Interval | ArrayLike) -> Interval:
        right = _interval(other)
        products = self.lo * right.lo, self.lo * right.hi, self.hi * right.lo, self.hi * right.hi
        return _outward(reduce(np.minimum, products), reduce(np.maximum, products))

    __rmul__ = __mul__

    def __truediv__(self, other: Interval | ArrayLike) -> Interval:
        return self * _interval(other).reciprocal()

    def __rtruediv__(self, other: ArrayLike) -> Interval:
        return _interval(other) * self.reciprocal()

    def reciprocal(self) -> Interval:
        """1 / x; all numbers where 0 is inside."""
        crosses = (self.lo <= 0.0) & (self.hi >= 0.0)
        safe = Interval(np.where(crosses, 1.0, self.lo), np.where(crosses, 1.0, self.hi))
        result = _outward(1.0 / safe.hi, 1.0 / safe.lo)
        return Interval(np.where(crosses, -np.inf, result.lo), np.where(crosses, np.inf, result.hi))

    def power(self, exponent: int) -> Interval:
        """xⁿ for an integer n; an even power is never negative."""
        if exponent < 0:
            return self.power(-exponent).reciprocal()
        result = Interval.of(np.ones_like(self.lo))
        for _ in range(exponent):
            result = result * self
        if exponent % 2 or exponent == 0:
            return result
        inside = (self.lo <= 0.0) & (self.hi >= 0.0)
        least = Interval.of(np.where(inside, 0.0, np.minimum(np.abs(self.lo), np.abs(self.hi))))
        most = Interval.of(self.magnitude())
        low, high = (reduce(lambda a, b: a * b, [end] * exponent) for end in (least, most))
        return Interval(np.maximum(low.lo, 0.0), high.hi)

    def sqrt(self) -> Interval:
        """√x; not a number where x may be negative."""
        with np.errstate(invalid="ignore"):
            root = _outward(np.sqrt(self.lo), np.sqrt(self.hi))
        return Interval(np.maximum(root.lo, 0.0), root.hi)

    def exp(self) -> Interval:
        """eˣ."""
        with np.errstate(over="ignore"):
            low, high = np.exp(self.lo), np.exp(self.hi)
        return Interval(low * (1.0 - 1e-14), high * (1.0 + 1e-14))

    def cos(self) -> Interval:
        """cos x; the ends ±1 are taken wherever a multiple of π cannot be excluded."""
        top = _contains_multiple(self, 0.0)
        bottom = _contains_multiple(self, np.pi)
        ends = np.cos(self.lo), np.cos(self.hi)
        low = np.where(bottom, -1.0, np.minimum(*ends) - _TRIGONOMETRIC_ERROR)
        high = np.where(top, 1.0, np.maximum(*ends) + _TRIGONOMETRIC_ERROR)
        return Interval(np.maximum(low, -1.0), np.minimum(high, 1.0))

    def sin(self) -> Interval:
        """sin x, as :meth:`cos`."""
        top = _contains_multiple(self, np.pi / 2)
        bottom = _contains_multiple(self, -np.pi / 2)
        ends = np.sin(self.lo), np.sin(self.hi)
        low = np.where(bottom, -1.0, np.minimum(*ends) - _TRIGONOMETRIC_ERROR)
        high = np.where(top, 1.0, np.maximum(*ends) + _TRIGONOMETRIC_ERROR)
        return Interval(np.maximum(low, -1.0), np.minimum(high, 1.0))

    def magnitude(self) -> Array:
        """The largest |x|."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that contains both."""
        return Interval(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi))

    def widened(self, by: ArrayLike) -> Interval:
        """Wider by a margin at both ends."""
        return _outward(self.lo - np.asarray(by), self.hi + np.asarray(by))

    def inside(self, other: Interval) -> bool:
        """Whether every entry lies strictly inside the other's."""
        return bool((self.lo > other.lo).all() and (self.hi < other.hi).all())

    def dot(self, other: Interval | Array) -> Interval:
        """Matrix or vector (…, n) times vector (n,) or matrix (n, k)."""
        right = _interval(other)
        flat = right.lo.ndim == 1
        terms = [(self[..., j] if flat else self[..., j, None]) * right[j] for j in range(right.lo.shape[0])]
        return reduce(lambda a, b: a + b, terms)

    def cut(self, other: Interval) -> Interval:
        """The intersection of two enclosures of the same values."""
        return Interval(np.maximum(self.lo, other.lo), np.minimum(self.hi, other.hi))


def _interval(value: Interval | ArrayLike) -> Interval:
    return value if isinstance(value, Interval) else Interval.of(value)


def _outward(lo: Array, hi: Array) -> Interval:
    # Round-to-nearest is at most half a unit in the last place off; one unit outwards covers it.
    return Interval(np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf))


def _contains_multiple(x: Interval, offset: float) -> NDArray[np.bool_]:
    """Whether ``offset`` + 2πk may be inside, for some integer k."""
    turn = 2.0 * np.pi
    first, last = np.ceil((x.lo - offset) / turn - 1e-9), np.floor((x.hi - offset) / turn + 1e-9)
    trusted = x.magnitude() < _LARGEST_ANGLE  # False for NaN
    return np.logical_not(trusted) | (first <= last)


def solve(matrix: Interval, right: Interval) -> Interval | None:
    """Enclose the solutions X of A X = B for all A (n, n) and B (n, k) in the intervals; None where A may be singular.

    Let R be about the inverse of the midpoint of A. Then X = R B − E X with E = R A − I, and ‖E‖ < 1 bounds |X| and
    thereby |X − R B|.
    """
    middle = 0.5 * (matrix.lo + matrix.hi)
    if not np.isfinite(middle).all():
        return None
    try:
        inverse = Interval.of(np.linalg.inv(middle))
    except np.linalg.LinAlgError:
        return None
    error = (inverse.dot(matrix) - np.eye(len(middle))).magnitude()
    first = inverse.dot(right)
    size = first.magnitude()
    shrink = float(error.sum(axis=1).max()) * (1.0 + 1e-12)
    if not shrink < 1.0:
        return None
    bound = np.broadcast_to(size.max(axis=0) / (1.0 - shrink) * (1.0 + 1e-12), size.shape)
    for _ in range(3):  # |X| ≤ |R B| + |E| |X|, entry by entry
        bound = np.minimum(bound, (size + error @ bound) * (1.0 + 1e-12))
    return first.widened(error @ bound * (1.0 + 1e-12))
