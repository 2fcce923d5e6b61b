"""Ranges of symbolic expressions over boxes, by interval arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import sympy

from hybrid_contact_ros.stability.intervals import Interval

_FUNCTIONS: dict[type, Callable[[Interval], Interval]] = {
    sympy.sin: Interval.sin,
    sympy.cos: Interval.cos,
    sympy.exp: Interval.exp,
    sympy.tan: lambda x: x.sin() / x.cos(),
    sympy.Abs: lambda x: Interval(np.maximum(np.maximum(x.lo, -x.hi), 0.0), x.magnitude()),
}


class UnsupportedExpressionError(ValueError):
    """An expression with a function that has no interval version here."""


class IntervalFunction:
    """Expressions in some symbols that can be evaluated on boxes: enclosures of all values that they take there.

    Common subexpressions are evaluated once. Numbers of the model count as exact: a rational number is enclosed, and a
    float is the number that it is.

    Raises:
        UnsupportedExpressionError: an expression has a function other than sin, cos, tan, exp, √, | | and integer
            powers.
    """

    def __init__(self, symbols: Sequence[sympy.Symbol], expressions: Sequence[sympy.Expr]) -> None:
        self._slots: dict[sympy.Basic, int] = {symbol: i for i, symbol in enumerate(symbols)}
        self._inputs = len(self._slots)
        self._steps: list[Callable[[list[Interval]], Interval]] = []
        self._outputs = [self._compile(sympy.sympify(e)) for e in expressions]

    def __call__(self, box: Interval) -> Interval:
        """Enclosures (outputs,) over ``box`` (inputs,)."""
        values = [box[i] for i in range(self._inputs)]
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            for step in self._steps:
                values.append(step(values))
        return Interval.stack([values[i] for i in self._outputs])

    def _compile(self, e: sympy.Basic) -> int:
        if e not in self._slots:
            step = self._step(e)
            self._steps.append(step)
            self._slots[e] = self._inputs + len(self._steps) - 1
        return self._slots[e]

    def _step(self, e: sympy.Basic) -> Callable[[list[Interval]], Interval]:
        if e.is_number:
            constant = _constant(e)
            return lambda values: constant
        if isinstance(e, sympy.Pow):
            base, exponent = self._compile(e.args[0]), e.args[1]
            if exponent == sympy.Rational(1, 2):
                return lambda values: values[base].sqrt()
            if exponent == -sympy.Rational(1, 2):
                return lambda values: values[base].sqrt().reciprocal()
            if isinstance(exponent, sympy.Integer):
                n = int(exponent)
                return lambda values: values[base].power(n)
        args = [self._compile(a) for a in e.args]
        if isinstance(e, sympy.Add):
            return lambda values: _fold(values, args, Interval.__add__)
        if isinstance(e, sympy.Mul):
            return lambda values: _fold(values, args, Interval.__mul__)
        function = _FUNCTIONS.get(type(e))
        if function is None:
            raise UnsupportedExpressionError(f"{e} has no interval version")
        only = args[0]
        return lambda values: function(values[only])


def _fold(values: list[Interval], args: list[int], operation: Callable[[Interval, Interval], Interval]) -> Interval:
    result = values[args[0]]
    for i in args[1:]:
        result = operation(result, values[i])
    return result


def _constant(e: sympy.Basic) -> Interval:
    value = float(e)
    if isinstance(e, (sympy.Integer, sympy.Float)) and sympy.Rational(value) == sympy.Rational(e):
        return Interval.of(value)
    return Interval.of(np.nextafter(value, -np.inf), np.nextafter(value, np.inf))
