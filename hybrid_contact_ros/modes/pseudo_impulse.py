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
    """Solve PIV: as IV, but a contact also holds where its impulse plus δt times its steady force is in the cone.

    This is Johnson (58). The steady force of a mode is A†(Sᵀτ − h), its force without the drift J̇v, as in the paper
    (56). It decides which contacts hold and adds no momentum: v⁺ and the impulses are those of the plastic impact into
    the mode, so that the impulse of a contact that the pseudo-impulse alone holds may pull. The mode contains the one
    of IV (Johnson (59)).

    Args:
        duration: δt, s: a contact whose bounce would end sooner is taken to stick (Johnson uses 0.03 s).
        problem, touching, sliding, tolerance, enumerate_all: as of
            :func:`~hybrid_contact_ros.modes.impulse_velocity.impulse_velocity_mode`.

    Returns:
        A solution with the law PSEUDO_IMPULSE. Where IV itself has no solution, the modes are only asked to satisfy the
        predicate.

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
