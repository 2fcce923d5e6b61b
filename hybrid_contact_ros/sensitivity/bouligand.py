"""The Bouligand derivative of the flow where contacts touch together (Pace, §5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.contact_sets import contact_set, counts, finite, not_negative
from hybrid_contact_ros.sensitivity.bouligand_assumptions import orthogonal, plastic_and_frictionless, touch_together
from hybrid_contact_ros.sensitivity.bouligand_selection import Corner, InadmissibleError, Selection, count_orders
from hybrid_contact_ros.sensitivity.cones import has_interior
from hybrid_contact_ros.sensitivity.contact_mode import RESTING
from hybrid_contact_ros.sensitivity.gradients import problem_gradient
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity
from hybrid_contact_ros.sensitivity.touchdown import TOUCHING
from hybrid_contact_ros.systems.robot import Effort, as_system

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BouligandDerivative:
    """The piecewise linear derivative of outcomes, or why there is none.

    It maps a direction (u, δq, δv) (1 + 2 nv,), before the instant of the touchdowns, to the change (2 nv,) of the
    outcome: x(t + αu) from x + α(δq, δv) is x(t) + α apply(u, δq, δv) + o(α) for α ↓ 0 (Pace (24)). Directions are
    those of the tangent space, and u is the time budget, s: how much longer the motion lasts. At the instant itself
    both sides are continued to it by the motions before and after all touchdowns, as in a saltation matrix.

    Attributes:
        validity: the attributes below are empty or None unless it is VALID. why: in words, empty if VALID.
        parts: in the order of time: instants of touchdowns, and matrices (2 nv, 2 nv) of what lies between them.
        field: F (2 nv,) at the end, the column of the time budget.
    """

    validity: Validity
    why: str
    parts: tuple[Corner | Array, ...] = ()
    field: Array | None = None

    @property
    def valid(self) -> bool:
        """Whether there is a derivative."""
        return self.validity is Validity.VALID

    @property
    def corners(self) -> list[Corner]:
        """The instants, each with ``contacts``, ``times`` (∂τ/∂x, (n, 2 nv), s) and the state ``after`` it."""
        return [part for part in self.parts if isinstance(part, Corner)]

    def required(self) -> Array:
        """F (2 nv,) at the end.

        Raises:
            ValueError: there is no derivative; the text says why.
        """
        if self.field is None:
            raise ValueError(f"no Bouligand derivative of these touchdowns ({self.validity.value}): {self.why}")
        return self.field

    def apply(self, direction: ArrayLike, heights: Mapping[int, float] | None = None) -> Array:
        """The directional derivative (2 nv,) along (u, δq, δv): n contacts need n + 1 motions, not n! orders.

        Args:
            direction: (1 + 2 nv,). heights: by contact, how much higher its ground is, m; at all instants alike. Of the
                parameters these alone matter at the instant: controls act between events, friction is absent, and a
                restitution above 0 leads to chatter at once. What heights do in the matrices between instants is not in
                here; ``orbits.directional.directional_flow`` has that, and controls.

        Raises:
            ValueError: there is no derivative, another shape, or an order that is not admissible (only where the
                instant has more touchdowns than were examined beforehand).
        """
        return self._follow(direction, heights or {})[0]

    def orders(self, direction: ArrayLike, heights: Mapping[int, float] | None = None) -> tuple[tuple[int, ...], ...]:
        """The order of touchdowns along a direction, for each instant.

        Raises:
            ValueError: as :meth:`apply`.
        """
        return self._follow(direction, heights or {})[1]

    def _follow(self, direction: ArrayLike, heights: Mapping[int, float]) -> tuple[Array, tuple[tuple[int, ...], ...]]:
        field, given = self.required(), np.asarray(direction, dtype=np.float64)
        if given.shape != (1 + field.size,):
            raise ValueError(f"the direction (u, δq, δv) has shape {given.shape}; ({1 + field.size},) is needed")
        change, orders = given[1:], []
        for part in self.parts:
            if isinstance(part, Corner):
                try:
                    change, order = part.follow(change, heights)
                except InadmissibleError as error:
                    raise ValueError(f"no derivative in this direction ({error.validity.value}): {error.why}") from None
                orders.append(order)
            else:
                change = part @ change
        return given[0] * field + change, tuple(orders)

    def selections(self, most: int = 720) -> list[Selection]:
        """The linear pieces (Pace (25)-(26)), each with the cone of directions that it holds in.

        With several instants those are left out whose cones are empty. Pieces may be equal.

        Raises:
            ValueError: there is no derivative, there are more than ``most`` orders, or one is not admissible.
        """
        counts(most=most)
        field = self.required()
        count = count_orders(self.corners)
        if count > most:
            raise ValueError(f"there are {count} orders, more than {most}; apply() needs none of these")
        found = [Selection((), np.eye(field.size), np.zeros((0, field.size)))]
        for part in self.parts:
            if not isinstance(part, Corner):
                found = [Selection(s.orders, part @ s.matrix, s.cone) for s in found]
                continue
            following = []
            try:
                for order, matrix, rows in part.orders():
                    for s in found:
                        cone = np.vstack((s.cone, rows @ s.matrix))
                        if not s.orders or has_interior(cone):
                            following.append(Selection((*s.orders, order), matrix @ s.matrix, cone))
            except InadmissibleError as error:
                raise ValueError(f"an order has no derivative ({error.validity.value}): {error.why}") from None
            found = following
        return [Selection(s.orders, np.column_stack((field, s.matrix)), s.cone) for s in found]

    def then(
        self, later: BouligandDerivative | Saltation | ArrayLike, field: ArrayLike | None = None
    ) -> BouligandDerivative:
        """The chain rule (Scholtes, Theorem 3.1.1): this, and then another derivative.

        Args:
            later: of what follows: a Bouligand derivative, a saltation, or a matrix (2 nv, 2 nv), as ``matrix`` of
                ``variational_flow``. field: F (2 nv,) at its end; by default that of ``later``, or what a matrix makes
                of the one here, which is right where forces do not depend on time.

        Returns:
            A BouligandDerivative; where one of the two is refused, that one's refusal.
        """
        if not self.valid:
            return self
        if isinstance(later, BouligandDerivative):
            if not later.valid:
                return later
            end = later.field if field is None else np.asarray(field, dtype=np.float64)
            return BouligandDerivative(Validity.VALID, "", (*self.parts, *later.parts), end)
        matrix = self._matrix(later)
        end = matrix @ self.required() if field is None else np.asarray(field, dtype=np.float64)
        return BouligandDerivative(Validity.VALID, "", (*self.parts, matrix), end)

    def after(self, earlier: Saltation | ArrayLike) -> BouligandDerivative:
        """The chain rule: a saltation or matrix (2 nv, 2 nv) first, and then this."""
        if not self.valid:
            return self
        return BouligandDerivative(Validity.VALID, "", (self._matrix(earlier), *self.parts), self.field)

    def _matrix(self, part: Saltation | ArrayLike) -> Array:
        size = self.required().size
        matrix = part.required() if isinstance(part, Saltation) else np.array(part, dtype=np.float64)
        if matrix.shape != (size, size):
            raise ValueError(f"the matrix has shape {matrix.shape}; ({size}, {size}) is needed")
        return matrix


def bouligand_derivative(
    system: Any,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Iterable[int] | None = None,
    closed: Iterable[int] = (),
    *,
    effort: Effort = None,
    time: float = 0.0,
    tolerance: float = 1e-9,
    resting: float = RESTING,
    touching: float = TOUCHING,
    examined: int = 6,
) -> BouligandDerivative:
    """How outcomes change with the state before contacts touch together, plastic and frictionless (Pace (15)-(26)).

    Nearby executions have touchdowns in n! orders. Where constraints are orthogonal (Pace, Assumption 4) outcomes are
    continuous across them, and their derivative is linear in each cone of directions with one order:

        D_order = [F⁺ | Ξ_n … Ξ_1],      Ξ_k = DR + (F_k − DR F_{k−1}) Dφ_k / (Dφ_k v⁻),

    with R the impact of contact k and of all that are closed, and F_k = (v_k, v̇_k) after the first k touchdowns. That
    is Pace (18)-(21), whose time budget comes to the same: what a touchdown takes from it, the last flow gives back.

    Two feet at 1 m/s brake a load by the product of their speeds, until the first of them lands:

    >>> import sympy
    >>> from hybrid_contact_ros import Constraint, LagrangianSystem, bouligand_derivative
    >>> a, b, c = sympy.symbols("a b c")
    >>> feet, weight = [Constraint("left", a), Constraint("right", b)], 9.81 * (a + b)
    >>> brake = lambda t, q, v, mode: [0.0, 0.0, v[0] * v[1]]
    >>> landing = bouligand_derivative(
    ...     LagrangianSystem("feet", [a, b, c], sympy.eye(3), weight, feet, brake), q=[0, 0, 0], v=[-1, -1, 0]
    ... )
    >>> (landing.apply([0, 0.02, 0.03, 0, 0, 0, 0]) + 0.0).round(6).tolist()  # the left one lands first, after 20 ms
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.02]
    >>> landing.orders([0, 0.05, 0.03, 0, 0, 0, 0]), len(landing.selections())
    (((1, 0),), 2)

    Args:
        system: a RigidBodyModel, or anything that ``simulate`` takes. q, v: at the instant, v before it.
        contacts: that touch; by default all that are at their surface and approach. closed: contacts that rest before.
        effort: of a RigidBodyModel. time: s, for forces that depend on it.
        tolerance: cosines in M⁻¹ up to this are zero. resting: m/s, a slower contact is at rest. touching: m, a smaller
            gap is none.
        examined: up to so many contacts all orders are looked at in advance (2ⁿ motions); of more only those that
            directions take.

    Returns:
        A record that is applied to directions, composed with other derivatives, and says its validity. It refuses
        SIMULTANEOUS (constraints that are not orthogonal, friction: outcomes may jump between orders, see
        :func:`~.words.touchdown_words`), ZENO (restitution: chatter; Pace, Remarks 7 and 13), GRAZING (a contact
        without normal speed, one released by a touchdown and pressed again by the next), NOT_TOUCHING, NOT_UNIQUE,
        SINGULAR.

    Raises:
        ValueError: an unknown contact, one that is given as both, a state of a wrong size or with numbers that are not
            finite.
    """
    not_negative(tolerance=tolerance, resting=resting, touching=touching)
    counts(least=0, examined=examined)
    finite(time=time)
    known = as_system(system, effort)
    q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
    if not (np.isfinite(q_).all() and np.isfinite(v_).all()):
        raise ValueError("q and v must be finite")
    held = frozenset(closed)
    gradient = problem_gradient(known, q_, v_, time, held)
    problem = gradient.problem
    rests = contact_set("closed", held, problem.contacts)
    rate = problem.normal_jacobian @ problem.velocity
    if contacts is None:
        near = (np.abs(problem.gap) <= touching) & (rate < -resting)
        cluster = [int(i) for i in np.flatnonzero(near) if i not in rests]
    else:
        cluster = sorted(contact_set("contacts", contacts, problem.contacts))
    if rests & set(cluster):
        raise ValueError(f"contacts {sorted(rests & set(cluster))} are given as touching and as closed")
    reason = (
        touch_together(problem, cluster, rests, rate, resting, touching)
        or plastic_and_frictionless(problem, [*cluster, *sorted(rests)])
        or orthogonal(gradient, cluster, rests, tolerance)
    )
    if reason is not None:
        return BouligandDerivative(*reason)
    corner = Corner(known, q_, v_, time, tuple(cluster), rests, problem, resting)
    try:
        pulled = rests - corner.side(frozenset()).mode
        if pulled:
            why = f"forces lift contact {min(pulled)} already before the touchdowns: it is not closed"
            return BouligandDerivative(Validity.NOT_TOUCHING, why)
        if len(cluster) <= examined:
            corner.examine()
        return BouligandDerivative(Validity.VALID, "", (corner,), corner.after.field)
    except InadmissibleError as error:
        return BouligandDerivative(error.validity, error.why)
