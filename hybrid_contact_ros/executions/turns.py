"""Contacts that chatter in turns, as the corners of a rocking block: where their sequence ends, by how it contracts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.executions.accumulation import Impact, limit_of
from hybrid_contact_ros.executions.adapter import AdaptedSystem
from hybrid_contact_ros.executions.events import force_scale
from hybrid_contact_ros.executions.mode import Mode
from hybrid_contact_ros.executions.options import Options, Tolerances
from hybrid_contact_ros.executions.zeno import Cut, touching_state
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.kernels.mode_space import is_regular
from hybrid_contact_ros.kernels.status import Status
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode

Array = NDArray[np.float64]
REMEMBERED = 13  # impacts: three periods of four, and one
_DOUBT = 2.0  # by which the rest of a sequence may be longer than extrapolated
_FIRM = 1e-6  # of the forces that act: what a contact must push at least to hold


def settled_in_turns(
    system: AdaptedSystem,
    time: float,
    q: Array,
    v: Array,
    mode: Mode,
    impacts: Sequence[Impact],
    tolerances: Tolerances,
    options: Options,
) -> tuple[frozenset[int], Cut] | None:
    """The contacts, two or more, whose impacts so far end in a Zeno point, and where to carry on with them closed.

    A heuristic. The last impacts have to be three periods of one pattern of at most four, and the times between them to
    shrink from period to period, so regularly that the Zeno time of the first two is that of the last two to within
    half of what is left. What follows is taken for a geometric sequence that contracts as the last two periods do
    (Aitken's Δ² for the state, :func:`~.accumulation.limit_of`). Twice the time, the way and the change of velocity
    that this leaves have to be within the tolerances, and so have the way and the change of velocity to the state that
    goes on: q with its gaps closed, v after a plastic impact of them all. There all of them have to push firmly (the
    force-acceleration problem, O Corollary 1), and no other contact may come near meanwhile. Nothing is proved: the
    return map is not bounded around the states seen, only followed.
    """
    found = limit_of(list(impacts))
    if found is None or len(found.contacts) < 2:
        return None
    nq = system.nq
    left = _DOUBT * (found.t - time)
    if not (_DOUBT * found.error <= found.t - time and left < tolerances.epsilon_t):
        return None
    end_q, end_v = found.y[:nq], found.y[nq:]
    closed = mode.closed | frozenset(found.contacts)
    after_q = touching_state(system, time, q, v, Mode(closed))
    problem = system.problem(after_q, v, time, closed)
    if not is_regular(problem.mass, np.empty_like(problem.mass)):
        return None
    slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, end_v) ** 2).sum(axis=1))
    still = _DOUBT * float(np.abs(end_v - v).max()) + options.velocity_tolerance
    slides = frozenset(i for i in closed if problem.friction[i] > 0.0 and (i in mode.sliding or slip[i] > still))
    outcome = plastic_impact(problem, closed, slides)
    if outcome.status is Status.SINGULAR:
        return None
    after_v = outcome.velocity
    apart = left * _norm(end_v - v)  # at the impacts of a rocking block q is that of rest, between them it is not
    way = max(_DOUBT * _norm(end_q - q), _norm(after_q - q), _norm(end_q - after_q), apart)
    change = max(_DOUBT * _norm(end_v - v), _norm(end_v - after_v))
    if not (way < tolerances.epsilon_q and change < tolerances.epsilon_v):
        return None
    problem = problem.with_velocity(after_v)
    others = sorted(set(range(system.contacts)) - closed)
    reach = np.linalg.norm(problem.normal_jacobian[others], axis=1) * tolerances.epsilon_v
    rate = np.minimum(problem.normal_jacobian[others] @ v - reach, 0.0)
    if (problem.gap[others] + rate * left <= 0.0).any():
        return None
    forces = force_acceleration_mode(problem, closed, options.velocity_tolerance)
    firm = forces.forces[sorted(closed), 0] > _FIRM * force_scale(problem)
    if forces.status is not Status.SOLVED or forces.mode != closed or not firm.all():
        return None
    return frozenset(found.contacts), Cut(after_q, after_v, Mode(closed, slides), (time, time + left))


def _norm(difference: Array) -> float:
    return float(np.sqrt(difference @ difference))
