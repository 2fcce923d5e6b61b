"""Contact forces and modes with Coulomb friction in contact space: force-acceleration complementarity (Johnson (38)).

Find λ with a = G λ + b, for each touching contact

    0 ≤ λ_n ⊥ a_n ≥ 0,  and  λ_t = −μ λ_n u_t/‖u_t‖  where the contact slides,
    ‖λ_t‖ ≤ μ λ_n,  λ_t = −μ λ_n a_t/‖a_t‖ unless a_t = 0  where it is at rest.

The method is an active set with Newton steps on the slip directions. The first guess (the mode of the state before, or
sticking) mostly holds, and one linear system (:mod:`.linear_system`) shows it. Where it does not, a few Gauss-Seidel
sweeps over single contacts (:mod:`.sweeps`) find the mode, or nearly (sweeps cannot cycle between modes for want of an
answer), and Newton steps finish. Where these cycle, because redundant contacts leave the forces open or slip directions
depend on each other, operator splitting (:mod:`.splitting`) is slow and sure.
"""

from __future__ import annotations

import math

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.active_set import admit_states, name_states, update_states
from hybrid_contact_ros.kernels.modes.linear_system import hold_mode
from hybrid_contact_ros.kernels.modes.residual import (
    contact_accelerations,
    mode_residual,
    mode_violation,
    problem_scale,
)
from hybrid_contact_ros.kernels.modes.splitting import split_forces
from hybrid_contact_ros.kernels.modes.sweeps import sweep

_SOLVED, _INACCURATE = int(Status.SOLVED), int(Status.INACCURATE)
_FIRST_STEPS = 2  # Newton steps from the first guess, which holds or is soon seen not to
_NEWTON_STEPS = 5  # Newton steps in each later round
_SWEEPS = 16  # sweeps in the first round of them; each further round makes twice as many
_UNCHANGED_SWEEPS = 8  # sweeps without a changed state that end the first round
_SWEEP_ROUNDS = 2
_EXACT = np.int64(0)  # splitting of the problem itself; not int, for which numba would compile it again


@kernel
def solve_modes(steps, tolerance, dynamics, touching, moving, iterate, scratch):
    """Solve the problem of this module's heading.

    Args:
        steps: of splitting at most; 0 leaves out the second round of sweeps, too: little work, and sometimes no answer.
            tolerance: of the scaled residual, e.g. 1e-8.
        dynamics: ContactDynamics. touching, moving: (m,) uint8, see :mod:`.records`.
        iterate: ModeIterate. Its forces and accelerations on entry only curve the first Newton step of contacts that
            start as SLIP; zeros will do.
        scratch: ModeScratch.

    Returns:
        (status, residual, iterations): SOLVED, or INACCURATE with the best that was found, which violates the
        conditions by no more than no forces at all would, so that it never is a diverged iterate; the residual of
        :func:`~.residual.mode_residual`; the number of linear systems solved, sweeps and steps made.
    """
    d, G, b = dynamics.d, dynamics.G, dynamics.b
    slip, forces, accelerations = iterate.slip, iterate.forces, iterate.accelerations
    scale = problem_scale(d, b, touching)
    admit_states(d, touching, moving, slip, iterate.state)
    iterations = 0
    residual = math.inf
    split = scratch.A[2 * G.shape[0]]  # where the last Newton steps leave the forces of splitting as they are
    for attempt in range(_SWEEP_ROUNDS + 2 if steps > 0 else 2):
        for _ in range(_NEWTON_STEPS if attempt > 0 else _FIRST_STEPS):
            iterations += 1
            if not hold_mode(dynamics, moving, iterate, scratch):
                break
            contact_accelerations(G, b, forces, accelerations)
            if not update_states(tolerance * scale, dynamics, touching, moving, iterate):
                residual = mode_residual(scale, dynamics, touching, moving, slip, forces, accelerations)
                if residual <= tolerance:
                    return _SOLVED, residual, iterations
        if attempt > (_SWEEP_ROUNDS if steps > 0 else 0):
            break
        if attempt == _SWEEP_ROUNDS:
            residual, made = split_forces(
                steps, _EXACT, tolerance, scale, dynamics, touching, moving, iterate, scratch.A
            )
            iterations += made
            for k in range(b.shape[0]):
                split[k] = forces[k]
        else:
            sweeps = _SWEEPS << attempt
            unchanged = _UNCHANGED_SWEEPS if attempt == 0 else sweeps
            iterations += sweep(sweeps, unchanged, dynamics, touching, moving, iterate, scratch.work)
            contact_accelerations(G, b, forces, accelerations)
            residual = mode_residual(scale, dynamics, touching, moving, slip, forces, accelerations)
            if steps == 0:
                for k in range(b.shape[0]):
                    split[k] = forces[k]
        name_states(tolerance, dynamics, touching, moving, iterate)
        if residual <= tolerance:
            return _SOLVED, residual, iterations
    for k in range(b.shape[0]):
        forces[k] = split[k]
    _bound_violation(dynamics, touching, moving, iterate, scratch.work[0])
    residual = mode_residual(scale, dynamics, touching, moving, slip, forces, accelerations)
    return _INACCURATE, residual, iterations


@kernel
def _bound_violation(dynamics, touching, moving, iterate, nothing):
    """Keep the forces only where they violate the conditions by no more than none at all: steps diverge where sliding
    contacts jam. Accelerations are written for the forces that remain; ``nothing`` (n,) is scratch."""
    b, slip, forces, accelerations = dynamics.b, iterate.slip, iterate.forces, iterate.accelerations
    for k in range(b.shape[0]):
        nothing[k] = 0.0
    contact_accelerations(dynamics.G, b, forces, accelerations)
    worst, _ = mode_violation(dynamics, touching, moving, slip, forces, accelerations)
    without, _ = mode_violation(dynamics, touching, moving, slip, nothing, b)
    if not worst <= without:
        for k in range(b.shape[0]):
            forces[k] = 0.0
            accelerations[k] = b[k]
