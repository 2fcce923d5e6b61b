"""The contact mode, or the impact without collision, that a path goes on with (Halm (53); Painlevé)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.continuous_time.path_integrator import PieceEnd
from hybrid_contact_ros.continuous_time.planar_mode import OPEN, SLIPPING, STICKING, PlanarMode, consistent_modes
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode

Array = NDArray[np.float64]

MAX_CONTACTS = 6
"""Contacts that may touch without approaching or separating, at most: up to 4^6 modes are tried."""
_SAME_MOTION = 1e-6  # relative to the largest: accelerations that differ by less are one motion


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a path can go on with, and what it does.

    Attributes:
        mode: the one taken; None for an impact without collision.
        modes: force-acceleration modes with different accelerations. taken: index into them, −1 for the impact.
        impact_possible: whether a contact slips that its own push would drive in.
        starts: sets of contacts that may start an impact without collision, to be tried in this order: those that jam
            come first.
    """

    mode: PlanarMode | None
    modes: tuple[PlanarMode, ...]
    taken: int
    impact_possible: bool
    starts: tuple[tuple[int, ...], ...]


def jammed(problem: ContactProblem, scope: frozenset[int], slip_speed: float) -> dict[int, float]:
    """J_n M⁻¹ (J_n − μ sign(J_t v) J_t)ᵀ of each slipping contact, 1/kg: negative where its own push drives it in."""
    found = {}
    for i in sorted(scope):
        speed = float(problem.tangent_jacobian[i, 0] @ problem.velocity)
        if abs(speed) > slip_speed and problem.friction[i] > 0.0:
            push = problem.normal_jacobian[i] - problem.friction[i] * np.sign(speed) * problem.tangent_jacobian[i, 0]
            found[i] = float(problem.normal_jacobian[i] @ np.linalg.solve(problem.mass, push))
    return found


def choose(
    problem: ContactProblem, scope: frozenset[int], slip_speed: float, ended: PieceEnd | None, prefer: str
) -> Choice:
    """Choose among the modes of the contacts in ``scope``.

    Args:
        scope: contacts that touch and neither approach nor separate. slip_speed: m/s, slower contacts may stick.
        ended: why the mode before ended, if there was one. There the old mode and the new one both satisfy the
            conditions, with a tie, and the old one is not chosen again.
        prefer: see :class:`~.options.PathOptions`.

    Raises:
        ValueError: more than 6 contacts in scope.
    """
    nothing = PlanarMode((OPEN,) * problem.contacts, (0,) * problem.contacts)
    if not scope:
        return Choice(nothing, (nothing,), 0, False, ())
    if len(scope) > MAX_CONTACTS:
        raise ValueError(f"{len(scope)} contacts touch at once; up to {MAX_CONTACTS} can")
    found = [(mode, a) for mode, a in consistent_modes(problem, scope, slip_speed) if not _has_ended(mode, ended)]
    solver = force_acceleration_mode(problem, scope, slip_speed, enumerate_all=True)
    if not found and ended is None and solver.status is Status.SOLVED:
        signs = -np.sign(solver.forces[:, 1]).astype(int)
        mode = PlanarMode(tuple(int(x) for x in solver.contact_status), tuple(int(x) for x in signs))
        found = [(mode, solver.acceleration)]
    by_solver = [k for k, (mode, _) in enumerate(found) if mode.status == tuple(map(int, solver.contact_status))]
    if by_solver:
        found.insert(0, found.pop(by_solver[0]))
    distinct: list[tuple[PlanarMode, Array]] = []
    for mode, a in found:
        size = 1.0 + max(float(np.abs(x).max()) for x in (a, *(b for _, b in distinct)))
        if all(np.abs(a - b).max() > _SAME_MOTION * size for _, b in distinct):
            distinct.append((mode, a))
    own = jammed(problem, scope, slip_speed)
    worst = sorted((i for i in own if own[i] < 0.0), key=lambda i: own[i])
    if ended is not None and ended.kind == "jam" and ended.contact in own and ended.contact not in worst:
        worst = [ended.contact, *worst]
    starts: list[tuple[int, ...]] = [(i,) for i in worst]
    if len(own) > 1:
        starts.append(tuple(sorted(own)))
    possible = bool(worst)
    modes = tuple(mode for mode, _ in distinct)
    if not modes or (prefer == "impact" and possible):
        return Choice(None, modes, -1, possible, tuple(starts))
    taken = 0
    if prefer in ("open", "closed"):
        sign = 1 if prefer == "open" else -1
        taken = min(range(len(modes)), key=lambda k: sign * len(modes[k].closed))
    return Choice(modes[taken], modes, taken, possible, tuple(starts))


def _has_ended(mode: PlanarMode, ended: PieceEnd | None) -> bool:
    """Whether a contact would do in the mode what it has just ceased to do."""
    if ended is None or ended.contact < 0:
        return False
    status = mode.status[ended.contact]
    return (
        (ended.kind == "liftoff" and status != OPEN)
        or (ended.kind == "slip" and status == STICKING)
        or (ended.kind == "jam" and status == SLIPPING)
    )
