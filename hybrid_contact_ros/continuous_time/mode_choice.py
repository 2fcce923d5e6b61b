"""Which contact mode, or which impact without collision, a path goes on with (H 53; Painlevé)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.continuous_time.path_integrator import Event
from hybrid_contact_ros.continuous_time.planar_flow import OPEN, SLIPPING, STICKING, FlowMode, consistent_modes
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode

Array = NDArray[np.float64]

PREFERENCES = ("solver", "open", "closed", "impact")
LARGEST = 6
"""Most contacts that touch without approaching or separating: up to 4^6 modes are tried."""
_SAME = 1e-6  # accelerations that differ by less, relative to the largest, are one motion


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a path can go on with.

    Attributes:
        mode: the one taken; None for an impact without collision.
        modes: force-acceleration modes with different accelerations. taken: index into them, −1 for the impact.
        impact_possible: a contact slips that its own push would drive in.
        starts: contacts to start an impact without collision with, those that jam first.
    """

    mode: FlowMode | None
    modes: tuple[FlowMode, ...]
    taken: int
    impact_possible: bool
    starts: tuple[tuple[int, ...], ...]


def jammed(problem: ContactProblem, scope: frozenset[int], slip_speed: float) -> dict[int, float]:
    """J_n M⁻¹ (J_n − μ sign(J_t v) J_t)ᵀ of slipping contacts, 1/kg: negative where pushing drives the contact in."""
    found = {}
    for i in sorted(scope):
        speed = float(problem.tangent_jacobian[i, 0] @ problem.velocity)
        if abs(speed) > slip_speed and problem.friction[i] > 0.0:
            push = problem.normal_jacobian[i] - problem.friction[i] * np.sign(speed) * problem.tangent_jacobian[i, 0]
            found[i] = float(problem.normal_jacobian[i] @ np.linalg.solve(problem.mass, push))
    return found


def choose(
    problem: ContactProblem, scope: frozenset[int], slip_speed: float, left: Event | None, prefer: str
) -> Choice:
    """Choose among the modes of the contacts in ``scope``; ``left`` is the event that ended the mode before.

    At that event the old mode and the new one satisfy the conditions both, with a tie, and the old one is left out.

    Raises:
        ValueError: more than 6 contacts in scope.
    """
    nothing = FlowMode((OPEN,) * problem.contacts, (0,) * problem.contacts)
    if not scope:
        return Choice(nothing, (nothing,), 0, False, ())
    if len(scope) > LARGEST:
        raise ValueError(f"{len(scope)} contacts touch at once; up to {LARGEST} can")
    found = [(mode, a) for mode, a in consistent_modes(problem, scope, slip_speed) if not _was_left(mode, left)]
    solver = force_acceleration_mode(problem, scope, slip_speed, enumerate_all=True)
    if not found and left is None and solver.status is Status.SOLVED:
        signs = -np.sign(solver.forces[:, 1]).astype(int)
        mode = FlowMode(tuple(int(x) for x in solver.contact_status), tuple(int(x) for x in signs))
        found = [(mode, solver.acceleration)]
    by_solver = [k for k, (mode, _) in enumerate(found) if mode.status == tuple(map(int, solver.contact_status))]
    if by_solver:
        found.insert(0, found.pop(by_solver[0]))
    distinct: list[tuple[FlowMode, Array]] = []
    for mode, a in found:
        size = 1.0 + max(float(np.abs(x).max()) for x in (a, *(b for _, b in distinct)))
        if all(np.abs(a - b).max() > _SAME * size for _, b in distinct):
            distinct.append((mode, a))
    own = jammed(problem, scope, slip_speed)
    worst = sorted((i for i in own if own[i] < 0.0), key=lambda i: own[i])
    if left is not None and left.kind == "jam" and left.contact in own and left.contact not in worst:
        worst = [left.contact, *worst]
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


def _was_left(mode: FlowMode, left: Event | None) -> bool:
    if left is None or left.contact < 0:
        return False
    status = mode.status[left.contact]
    return (
        (left.kind == "liftoff" and status != OPEN)
        or (left.kind == "slip" and status == STICKING)
        or (left.kind == "jam" and status == SLIPPING)
    )
