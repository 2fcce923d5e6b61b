"""First returns to a section, and their Bouligand derivative (Pace (28))."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.optimize import brentq

from hybrid_contact_ros.mechanics.contact_sets import finite, not_negative
from hybrid_contact_ros.orbits.outcome import outcome_derivative
from hybrid_contact_ros.orbits.piecewise import Piece, PiecewiseLinear, unit_rows
from hybrid_contact_ros.sensitivity.checked import checked_vector
from hybrid_contact_ros.sensitivity.cones import has_interior
from hybrid_contact_ros.sensitivity.gradients import differences
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.simulation.execution import Execution, ModeInterval
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.robot import Effort, RobotSystem, as_system

Array = NDArray[np.float64]
_CROSSING = 1e-6  # of the largest |h| on the way: a section where h rises by less in a whole period is not crossed
_OPTIONS = set(signature(simulate).parameters) - {"system", "q", "v", "t_final", "effort"}
_APART = 1e-5  # of a derivative: what directions and the rest may mix


@dataclass(frozen=True, slots=True)
class Section:
    """A Poincaré section {x : h(q, v) = 0}, crossed where h rises.

    Attributes:
        value: h(q, v), smooth. gradient: Dh (2 nv,) at (q, v), of (δq, δv) in the tangent space; None differences it.
    """

    value: Callable[[Array, Array], float]
    gradient: Callable[[Array, Array], ArrayLike] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """A first return to a section.

    Attributes:
        time: s, of the return. q (nq,), v (nv,): there. execution: from the start to the return.
    """

    time: float
    q: Array
    v: Array
    execution: Execution


class PoincareMap:
    """The first-return map P of a section (Pace (28)), by ``simulate``.

    Forces must not depend on time: a clock is a coordinate then. Crossings within an impact do not count.

    A ball that bounces without loss on a floor, seen at its apex:

    >>> import sympy
    >>> from hybrid_contact_ros import Constraint, LagrangianSystem
    >>> y = sympy.Symbol("y")
    >>> floor = Constraint("floor", y, restitution=1.0)
    >>> ball = LagrangianSystem("ball", [y], sympy.Matrix([[1.0]]), 9.81 * y, [floor])
    >>> bouncing = PoincareMap(ball, Section(lambda q, v: -v[0]), longest=2.0)
    >>> again = bouncing([0.5], [0.0])
    >>> round(again.time, 4), round(float(again.q[0]), 4)
    (0.6386, 0.5)
    >>> bouncing.derivative([0.5], [0.0]).pieces[0].matrix.round(4).tolist()
    [[1.0]]

    Args:
        system: a RigidBodyModel, or anything that ``simulate`` takes. section: crossed upwards.
        longest: s, within which a return must come. shortest: s, before which a crossing is none; by default a
            thousandth of ``longest``.
        effort: of a RigidBodyModel. options: of ``simulate``; by default its tolerances are 1e-11 and 1e-13.

    Raises:
        ValueError: a section that is none, times that make no sense, an option that ``simulate`` does not have.
    """

    def __init__(
        self,
        system: Any,
        section: Section,
        longest: float,
        shortest: float | None = None,
        effort: Effort = None,
        **options: Any,
    ) -> None:
        if not isinstance(section, Section) or not callable(section.value):
            raise ValueError(f"section is {section!r}; give Section(value), with a function value(q, v)")
        if section.gradient is not None and not callable(section.gradient):
            raise ValueError(f"the section's gradient is {section.gradient!r}; give a function of (q, v), or None")
        finite(longest=longest)
        if not longest > 0.0:
            raise ValueError(f"longest is {longest}; a time, s, is needed")
        if shortest is not None:
            not_negative(shortest=shortest)
            if not shortest < longest:
                raise ValueError(f"shortest is {shortest} s; it must be below longest, {longest} s")
        unknown = sorted(options.keys() - _OPTIONS)
        if unknown:
            raise ValueError(f"simulate has no option {', '.join(unknown)}; it has {', '.join(sorted(_OPTIONS))}")
        self.system, self.section, self.longest = as_system(system, effort), section, float(longest)
        self.shortest = 1e-3 * longest if shortest is None else float(shortest)
        self.options = {"rtol": 1e-11, "atol": 1e-13} | options

    def __call__(self, q: ArrayLike, v: ArrayLike) -> Return:
        """The first return from (q, v), which need not lie in the section.

        Raises:
            ValueError: no return within ``longest``, with how the execution ended; a state that ``simulate`` refuses.
        """
        run = simulate(self.system, q, v, self.longest, **self.options)
        value = self.section.value
        for k, part in enumerate(run.intervals):
            ends = [float(value(a, b)) for a, b in zip(part.q, part.v, strict=True)]
            for i in range(len(part.times) - 1):
                early, late = float(part.times[i]), float(part.times[i + 1])
                if ends[i] > 0.0 or ends[i + 1] <= 0.0 or late <= self.shortest:
                    continue
                time = float(
                    brentq(lambda t, part=part: value(*part.at(t)), early, late, xtol=1e-14, rtol=1e-14, maxiter=500)
                )
                if time <= self.shortest:
                    continue
                return _ended(run, k, part, time)
        raise ValueError(f"no return to the section within {self.longest} s: {run}")

    def displacement(self, q: ArrayLike, v: ArrayLike, other_q: ArrayLike, other_v: ArrayLike) -> Array:
        """(δq, δv) (2 nv,) that leads from one state to the other, in the tangent space."""
        a, b = np.asarray(q, dtype=np.float64), np.asarray(other_q, dtype=np.float64)
        moved = self.system.difference(a, b) if isinstance(self.system, RobotSystem) else b - a
        return np.concatenate((moved, np.asarray(other_v, dtype=np.float64) - np.asarray(v, dtype=np.float64)))

    def moved(self, q: ArrayLike, v: ArrayLike, step: Array) -> tuple[Array, Array]:
        """The state that a displacement (2 nv,) leads to."""
        q_, v_ = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        by, n = step[: v_.size], v_.size
        return (self.system.integrate(q_, by) if isinstance(self.system, RobotSystem) else q_ + by), v_ + step[n:]

    def gradient(self, q: Array, v: Array) -> Array:
        """Dh (2 nv,) of the section.

        Raises:
            ValueError: the section's functions give another size, or numbers that are not finite.
        """
        if self.section.gradient is not None:
            return checked_vector(self.section.gradient(q, v), "the section's gradient", 2 * v.size)
        value = self.section.value
        slope = differences(lambda step: np.array([value(*self.moved(q, v, step))]), 2 * v.size)[0]
        return checked_vector(slope, "the section's gradient, by differences,", 2 * v.size)

    def directions(self, q: ArrayLike, v: ArrayLike) -> Array:
        """An orthonormal basis (2 nv, 2 nv − 1) of the section's tangent space at (q, v)."""
        q_, v_ = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        return np.asarray(null_space(self.gradient(q_, v_)[None]))

    def derivative(
        self, q: ArrayLike, v: ArrayLike, directions: ArrayLike | None = None, found: Return | None = None
    ) -> PiecewiseLinear:
        """DP at a state of the section, in coordinates of its tangent space.

        The flow's Bouligand derivative, ended at the section: (1 − F Dh/(Dh F)) Dφ, F and Dh at the return.

        Args:
            q, v: a state of the section.
            directions: (2 nv, k), columns within the tangent space of the section, whose coefficients are the
                coordinates; by default an orthonormal basis of all that keeps closed contacts closed. Fewer leave
                out what a symmetry shifts (how far a walker has come) or what does not change (a parameter that is a
                coordinate).
            found: the return of (q, v), if it is there already.

        Returns:
            The map (k,) to (k,), or the reason why there is none: GRAZING where the section is not crossed, else that
            of an event on the way.

        Raises:
            ValueError: directions of a wrong shape, that leave the section or depend on each other, or that mix with
                what they leave out; as :meth:`__call__`.
        """
        q_, v_ = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        found = self(q_, v_) if found is None else found
        outcome = outcome_derivative(found.execution)
        if not outcome.map.valid:
            return outcome.map
        here, there = self.gradient(q_, v_), self.gradient(found.q, found.v)
        rate = float(there @ outcome.field)
        run = found.execution
        height = max(abs(self.section.value(a, b)) for a, b in zip(run.q, run.v, strict=True))
        if abs(rate) * found.time <= _CROSSING * height:
            return PiecewiseLinear(Validity.GRAZING, "the section is touched without being crossed")
        ended = np.eye(there.size) - np.outer(outcome.field, there) / rate
        closed = outcome.tangent_before
        everything = closed @ null_space((here @ closed)[None])
        chosen = everything if directions is None else _checked(directions, here, everything)
        left, rest = np.linalg.pinv(chosen), everything - chosen @ (np.linalg.pinv(chosen) @ everything)
        pieces = []
        for piece in outcome.map.pieces:
            whole = ended @ piece.matrix
            after, size = whole @ chosen, float(np.abs(whole).max()) or 1.0
            cone = unit_rows(piece.cone @ chosen, 1.0)
            driven = max(np.abs(left @ whole @ rest).max(initial=0.0), np.abs(piece.cone @ rest).max(initial=0.0))
            if directions is not None and driven > _APART * size:
                strays = np.abs(after - chosen @ (left @ after)).max(initial=0.0)
                if strays > _APART * size:
                    raise ValueError(
                        f"the directions are driven by what they leave out (by {driven:.3g}), and drive it themselves "
                        f"(by {strays:.3g}): a map of their own they have not"
                    )
            if has_interior(cone):
                pieces.append(Piece(left @ after, cone, piece.word))
        return PiecewiseLinear(Validity.VALID, "", tuple(pieces))


