"""Contacts that chatter in turns, as the corners of a rocking block: where their sequence ends, by how it contracts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.kernels.mechanics.contact_space import is_regular
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.events import force_scale
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.zeno import Cut, touching_state
from hybrid_contact_ros.stability.accumulation import Impact, limit_of

Array = NDArray[np.float64]
_PERIODS = 8  # back to which no period may have shrunk too slowly: contractions that turn (complex) pause now and then
REMEMBERED = 4 * _PERIODS + 1  # impacts, in periods of up to four
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
    fewest: int = 2,
) -> tuple[frozenset[int], Cut] | None:
    """The contacts (``fewest`` or more) whose impacts end in a Zeno point, and where to carry on with them closed.

    A heuristic. The last impacts have to be three periods of one pattern of at most four, and the times between them to
    shrink from period to period, so regularly that the Zeno time of the first two is that of the last two to within
    half of what is left. What follows is taken for a geometric sequence that contracts as the last two periods do
    (Aitken's Δ² for the state, :func:`~.accumulation.limit_of`). Twice the time, the way and the change of velocity
    that this leaves, or more where one of the last eight periods shrank so slowly that more could be left, have to be
    within the tolerances, and so have the way and the change of velocity to the state that
    goes on: q with its gaps closed, v after a plastic impact of them all. There all of them have to push firmly (the
    force-acceleration problem, O Corollary 1), and no other contact may come near meanwhile. Nothing is proved: the
    return map is not bounded around the states seen, only followed.
    """
    found = limit_of(list(impacts))
    if found is None or len(found.contacts) < fewest or mode.closed.issuperset(found.contacts):
        return None
    nq = system.nq
    rest = found.t - time
    if not _DOUBT * found.error <= rest:
        return None
    doubt = max(_DOUBT, _longest_rest(impacts, found.period) / rest)
    left = doubt * rest
    if not left < tolerances.epsilon_t:
        return None
    end_q, end_v = found.y[:nq], found.y[nq:]
    closed = mode.closed | frozenset(found.contacts)
    after_q = touching_state(system, time, q, v, Mode(closed))
    problem = system.problem(after_q, v, time, closed)
    if not is_regular(problem.mass, np.empty_like(problem.mass)):
        return None
    slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, end_v) ** 2).sum(axis=1))
    still = doubt * float(np.abs(end_v - v).max()) + options.velocity_tolerance
    slides = frozenset(i for i in closed if problem.friction[i] > 0.0 and (i in mode.sliding or slip[i] > still))
    outcome = plastic_impact(problem, closed, slides)
    if outcome.status is Status.SINGULAR:
        return None
    after_v = outcome.velocity
    apart = left * _norm(end_v - v)  # at the impacts of a rocking block q is that of rest, between them it is not
    way = max(doubt * _norm(end_q - q), _norm(after_q - q), _norm(end_q - after_q), apart)
    change = max(doubt * _norm(end_v - v), _norm(end_v - after_v))
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


def _longest_rest(impacts: Sequence[Impact], period: int) -> float:
    """s, until the end of a sequence whose periods go on to shrink as slowly as the slowest of those remembered."""
    words = [impact.struck for impact in impacts]
    first = len(words) - 1  # of the impacts that follow the same pattern to the end
    while first >= period and words[first] == words[first - period]:
        first -= 1
    times = np.array([impact.t for impact in impacts[max(first, period) - period :]])[::-period][: _PERIODS + 1]
    lengths = -np.diff(times)
    if not (lengths[:-1] < lengths[1:]).all():
        return np.inf
    ratio = float((lengths[:-1] / lengths[1:]).max())
    return float(lengths[0]) * ratio / (1.0 - ratio)


def _norm(difference: Array) -> float:
    return float(np.sqrt(difference @ difference))
