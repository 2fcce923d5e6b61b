"""Outcomes of every order in which contacts can touch, by chains of impacts with friction and restitution."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.mechanics.contact_space import contact_space
from hybrid_contact_ros.kernels.stability.chain_records import chain_log, chain_scratch, chain_state
from hybrid_contact_ros.kernels.stability.impact_chain import impact_chain
from hybrid_contact_ros.mechanics.contact_sets import contact_set, counts, not_negative
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.workspace import OFFLINE_STEPS

Array = NDArray[np.float64]

MOST_CONTACTS = 6
"""Contacts whose orders are listed: 720."""
_SOLVED = int(Status.SOLVED)
_TOLERANCE = 1e-9  # of the scaled residual of an impact
_ACCEPTED = 1e-6  # a larger residual is told as INACCURATE
_CLOSED = 1e-3  # of the fastest normal velocity: what is closed approaches no faster
_RESTS = 1e-6  # of the fastest contact velocity: a contact that is slower along its normal rests


class ChainImpact(NamedTuple):
    """One impact of a chain."""

    struck: frozenset[int]
    """Contacts that touched."""
    rests: frozenset[int]
    """Contacts that rest on the ground after it."""


def word_of(chain: Iterable[ChainImpact]) -> str:
    """A chain in one line: what struck, and what rests after it; ``0→{0} 1→{1}``."""
    return " ".join(
        f"{'+'.join(map(str, sorted(step.struck)))}→{{{','.join(map(str, sorted(step.rests)))}}}" for step in chain
    )


@dataclass(frozen=True, slots=True, eq=False)
class OrderOutcome:
    """Where one order of touchdowns leads.

    Attributes:
        order: the contacts as they come to touch if no impact changes that; empty where all touch together.
        velocity: v⁺ (nv,). impulse: Λ (m, 1 + d), N s, of all impacts.
        chain: the impacts in turn, the word of this order. A contact that an earlier impact lifts does not strike, and
            one that comes back strikes again.
        status: SOLVED; STEP_LIMIT where the cap cut the chain while contacts still approached; INACCURATE.
        residual: the largest of the impacts, scaled.
    """

    order: tuple[int, ...]
    velocity: Array
    impulse: Array
    chain: tuple[ChainImpact, ...]
    status: Status
    residual: float

    @property
    def cut(self) -> bool:
        """Whether the cap on impacts cut the chain."""
        return self.status == Status.STEP_LIMIT

    @property
    def word(self) -> str:
        """The chain in one line, :func:`word_of`."""
        return word_of(self.chain)


@dataclass(frozen=True, slots=True, eq=False)
class OrderOutcomes:
    """The outcomes of all orders.

    Attributes:
        orders: one outcome for each order, in lexicographic order of ``contacts`` as given.
        together: the outcome of touching at one instant.
        distances: (k + 1, k + 1), √J, kinetic distances ‖v_a − v_b‖_M; the last row is ``together``.
        jump: √J, the largest ‖v⁺ − v⁻‖_M among the orders.
        margin: the largest distance between two orders over ``jump``; 0 where nothing jumps.
    """

    orders: tuple[OrderOutcome, ...]
    together: OrderOutcome
    distances: Array
    jump: float
    margin: float

    @property
    def cut(self) -> bool:
        """Whether a chain of the orders was cut."""
        return any(outcome.cut for outcome in self.orders)

    @property
    def solved(self) -> bool:
        """Whether every chain of the orders ended with all impacts solved."""
        return all(outcome.status == Status.SOLVED for outcome in self.orders)


def _doublings(size: float) -> int:
    """The exponent e for which size · 2⁻ᵉ lies between a half and one."""
    return math.frexp(size)[1]


class _Chains:
    """The chains of one problem, with memory made once.

    Impacts are homogeneous in masses and velocities. Both are scaled by powers of two, which changes no digit, so that
    no energy over- or underflows.
    """

    def __init__(self, problem: ContactProblem, max_impacts: int) -> None:
        m, d = problem.contacts, problem.tangents
        counts(max_impacts=max_impacts)
        self.problem = problem
        nv, n = problem.nv, m * (1 + d)
        self._heavy = 2 * (_doublings(float(np.abs(problem.mass).max())) // 2)  # even, for its root is a scale too
        mass, bias = np.ldexp(problem.mass, -self._heavy), np.ldexp(problem.bias_force, -self._heavy)
        self.rows, self.root = problem.jacobian(), np.zeros((nv, nv))
        G, free, drift = np.zeros((n, n)), np.zeros(n), problem.jacobian_drift.reshape(n).copy()
        half = np.zeros((n + 1, nv))
        if contact_space(mass, bias, self.rows, drift, self.root, half, G, free) != _SOLVED:
            raise ValueError("mass is singular; give massless limbs a small inertia, or leave them out")
        self.lift = np.linalg.solve(mass, self.rows.T)
        # Own copies: a read-only array would be another type for the kernel.
        material = problem.friction.copy(), problem.restitution.copy()
        self._problem = (d, max_impacts, OFFLINE_STEPS, _TOLERANCE, G, free, *material)
        self._scratch = chain_scratch(m, d)
        self._log = chain_log(max_impacts, m)

    def follow(
        self, velocity: Array, closed: Iterable[int], times: dict[int, float], order: tuple[int, ...]
    ) -> OrderOutcome:
        """The chain of contacts that would touch at ``times``."""
        problem = self.problem
        m, d = problem.contacts, problem.tangents
        rests, due = np.zeros(m, np.uint8), np.full(m, math.inf)
        rests[sorted(closed)] = 1
        for contact, time in times.items():
            due[contact] = time
        state, fast = chain_state(m, d), _doublings(float(np.abs(velocity).max(initial=0.0)))
        before = self.rows @ np.ldexp(velocity, -fast)
        code, count, residual = impact_chain(*self._problem, rests, due, before, *self._scratch, *state, *self._log)
        status = Status(code)
        if status == Status.INACCURATE and residual <= _ACCEPTED:
            status = Status.SOLVED
        chain = tuple(
            ChainImpact(*(frozenset(np.flatnonzero(row).tolist()) for row in rows))
            for rows in zip(self._log.struck[:count], self._log.rests[:count], strict=True)
        )
        after = velocity + np.ldexp(self.lift @ state.impulse, fast)
        with np.errstate(over="ignore"):  # an impulse may be larger than any number
            impulse = np.ldexp(state.impulse, fast + self._heavy).reshape(m, 1 + d)
        return OrderOutcome(order, after, impulse, chain, status, residual)

    def outcomes(self, velocity: Array, contacts: tuple[int, ...], closed: frozenset[int]) -> OrderOutcomes:
        """All orders of the contacts, and all at once."""
        orders = tuple(
            self.follow(velocity, closed, {k: float(place) for place, k in enumerate(order)}, order)
            for order in permutations(contacts)
        )
        together = self.follow(velocity, closed, dict.fromkeys(contacts, 0.0), ())
        jumps = np.array([outcome.velocity - velocity for outcome in (*orders, together)])
        fast = _doublings(float(np.abs(velocity).max(initial=0.0)))
        half = np.ldexp(jumps, -fast) @ np.tril(self.root)
        distances = np.sqrt(((half[:, None] - half[None]) ** 2).sum(axis=2))
        jump = float(np.sqrt((half[:-1] ** 2).sum(axis=1)).max(initial=0.0))
        between = float(distances[:-1, :-1].max(initial=0.0))
        margin, back = between / jump if jump > 0.0 else 0.0, fast + self._heavy // 2
        with np.errstate(over="ignore"):
            return OrderOutcomes(orders, together, np.ldexp(distances, back), float(np.ldexp(jump, back)), margin)


def order_outcomes(
    problem: ContactProblem,
    contacts: Iterable[int],
    closed: Iterable[int] | None = None,
    max_impacts: int = 32,
) -> OrderOutcomes:
    """Follow every order in which ``contacts`` can touch, and the one where they touch together.

    The touchdowns come within so short a time that nothing moves between them, one at a time and evenly spaced. Each is
    an impact, Halm (31) with a round friction cone, of the contact and of all that rest, then Poisson's restitution. A
    contact that an impact throws off leaves the ground; where a later impact turns it round it touches again, after the
    time that this takes. (For two contacts that is the same whatever the time between them; for three or more it may
    depend on the times' ratio, which :func:`~hybrid_contact_ros.sensitivity.words.touchdown_words` follows.) Between
    impacts a resting contact whose force would have to pull leaves too.

    Pace (13), Δ_ij Δ_i q̇⁻, keeps contact i closed while j touches. That is the simultaneous outcome for every order, as
    plastic impacts are nested projections; what makes orders differ is the contact that leaves.

    Args:
        problem: at the configuration where the contacts touch, with v⁻; its gaps are not used, its bias force and drift
            tell what resting contacts carry.
        contacts: those that touch, in any order; up to six. One that does not approach rests from its turn on.
        closed: contacts that rest on the ground before. By default those without gap that neither approach nor leave.
        max_impacts: of one chain; with restitution contacts can strike without end.

    Raises:
        ValueError: an index out of range or in both sets, too many contacts, no impacts, or a singular M.

    Example:
        A bar falls flat on its ends. Whichever comes first leaves again, and the bar turns.

        >>> import numpy as np
        >>> from hybrid_contact_ros.sensitivity.orders import order_outcomes
        >>> ends = np.array([[1.0, 0.5], [1.0, -0.5]])
        >>> bar = ContactProblem(np.eye(2), np.array([-1.0, 0.0]), ends, np.zeros((2, 1, 2)), np.zeros(2))
        >>> found = order_outcomes(bar, [0, 1])
        >>> [(x.word, x.velocity.round(3).tolist()) for x in found.orders]
        [('0→{0} 1→{1}', [0.12, 0.24]), ('1→{1} 0→{0}', [0.12, -0.24])]
        >>> round(found.margin, 3)
        0.419
    """
    given = contacts if isinstance(contacts, (str, bytes)) or not isinstance(contacts, Iterable) else tuple(contacts)
    contact_set("contacts", given, problem.contacts)
    chosen = tuple(dict.fromkeys(int(k) for k in given))
    if len(chosen) > MOST_CONTACTS:
        raise ValueError(f"contacts are {len(chosen)}; the orders of at most {MOST_CONTACTS} are listed")
    return _Chains(problem, max_impacts).outcomes(problem.velocity, chosen, _closed(problem, chosen, closed))


def follow_impact(problem: ContactProblem, scope: Iterable[int]) -> OrderOutcome:
    """The single impact of the contacts of ``scope``, all of which touch, without restitution and what follows.

    Raises:
        ValueError: an index out of range, or a singular M.
    """
    struck = contact_set("scope", scope, problem.contacts)
    plastic = problem.replace_trusted(restitution=np.zeros(problem.contacts))
    return _Chains(plastic, 1).follow(problem.velocity, (), dict.fromkeys(sorted(struck), 0.0), ())


def order_sensitive_pairs(
    problem: ContactProblem,
    tolerance: float = 1e-6,
    contacts: Iterable[int] | None = None,
    closed: Iterable[int] | None = None,
    max_impacts: int = 32,
) -> list[tuple[int, int, float]]:
    """List the pairs (i, j, margin), i < j, whose order of impact changes the outcome: margin > ``tolerance``.

    The margin is the largest kinetic distance between the two orders over the largest jump
    (:func:`order_outcomes`). Both orders are followed twice where ``contacts`` are more than two: before the others
    touch, and after they have; the larger margin counts. A chain that was cut counts with the outcome so far.

    Args:
        contacts: those that touch; by default all that are not ``closed``. Others as of :func:`order_outcomes`.

    Raises:
        ValueError: as :func:`order_outcomes`, or for a tolerance that is none.
    """
    not_negative(tolerance=tolerance)
    m = problem.contacts
    if contacts is None:
        resting = _closed(problem, (), closed)
        chosen = [k for k in range(m) if k not in resting]
    else:
        chosen = sorted(contact_set("contacts", contacts, m))
        resting = _closed(problem, tuple(chosen), closed)
    chains, found = _Chains(problem, max_impacts), []
    for i, j in combinations(chosen, 2):
        margin = chains.outcomes(problem.velocity, (i, j), resting).margin
        others = [k for k in chosen if k not in (i, j)]
        if others:
            first = chains.follow(problem.velocity, resting, dict.fromkeys(others, 0.0), ())
            rests = first.chain[-1].rests if first.chain else resting
            margin = max(margin, chains.outcomes(first.velocity, (i, j), rests - {i, j}).margin)
        if margin > tolerance:
            found.append((i, j, margin))
    return found


def _closed(problem: ContactProblem, contacts: tuple[int, ...], closed: Iterable[int] | None) -> frozenset[int]:
    """The contacts that rest before; by default those that touch, and neither approach nor leave."""
    if closed is not None:
        given = contact_set("closed", closed, problem.contacts)
        both = sorted(given & set(contacts))
        if both:
            raise ValueError(f"contacts {both} are both closed and to touch")
        speeds = problem.normal_jacobian @ problem.velocity
        approaching = [k for k in sorted(given) if speeds[k] < -_CLOSED * float(np.abs(speeds).max())]
        if approaching:
            raise ValueError(
                f"contact {approaching[0]} is closed and approaches at {-speeds[approaching[0]]:.3g} m/s: name it "
                "among those that touch, or give a velocity that leaves it at rest"
            )
        return given
    rate = np.abs(problem.normal_jacobian @ problem.velocity)
    resting = _RESTS * float(np.abs(problem.jacobian() @ problem.velocity).max(initial=0.0))
    still = (problem.gap <= 1e-9) & (rate <= resting)
    return frozenset(np.flatnonzero(still).tolist()) - frozenset(contacts)