def _checked(directions: ArrayLike, here: Array, everything: Array) -> Array:
    given = np.array(directions, dtype=np.float64)
    if given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or given.shape[0] != here.size or not np.isfinite(given).all():
        raise ValueError(f"directions have shape {given.shape}; finite ones of ({here.size}, k) are needed")
    size = np.linalg.norm(given, axis=0)
    if not given.shape[1] or np.linalg.matrix_rank(given) < given.shape[1]:
        raise ValueError("directions must be independent")
    if np.abs(given - everything @ (everything.T @ given)).max() > 1e-6 * size.max():
        raise ValueError("directions must lie within the section's tangent space and keep closed contacts closed")
    return given


def _ended(run: Execution, k: int, part: ModeInterval, time: float) -> Return:
    """The execution up to a time within its interval k."""
    q, v = part.at(time)
    i = bisect_right(part.times.tolist(), time)
    if part.times[i - 1] == time:
        i -= 1
    kept = max(i, 1)
    last = replace(
        part,
        times=np.append(part.times[:kept], time),
        q=np.vstack((part.q[:kept], q)),
        v=np.vstack((part.v[:kept], v)),
        dense=part.dense[:kept],
    )
    moves = [event for event in run.events if event.kind.value != "grazing"][:k]
    grazes = [event for event in run.events if event.kind.value == "grazing" and event.time <= time]
    events = tuple(sorted([*moves, *grazes], key=lambda event: event.time))
    return Return(time, q, v, replace(run, intervals=(*run.intervals[:k], last), events=events))
