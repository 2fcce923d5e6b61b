"""What an execution needs of a system, and an adapter for systems that say less."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.robot import as_system

Array = NDArray[np.float64]
_STILL = 1e-9  # by which gaps at two times may differ, m, or relative to the gap


class System(Protocol):
    """A mechanical system; the forces may depend on time and on which contacts are closed (J §4.6)."""

    @property
    def contact_names(self) -> tuple[str, ...]: ...
    @property
    def nv(self) -> int: ...
    def problem(
        self, q: ArrayLike, v: ArrayLike, time: float = 0.0, mode: frozenset[int] = frozenset()
    ) -> ContactProblem: ...
    def gap(self, q: ArrayLike) -> Array: ...


class AdaptedSystem:
    """A system of any kind behind the interface of :class:`System`.

    Args:
        system: has ``problem(q, v)``. Arguments ``time`` and ``mode`` are passed where it takes them; ``gap``,
            ``contact_names`` and ``nv`` are taken from its problems where it lacks them. Where it has
            ``limb_acceleration(q, v, time, mode) -> (nv,)``, that moves its massless limbs in the air (J A6). Where v
            is not q̇ (quaternions), it has ``configuration_rate(q, v) -> (nq,)``, which is q̇, and
            ``integrate(q, step) -> (nq,)``, which moves q by ``step`` (nv,), a velocity times a time, and with a step
            of zero brings a q that rounding took off its manifold back to it; ``checked_state(q, v)``, if any, checks
            both. A RigidBodyModel is wrapped in a :class:`~hybrid_contact_ros.systems.robot.RobotSystem`.
        q, v: a state, to ask for sizes.

    Attributes:
        nq, nv: sizes of q and v. curved: whether v is not q̇. forced: whether forces may depend on time or mode.
            Friction and restitution are not here: they may differ from state to state, and are those of each problem.

    Raises:
        ValueError: no ``problem``, q and v of the wrong sizes or not finite, or q that is not on its manifold.
    """

    def __init__(self, system: Any, q: ArrayLike, v: ArrayLike) -> None:
        system = as_system(system)
        ask = getattr(system, "problem", None)
        if not callable(ask):
            raise ValueError(f"{type(system).__name__} has no problem(q, v); a system with contact problems is needed")
        takes = inspect.signature(ask).parameters
        every = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in takes.values())
        self.system = system
        self._ask: Callable[..., ContactProblem] = ask
        self._time, self._mode = every or "time" in takes, every or "mode" in takes
        self.forced = self._time or self._mode
        self._rate: Any = getattr(system, "configuration_rate", None)
        self._integrate: Any = getattr(system, "integrate", None)
        self.curved = callable(self._rate) and callable(self._integrate)
        check = getattr(system, "checked_state", None)
        q_, v_ = check(q, v) if callable(check) else (_vector("q", q), _vector("v", v))
        self.nq = q_.size
        first = self.problem(q_, v_)
        if v_.size != first.nv or (q_.size != first.nv and not self.curved):
            raise ValueError(
                f"q and v have {q_.size} and {v_.size} numbers for {first.nv} velocities; executions need v = q̇, or a "
                "system that says how q moves (configuration_rate and integrate)"
            )
        self.nv, self.contacts, self.tangents = first.nv, first.contacts, first.tangents
        named = getattr(system, "contact_names", None) or first.names
        self.contact_names = tuple(named) or tuple(str(i) for i in range(first.contacts))
        self.name = str(getattr(system, "name", type(system).__name__))
        self._gap = getattr(system, "gap", None)
        self._gap_time = callable(self._gap) and "time" in inspect.signature(self._gap).parameters
        self._limbs = getattr(system, "limb_acceleration", None)

    def problem(
        self, q: ArrayLike, v: ArrayLike, time: float = 0.0, mode: frozenset[int] = frozenset()
    ) -> ContactProblem:
        """The contact problem at (q, v), with the forces of ``time`` and ``mode``."""
        extra: dict[str, Any] = {}
        if self._time:
            extra["time"] = time
        if self._mode:
            extra["mode"] = mode
        return self._ask(q, v, **extra)

    def gap(self, q: ArrayLike) -> Array:
        """φ(q), (m,)."""
        if self._gap is not None:
            return np.asarray(self._gap(q, time=0.0) if self._gap_time else self._gap(q), dtype=np.float64)
        return self.problem(q, np.zeros(self.nv)).gap

    def check_still(self, q: Array, v: Array, times: Iterable[float]) -> None:
        """See that gaps are functions of q alone: a contact problem has φ̇ = J_n v, and no place for ∂φ/∂t.

        A system with a ``gap(q)`` of its own is not asked about other times; :meth:`same_gap` looks at it on the way.

        Raises:
            ValueError: a gap that differs at one of the ``times``.
        """
        if not (self._gap_time if self._gap is not None else self._time):
            return
        still = self.gap(q)
        for time in times:
            try:  # what a system cannot do at other times is of no concern yet
                found = self.problem(q, v, time).gap if self._gap is None else self._gap(q, time=time)
            except Exception:
                continue
            self.same_gap(still, np.asarray(found, dtype=np.float64))

    def same_gap(self, still: Array, found: Array) -> None:
        """See that gaps of a time are those of q.

        Raises:
            ValueError: one is not.
        """
        moved = np.abs(found - still) > _STILL * np.maximum(1.0, np.abs(still))
        if moved.any():
            name = self.contact_names[int(np.argmax(moved))]
            raise ValueError(
                f"the gap of {name!r} changes with time at one q; make what moves a coordinate of q, with its motion "
                "in v (and a large inertia and the force that drives it, if its motion is prescribed)"
            )

    def listed(self, contacts: Iterable[int]) -> str:
        """Their names, for messages."""
        return ", ".join(self.contact_names[i] for i in sorted(contacts)) or "no contact"

    def configuration_rate(self, q: Array, v: Array) -> Array:
        """q̇ (nq,)."""
        return np.asarray(self._rate(q, v), dtype=np.float64) if self.curved else v

    def integrate(self, q: Array, step: Array) -> Array:
        """q moved by ``step`` (nv,)."""
        return np.asarray(self._integrate(q, step), dtype=np.float64) if self.curved else q + step

    def on_manifold(self, q: Array) -> Array:
        """q, or the configuration nearby where its quaternions are of length 1."""
        return self.integrate(q, np.zeros(self.nv)) if self.curved else q

    def limb_acceleration(self, q: Array, v: Array, time: float, mode: frozenset[int]) -> Array:
        """Accelerations (nv,) that limbs without mass or contact have by themselves (J A6); zero unless given."""
        if self._limbs is None:
            return np.zeros(self.nv)
        return np.asarray(self._limbs(q, v, time, mode), dtype=np.float64)


def _vector(name: str, values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a vector of finite numbers, got {values!r}")
    return array
