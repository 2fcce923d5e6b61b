"""Interval arithmetic contains the exact results."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from hybrid_contact_ros.stability.intervals import Interval, solve
from hybrid_contact_ros.stability.symbolic import IntervalFunction, UnsupportedExpressionError

numbers = st.floats(-1e3, 1e3)
pairs = st.tuples(numbers, numbers).map(sorted)


@given(pairs, pairs, st.floats(0, 1), st.floats(0, 1))
@np.errstate(all="ignore")
def test_sums_products_and_quotients_contain_the_exact_ones(a, b, s, t):
    x, y = Interval.of(*a), Interval.of(*b)
    p, q = Fraction(np.clip(a[0] + s * (a[1] - a[0]), *a)), Fraction(np.clip(b[0] + t * (b[1] - b[0]), *b))
    for exact, found in ((p + q, x + y), (p - q, x - y), (p * q, x * y), (p**2, x.power(2)), (p**3, x.power(3))):
        assert found.lo <= exact <= found.hi
    if q != 0 and np.isfinite((x / y).lo):
        assert (x / y).lo <= p / q <= (x / y).hi
    assert x.power(2).lo >= 0.0


@given(st.floats(-50, 50), st.floats(0, 7), st.floats(0, 1))
def test_functions_contain_values_of_forty_digits(lo, width, s):
    point = min(lo + s * width, lo + width)
    x = Interval.of(lo, lo + width)
    with mp.workdps(40):
        exact = mp.mpf(point)
        cases = [(mp.sin(exact), x.sin()), (mp.cos(exact), x.cos()), (mp.exp(exact), x.exp())]
        if lo >= 0.0:
            cases.append((mp.sqrt(exact), x.sqrt()))
        for value, found in cases:
            assert mp.mpf(float(found.lo)) <= value <= mp.mpf(float(found.hi))


@given(st.floats(-20, 20), st.floats(0, 1e-3))
def test_sines_of_short_intervals_are_short(lo, width):
    for found in (Interval.of(lo, lo + width).sin(), Interval.of(lo, lo + width).cos()):
        assert found.hi - found.lo <= width + 1e-14


def test_angles_beyond_trust_give_no_information():
    found = Interval.of(1e7, 1e7).sin()
    assert (found.lo, found.hi) == (-1.0, 1.0)


@given(st.integers(0, 10**6), st.integers(1, 4), st.floats(0, 0.1))
def test_linear_solutions_contain_those_of_members(seed, n, width):
    rng = np.random.default_rng(seed)
    middle, right = rng.normal(size=(n, n)) + 3 * np.eye(n), rng.normal(size=n)
    matrix = Interval.of(middle - width, middle + width)
    found = solve(matrix, Interval.of(right - width, right + width)[:, None])
    if found is None:
        return
    for _ in range(10):
        member = middle + width * rng.uniform(-1, 1, (n, n))
        x = np.linalg.solve(member, right + width * rng.uniform(-1, 1, n))
        assert (found.lo[:, 0] - 1e-12 <= x).all() and (x <= found.hi[:, 0] + 1e-12).all()


def test_matrices_that_may_be_singular_are_refused():
    assert solve(Interval.of([[1.0, -0.1], [0.0, -0.1]], [[1.0, 0.1], [0.0, 0.1]]), Interval.of([[1.0], [1.0]])) is None
    assert solve(Interval.of([[1.0, 1.0], [1.0, 1.0]]), Interval.of([[1.0], [1.0]])) is None
    assert solve(Interval.of([[np.nan]]), Interval.of([[1.0]])) is None


@given(st.integers(0, 10**6))
def test_expressions_contain_their_values(seed):
    x, y = sympy.symbols("x y")
    expressions = [
        x**2 * sympy.sin(y) / 3 - sympy.Rational(1, 7),
        sympy.sqrt(2 + x * y) + sympy.exp(x) / (3 + sympy.cos(x)),
        sympy.Abs(x - y) + x**-2 + sympy.tan(y / 10) + sympy.pi + 1 / sympy.sqrt(2 + x),
    ]
    rng = np.random.default_rng(seed)
    lo = rng.uniform([0.2, -1.0], [1.0, 1.0])
    box = Interval.of(lo, lo + rng.uniform(0, 0.3, 2))
    found = IntervalFunction((x, y), expressions)(box)
    values = sympy.lambdify((x, y), expressions, modules="mpmath")
    for _ in range(5):
        point = rng.uniform(box.lo, box.hi)
        with mp.workdps(30):
            for value, low, high in zip(values(*map(mp.mpf, point)), found.lo, found.hi, strict=True):
                assert mp.mpf(float(low)) <= value <= mp.mpf(float(high))


def test_unknown_functions_are_named():
    x = sympy.Symbol("x")
    with pytest.raises(UnsupportedExpressionError, match="gamma"):
        IntervalFunction((x,), [sympy.gamma(x)])
