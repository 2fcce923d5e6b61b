"""The word-wise affine map of nearly simultaneous touchdowns: one affine map for each sequence of impacts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.mechanics.contact_sets import contact_set, counts
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.checked import checked_covariance, checked_vector
from hybrid_contact_ros.sensitivity.cones import certain_rows, gaussian_measure, irredundant
from hybrid_contact_ros.sensitivity.orders import ChainImpact, word_of
from hybrid_contact_ros.sensitivity.saltation import Saltation
from hybrid_contact_ros.sensitivity.word_tree import Branch, WordTree
from hybrid_contact_ros.systems.robot import Effort, RobotSystem, as_system

Array = NDArray[np.float64]

_CORNER_STEPS = 20  # of Newton's method towards the corner; three or four are the rule
_CORNER = 1e-10  # m: gaps below this are closed
_RESTS = 1e-6  # of the fastest contact velocity: a contact that is slower along its normal rests


@dataclass(frozen=True, slots=True, eq=False)
class TouchdownWord:
    """One sequence of impacts, and the map of all states that take it.

    Attributes:
        chain: the impacts in turn: what struck, and what rests after it.
        velocity, acceleration: v⁺ and v̇ (nv,) at the corner, after the last impact.
        saltations: of these impacts at the corner, in turn. matrix: S (2 nv, 2 nv), their product, or None where there
            is none; ``why`` says so then.
        cone: (r, 2 nv): the states of this word are those with cone @ δx ≥ 0.
        gap_cone: (r, k): the same cone in the gaps of the cluster at the corner's instant.
        time: (k,): the time of the last impact is time @ δφ, of the same gaps; s/m.
        why: empty, or the reason: the cap on impacts, or an impact without a derivative. validity: the same as a code.
    """

    chain: tuple[ChainImpact, ...]
    velocity: Array
    acceleration: Array
    saltations: tuple[Saltation, ...]
    matrix: Array | None
    cone: Array
    gap_cone: Array
    time: Array
    why: str
    validity: EventValidity

    @property
    def word(self) -> str:
        """The chain in one line, :func:`~.orders.word_of`."""
        return word_of(self.chain)

    def parameter_column(self, parameter: tuple[str, int]) -> Array:
        """∂x⁺/∂p (2 nv,) at the same time, p = ("friction" | "restitution" | "height", contact); a "height" is that of
        the contact's ground, m.

        Raises:
            ValueError: the word has no map.
        """
        column = np.zeros(2 * self.velocity.size)
        for jump in self.saltations:
            column = jump.apply(column)
            if jump.parameter_matrix is not None and parameter in jump.parameters:
                column += jump.parameter_matrix[:, jump.parameters.index(parameter)]
        return column


@dataclass(frozen=True, slots=True, eq=False)
class TouchdownWords:
    """All words of a cluster of touchdowns, about the corner where they come together.

    A deviation δx = (δq, δv) (2 nv,), in the tangent space at the corner, is that of the state which the motion without
    these impacts has at the corner's instant, before or after its touchdowns. The word's map gives the deviation of the
    state after the impacts at the same instant, continued by the motion after them.

    Attributes:
        q, v: the corner, with v⁻. contacts: of the cluster. closed: contacts that rest before.
        moved: √J s, ‖q_corner − q‖_M: how far the given configuration was moved.
        words: with cones that cover all δx and overlap in their boundaries only.
        times: (k, 2 nv), ∂τ_i/∂x of the contacts if none struck before, s. speeds: (k,), m/s, at which they approach.
        spread: s. For touchdowns that are apart by less, forces change the speed of no touchdown by more than a tenth,
            which is what the map neglects; its error grows with the square of the spread.
    """

    q: Array
    v: Array
    contacts: tuple[int, ...]
    closed: frozenset[int]
    moved: float
    words: tuple[TouchdownWord, ...]
    times: Array
    speeds: Array
    spread: float

    @property
    def complete(self) -> bool:
        """Whether every word has its map."""
        return all(word.matrix is not None for word in self.words)

    def word_of(self, deviation: ArrayLike) -> TouchdownWord:
        """The word that a state with this δx (2 nv,) takes.

        Raises:
            ValueError: another size, or numbers that are not finite.
        """
        x = checked_vector(deviation, "deviation", 2 * self.v.size)
        return max(self.words, key=lambda word: float((word.cone @ x).min(initial=np.inf)))

    def after(self, deviation: ArrayLike) -> tuple[Array, Array]:
        """(δq⁺, v⁺), (nv,) each, of a state with this δx: v⁺_word + S_word δx.

        Raises:
            ValueError: the word has no map; another size, or numbers that are not finite.
        """
        x = checked_vector(deviation, "deviation", 2 * self.v.size)
        word = self.word_of(x)
        if word.matrix is None:
            raise ValueError(f"the word {word.word!r} has no map: {word.why}")
        change = word.matrix @ x
        return change[: self.v.size], word.velocity + change[self.v.size :]

    def probabilities(self, covariance: ArrayLike, mean: ArrayLike | None = None) -> Array:
        """The Gaussian measure of each word's cone, in the order of ``words``; they add up to 1.

        Args:
            covariance: of δx (2 nv, 2 nv), symmetric, not indefinite. mean: of δx (2 nv,), 0 by default.

        Raises:
            ValueError: other shapes, numbers that are not finite, a covariance that is not symmetric or is indefinite,
                a mean on the border of two words whose order the covariance leaves certain.
        """
        size = 2 * self.v.size
        sigma, factor = checked_covariance(covariance, size, "covariance")
        centre = np.zeros(size) if mean is None else checked_vector(mean, "mean", size)
        for word in self.words:
            certain_rows(irredundant(word.cone), centre, sigma, factor)
        # Gaps are what words depend on: as many numbers as there are contacts, and one less that matters.
        gaps = self.times * self.speeds[:, None]
        spread, middle = gaps @ sigma @ gaps.T, gaps @ centre
        return np.array([gaussian_measure(word.gap_cone, middle, spread) for word in self.words])


def touchdown_words(
    system: Any,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Iterable[int],
    closed: Iterable[int] = (),
    effort: Effort = None,
    max_impacts: int = 12,
    max_words: int = 2000,
) -> TouchdownWords:
    """Follow every sequence of impacts that states near a corner can take, with the affine map of each.

    At the corner the contacts of the cluster touch together. It is made from (q, v) by the smallest change of
    configuration in the kinetic metric that closes their gaps, −M⁻¹Jᵀ(JM⁻¹Jᵀ)⁻¹φ, repeated until they are closed; v
    stays, but for what would drive ``closed`` contacts into the ground.

    To first order in δx a contact touches at −φ_i/φ̇_i, and after each impact the remaining times follow from the
    velocities after it; a contact that an impact lifts may not be hit at all, or come back. Times are linear in the
    gaps δφ of the cluster, and so is what comes first: words are the leaves of a tree, with cones in the space of δφ
    (that all touch later changes nothing: one dimension less). Branches with empty cones are pruned. Contacts that no
    force would hold after an impact leave. Each impact multiplies the map by its saltation matrix at the corner,

        Ξ = DR + (F⁺ − DR F⁻) Dφ / (Dφ F⁻),      S_word = Ξ_last … Ξ_1,

    with R the impact in its course (stick, slip, restitution) and F = (v, v̇) before and after it, friction and all
    other contacts included. Impacts are simultaneous, Halm (31), as in ``simulate`` with ``law="simultaneous"``; its
    default law slides otherwise.

    Args:
        system: a RigidBodyModel, or anything with ``problem(q, v)`` and, where v is not q̇, ``integrate(q, step)``.
        q, v: a state shortly before the touchdowns, or at them.
        contacts: of the cluster; all must approach. closed: those that rest on the ground.
        effort: of a RigidBodyModel, as of ``simulate``.
        max_impacts: of a word, max_words: of the tree; what is longer is a word without a map.

    Raises:
        ValueError: sizes, indices, caps below 1, a contact that does not approach, gaps that cannot be closed together,
            a singular M.
    """
    counts(max_impacts=max_impacts, max_words=max_words)
    adapted = as_system(system, effort)
    q_, v_ = checked_vector(q, "q"), checked_vector(v, "v")
    if isinstance(adapted, RobotSystem):
        adapted.checked_state(q_, v_)
    first = adapted.problem(q_, v_)
    cluster = tuple(sorted(contact_set("contacts", contacts, first.contacts)))
    resting = contact_set("closed", closed, first.contacts)
    if resting & set(cluster) or not cluster:
        raise ValueError(
            f"contacts {list(cluster)} touch, and {sorted(resting)} are closed: give some, in one set each"
        )
    corner, moved = _corner(adapted, q_, v_, [*cluster, *sorted(resting)])
    problem: ContactProblem = adapted.problem(corner, v_)
    _root(problem)
    v_ = _held(problem, v_, sorted(resting))
    problem = adapted.problem(corner, v_)
    rows = problem.normal_jacobian[list(cluster)]
    rate = rows @ v_
    slow = _RESTS * float(np.abs(problem.jacobian() @ v_).max(initial=0.0))
    if (rate >= -slow).any():
        late = [k for k, u in zip(cluster, rate, strict=True) if u >= -slow]
        raise ValueError(f"contacts {late} do not approach: they have no time of touchdown")
    tree = WordTree(adapted, corner, slow, cluster, max_impacts, max_words)
    leaves: list[Branch] = tree.grow(v_, resting)
    gaps = np.hstack((rows, np.zeros_like(rows)))
    words = tuple(
        TouchdownWord(
            leaf.chain,
            leaf.velocity,
            leaf.acceleration,
            leaf.saltations,
            None if leaf.why else leaf.matrix,
            leaf.cone @ gaps,
            leaf.cone,
            leaf.time,
            leaf.why,
            leaf.validity,
        )
        for leaf in leaves
    )
    return TouchdownWords(corner, v_, cluster, resting, moved, words, gaps / -rate[:, None], -rate, tree.spread)


def _corner(system: Any, q: Array, v: Array, contacts: list[int]) -> tuple[Array, float]:
    """The configuration where the contacts touch, and how far it is (√J s): least steps in the kinetic metric.

    Raises:
        ValueError: a singular M, or gaps that cannot be closed together.
    """
    integrate, path = getattr(system, "integrate", None), 0.0
    for _ in range(_CORNER_STEPS):
        problem: ContactProblem = system.problem(q, v)
        gap = problem.gap[contacts]
        if np.abs(gap).max() <= _CORNER:
            return q, path
        rows = problem.normal_jacobian[contacts]
        root = _root(problem)
        half = np.linalg.solve(root, rows.T)
        size = np.linalg.lstsq(half.T, -gap, rcond=1e-10)[0]  # the step in √J s
        step = np.linalg.solve(root.T, size)
        path += float(np.linalg.norm(size))
        q = integrate(q, step) if callable(integrate) else q + step
    raise ValueError(f"the gaps of contacts {contacts} cannot be closed together")


def _root(problem: ContactProblem) -> Array:
    """The lower Cholesky factor of M.

    Raises:
        ValueError: a singular M.
    """
    try:
        return np.asarray(np.linalg.cholesky(problem.mass))
    except np.linalg.LinAlgError:
        raise ValueError("mass is singular; give massless limbs a small inertia, or leave them out") from None


def _held(problem: ContactProblem, v: Array, closed: list[int]) -> Array:
    """v without what moves the closed contacts along their normals, by the least kinetic change."""
    if not closed:
        return v
    rows = problem.normal_jacobian[closed]
    lift = np.linalg.solve(problem.mass, rows.T)
    return np.asarray(v - lift @ np.linalg.lstsq(rows @ lift, rows @ v, rcond=1e-10)[0])
