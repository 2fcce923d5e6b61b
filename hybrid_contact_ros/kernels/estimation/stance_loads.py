"""What presses on the contacts, closed or not: the loads by which the ground is learned (:mod:`.ground`)."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.ground_map import LOADED_AT, TIME
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE, has_settled
from hybrid_contact_ros.kernels.estimation.observed_forces import (
    REGULARISATION_OF_ALL,
    contact_response,
    explaining_forces,
)
from hybrid_contact_ros.kernels.estimation.stance import EASED

MOST_LOADED = 16
"""Contacts of a robot with more have no loads here: their forces would take too long to tell apart."""
_SOLVED = int(Status.SOLVED)
_LOAD_PERIOD = 0.002  # s, between two solutions for the loads
_PULL_TIME = 0.5  # s, in which pulls are forgotten


@kernel
def find_loads(settings, believed, problem, observer, solver, scratch, memory, numbers, ahead):
    """Write the normal forces at all contacts, closed or not, that explain the observed momentum best. Returns
    1 where they are known, 0 where the kinematics must do, and −1 where they will be known soon: after a pause they are
    not known until as much time has passed, and streams that come in bursts never know them."""
    m = problem.gap.shape[0]
    if not believed or settings.gain <= 0.0 or m > MOST_LOADED:
        return 0
    if not has_settled(settings.gain, observer):
        return -1 if numbers[TIME] - numbers[LOADED_AT] <= LONGEST_PAUSE else 0
    if numbers[TIME] - numbers[LOADED_AT] < _LOAD_PERIOD:
        return 1
    keep = math.exp(-(numbers[TIME] - numbers[LOADED_AT]) / _PULL_TIME)
    eases = -math.expm1(-(numbers[TIME] - numbers[LOADED_AT]) / EASED)
    numbers[LOADED_AT] = numbers[TIME]
    response, shifted = scratch.vectors[0], scratch.vectors[1]
    contact_response(3 * m, scratch.weighing, scratch.motions, observer.residual, shifted, response)
    forces = scratch.weighed[0]
    status = explaining_forces(
        3, REGULARISATION_OF_ALL, 0.0, scratch.products, response, ahead.every, solver.A, shifted, forces
    )
    if status == _SOLVED:
        for i in range(m):
            memory.pressing[i] = forces[i, 0]
            memory.eased[i] += eases * (forces[i, 0] - memory.eased[i])
            memory.pulling[i] = max(keep * memory.pulling[i], -forces[i, 0])
    return 1
