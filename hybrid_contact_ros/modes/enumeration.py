"""All contact modes that satisfy a predicate of the form of Johnson (31), by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hybrid_contact_ros.mechanics.block_inverse import ConstrainedMotion, constrained_motion
from hybrid_contact_ros.mechanics.contact_sets import closed_rows
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.pivoting import pivot_to_mode

Array = NDArray[np.float64]

MOST_ENUMERATED = 12
"""Most touching contacts of which every subset, closed or not, is tried as a mode: 2^12 modes."""

_EDGES = 32
"""Edges of the polyhedral cone inside the friction cone in which forces of redundant contacts are looked for."""
_INFEASIBLE = 1e-11
"""Where the dual of the least distance is smaller than this, the distance is infinite: no reaction is inside the
cones."""


def find_modes(
    count: int, holds: Callable[[int, int], bool | None], enumerate_all: bool | None, kept: int = 0
) -> tuple[list[int], bool, bool]:
    """Find the masks of :func:`modes_of` that contain ``kept``, or one of them by pivoting.

    Args:
        count, holds: as of :func:`modes_of`.
        enumerate_all: True enumerates, False pivots, None enumerates up to ``MOST_ENUMERATED`` contacts.
        kept: mask of contacts that a mode must contain.

    Returns:
        The masks, whether a mode without block inverse was met, and whether all modes were tried.

    Raises:
        ValueError: an enumeration of more than ``MOST_ENUMERATED`` contacts.
    """
    if enumerate_all and count > MOST_ENUMERATED:
        raise ValueError(f"{count} contacts touch; up to {MOST_ENUMERATED} are enumerated: leave enumerate_all out")
    if enumerate_all or (enumerate_all is None and count <= MOST_ENUMERATED):
        found, singular = modes_of(count, holds)
        return [mask for mask in found if mask & kept == kept], singular, True
    found, singular = pivot_to_mode(count, holds, kept)
    return found, singular, False


class ModeTable:
    """Reactions of every subset of some contacts, each computed when it is first asked for.

    A subset is a bit mask over ``contacts``. Contact i closes its normal, and its tangents where it has friction and
    is not in ``sliding`` (Johnson, Assumption A12).

    Args:
        problem: the contact problem. contacts: those that the bits of a mask stand for.
        force: (nv,), target: (m, 1 + d): right-hand sides of the block equations, see
            :func:`~hybrid_contact_ros.mechanics.block_inverse.constrained_motion`.
    """

    def __init__(
        self, problem: ContactProblem, contacts: Sequence[int], sliding: frozenset[int], force: Array, target: Array
    ) -> None:
        self.problem = problem
        self.contacts = list(contacts)
        self.sliding = sliding
        self._force = force
        self._target = target
        self._rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
        self._known: dict[int, tuple[ConstrainedMotion, Array]] = {}

    def members(self, mask: int) -> list[int]:
        """The contacts of a mask."""
        return [c for bit, c in enumerate(self.contacts) if mask >> bit & 1]

    def held(self, mask: int) -> NDArray[np.bool_]:
        """The rows (m, 1 + d) that a mode closes."""
        members = self.members(mask)
        return closed_rows(self.problem, members, self.sliding & set(members))

    def solve(self, mask: int) -> tuple[ConstrainedMotion, Array]:
        """The motion of a mode and its reactions (m, 1 + d)."""
        if mask not in self._known:
            members = self.members(mask)
            held = self.held(mask)
            rows = self._rows[held]
            points = self._rows[members].reshape(-1, self.problem.nv)
            solution = constrained_motion(self.problem.mass, rows, points, self._force, self._target[held])
            reaction = np.zeros(held.shape)
            reaction[held] = solution.reaction
            if solution.redundancy.shape[1] and not (cone_margin(self.problem, members, reaction) >= 0.0).all():
                reaction[held] = self._within_cones(held, solution)
            self._known[mask] = solution, reaction
        return self._known[mask]

    def _within_cones(self, held: NDArray[np.bool_], solution: ConstrainedMotion) -> Array:
        """The least reaction with the same effect that is inside the (slightly narrowed) cones, if there is one.

        It is unique, so that mirror images have mirrored reactions. The method is least distance programming (Lawson
        and Hanson, Solving Least Squares Problems, ch. 23).
        """
        index = np.cumsum(held.reshape(-1)).reshape(held.shape) - 1
        rows = []
        for i in np.flatnonzero(held[:, 0]):
            edges = 1 if not held[i, 1] else 2 if held.shape[1] == 2 else _EDGES
            width = self.problem.friction[i] * (np.cos(np.pi / edges) if edges > 2 else 1.0)
            for edge in range(edges):
                row = np.zeros(solution.reaction.shape[0])
                row[index[i, 0]] = 1.0
                if edges > 1:
                    angle = 2.0 * np.pi * (edge + 0.5 * (edges > 2)) / edges
                    row[index[i, 0]] = width
                    row[index[i, 1]] = np.cos(angle)
                    if held.shape[1] == 3:
                        row[index[i, 2]] = np.sin(angle)
                rows.append(row / np.sqrt(row @ row))
        cones = np.array(rows)
        spare = solution.redundancy
        least = solution.reaction - spare @ (spare.T @ solution.reaction)
        here = cones @ least
        scale = float(np.abs(here).max())
        if here.min() >= 0.0:
            return least
        part = np.vstack(((cones @ spare).T, -here / scale))
        goal = np.zeros(part.shape[0])
        goal[-1] = 1.0
        rest = part @ nnls(part, goal)[0] - goal
        if not rest[-1] < -_INFEASIBLE:
            return solution.reaction
        return least - spare @ (rest[:-1] * scale / rest[-1])


def best_mode(table: ModeTable, found: Sequence[int]) -> int | None:
    """The mask, of those with a block inverse, with most contacts, the first of them in binary order; or None."""
    regular = [mask for mask in found if table.solve(mask)[0].regular]
    return max(regular, key=lambda mask: (mask.bit_count(), -mask)) if regular else None


def cone_margin(problem: ContactProblem, members: Sequence[int], reaction: Array) -> Array:
    """How far inside its cone the reaction of each member is: min(λ_n, μ λ_n − ‖λ_t‖), or λ_n where λ_t = 0."""
    normal = reaction[members, 0]
    tangent = np.sqrt((reaction[members, 1:] ** 2).sum(axis=1))
    held = tangent > 0.0
    return np.minimum(normal, np.where(held, problem.friction[members] * normal - tangent, normal))


def modes_of(count: int, holds: Callable[[int, int], bool | None]) -> tuple[list[int], bool]:
    """Find all modes over ``count`` contacts that satisfy Johnson (31), each as a bit mask of its closed contacts.

    A mode satisfies it where every contact k has (k ∈ mode) ⇔ holds(mode ∪ {k}, k).

    ``holds`` returns None where the mode has no block inverse. A mode that contains k is then refused, and one that
    does not contain k is not: a contact that cannot be closed stays open.

    Returns:
        The masks, ascending, and whether any ``None`` was met.
    """
    found = []
    singular = False
    for mask in range(1 << count):
        fits = True
        for k in range(count):
            answer = holds(mask | 1 << k, k)
            singular |= answer is None
            if bool(answer) != bool(mask >> k & 1):
                fits = False
                break
        if fits:
            found.append(mask)
    return found, singular
