"""Which contacts hold after an impact when steady forces act during it: the pseudo-impulse (Johnson (55)–(59))."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import ModeTable, cone_margin, find_modes
from hybrid_contact_ros.modes.impulse_velocity import impact_solution, impact_table, impulse_predicate
from hybrid_contact_ros.modes.solution import Law, ModeSolution

_ROUNDING = 1e-12  # an impulse below this part of the momenta counts as none


def pseudo_impulse_mode(
    problem: ContactProblem,
    touching: Iterable[int] | None = None,
    duration: float = 0.03,
    sliding: Iterable[int] = (),
    tolerance: float = 1e-9,
    enumerate_all: bool | None = None,
) -> ModeSolution:
    """Find the contacts that stay closed after a plastic impact during which steady forces act (Johnson (58), "PIV").

    A contact holds as in :func:`~hybrid_contact_ros.modes.impulse_velocity.impulse_velocity_mode`, and also where its
    impulse plus δt times its steady force is in its cone. The steady force of a mode is A†(Sᵀτ − h), its force without
    the drift J̇v, as in Johnson (56), where A are the rows that the mode closes. The steady force decides which
    contacts hold and adds no momentum: v⁺ and the impulses are those of the plastic impact into the mode, so that the
    impulse of a contact that the pseudo-impulse alone holds may pull. The mode contains the one of IV (Johnson (59)).

    A point of 1 kg slides at 0.1 m/s along the floor into the foot of a slope that rises at 45°. To stop the point
    on both, the floor would have to pull with 0.1 N s, so that the plastic impact leaves the floor open. The weight of
    9.81 N pushes with more than that within 0.03 s, so that the point is taken to stay on both:

    >>> import math
    >>> from hybrid_contact_ros import ContactProblem, impulse_velocity_mode, pseudo_impulse_mode
    >>> slant = math.sqrt(0.5)
    >>> foot = ContactProblem(
    ...     mass=[[1.0, 0.0], [0.0, 1.0]], velocity=[0.1, 0.0], normal_jacobian=[[0.0, 1.0], [-slant, slant]],
    ...     tangent_jacobian=[[[1.0, 0.0]], [[slant, slant]]], friction=[0.0, 0.0], bias_force=[0.0, 9.81],
    ... )
    >>> sorted(impulse_velocity_mode(foot).mode), sorted(pseudo_impulse_mode(foot, duration=0.03).mode)
    ([1], [0, 1])

    Args:
        duration: δt, s: a contact whose bounce would end sooner is taken to stick (Johnson uses 0.03 s).
        problem, touching, sliding, tolerance, enumerate_all: as of
            :func:`~hybrid_contact_ros.modes.impulse_velocity.impulse_velocity_mode`.

    Returns:
        A solution with the law PSEUDO_IMPULSE: ``mode``, a frozenset of indices; ``impulses`` (m, 1 + d), N s;
        ``velocity`` (nv,), v⁺; ``contact_status`` (m,). Where IV itself has no solution, the modes are only asked to
        satisfy the predicate.

    Raises:
        ValueError: as impulse_velocity_mode; or a negative duration.
    """
    if not (math.isfinite(duration) and duration >= 0.0):
        raise ValueError(f"duration must be a number of seconds ≥ 0, got {duration}")
    table = impact_table(problem, touching, sliding)
    steady = ModeTable(
        problem,
        table.contacts,
        table.sliding,
        -problem.bias_force,
        np.zeros((problem.contacts, 1 + problem.tangents)),
    )
    by_impulse = impulse_predicate(table, tolerance)
    count = len(table.contacts)
    floor = _ROUNDING * (
        float(np.abs(problem.mass @ problem.velocity).max(initial=0.0))
        + duration * float(np.abs(problem.bias_force).max(initial=0.0))
    )

    def holds(mask: int, k: int) -> bool | None:
        answer = by_impulse(mask, k)
        if answer is not False:
            return answer
        total = table.solve(mask)[1] + duration * steady.solve(mask)[1]
        slack = tolerance * float(np.abs(total).max(initial=0.0)) + floor
        return bool(cone_margin(problem, [table.contacts[k]], total)[0] >= -slack)

    plain = impact_solution(Law.IMPULSE_VELOCITY, table, *find_modes(count, by_impulse, enumerate_all)).mode
    kept = sum(1 << bit for bit, contact in enumerate(table.contacts) if contact in plain)
    found, singular, all_tried = find_modes(count, holds, enumerate_all, kept)
    return impact_solution(Law.PSEUDO_IMPULSE, table, found, singular, all_tried)
