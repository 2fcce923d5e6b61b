"""The force-acceleration solve of every message: arrays made once, one kernel call a state."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.modes.forces import force_acceleration
from hybrid_contact_ros.kernels.modes.records import StateProblem, StateSettings, state_out, state_scratch
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]

TOLERANCE = 1e-8
STEPS = 1000
"""Of splitting, where an active set fails: some 0.3 ms for four contacts, 0.7 ms for eight."""
PATIENT = 50_000
"""Of splitting, where time does not matter."""
_MANY = 8
"""Contacts above which steps are fewer, so that a solve takes no longer: a step costs as the square of the contacts."""
_SOLVED, _SINGULAR = int(Status.SOLVED), int(Status.SINGULAR)


def mode_steps(contacts: int) -> int:
    """Steps of splitting that a solve in real time may take."""
    return STEPS * _MANY**2 // max(contacts, _MANY) ** 2


class ModeWorkspace:
    """Scratch and results of the force-acceleration solve for problems of one size.

    The results are views into the workspace: the next call overwrites them. One workspace serves one thread.

    Attributes, written by :meth:`solve`; n = m (1 + d):
        delassus: G (n, n), 1/kg. free: b (n,), contact accelerations without contact forces, m/s².
        forces: λ (m, 1 + d), N. contact_acceleration: G λ + b (m, 1 + d), m/s², of all contacts.
        acceleration: v̇ (nv,). contact_status: (m,) uint8, values of ContactStatus.
        slip_direction: (m, d) unit vector along which a contact slides or starts to; zero for the others.
        moving: (m,) uint8, the contact slides already (or has no friction), so that its friction is given.
        critical_friction: (m,), the coefficient with which a slide jams (Painlevé), inf where it never does.
        jammed: (m,) uint8, values of :mod:`~hybrid_contact_ros.kernels.modes.jamming`: FREE; HELD, the contact slides
            and was solved as if at rest; LOST, no mode was found, and the forces are a bounded guess.

    Args:
        steps: of splitting at most, where an active set fails.
        critical_part: contacts that slide with more than this part of their critical friction are held at rest; inf:
            none is, and where the law has no answer there is none (for use offline).
    """

    def __init__(
        self, nv: int, contacts: int, tangents: int, steps: int = STEPS, critical_part: float = math.inf
    ) -> None:
        m, d = contacts, tangents
        self._steps, self._critical_part = steps, critical_part
        self.nv, self.contacts, self.tangents = nv, m, d
        self._rows = np.zeros((m, 1 + d, nv))
        self._flat_rows = self._rows.reshape(m * (1 + d), nv)
        self._scratch = state_scratch(nv, m, d)
        self._out = out = state_out(nv, m, d)
        self._warm = False
        self.delassus, self.free = out.G, out.b
        self.forces: Array = out.forces.reshape(m, 1 + d)
        self.contact_acceleration: Array = out.accelerations.reshape(m, 1 + d)
        self.acceleration, self.contact_status = out.acceleration, out.status
        self.slip_direction, self.moving = out.slip, out.moving
        self.critical_friction, self.jammed = out.critical, out.jammed

    def forget(self) -> None:
        """Start the next solve from nothing instead of the last mode."""
        self._warm = False

    def solve(
        self,
        problem: ContactProblem,
        touching: NDArray[np.uint8],
        slip_speed: float,
        tolerance: float = TOLERANCE,
        sliding: Array | None = None,
    ) -> tuple[int, float, int]:
        """Solve for the contacts flagged in ``touching`` (m,) uint8.

        ``problem`` must have the workspace's sizes (unchecked: this is the path of every message). A contact point
        faster than ``slip_speed`` (m/s) slides, and friction opposes its velocity; a slower one is at rest. ``sliding``
        (m, d): its velocities along the tangents (m/s) where more is known of them than one state tells. The solve
        starts from the mode of the one before, if that was solved: along a stream of states it mostly still holds, and
        one linear system shows it. Where modes are not unique the one that was there stays.

        Returns:
            (status, residual, iterations), as :func:`~hybrid_contact_ros.kernels.modes.forces.force_acceleration`.
        """
        self._rows[:, 0] = problem.normal_jacobian
        self._rows[:, 1:] = problem.tangent_jacobian
        settings = StateSettings(self.tangents, self._warm, self._steps, self._critical_part, slip_speed, tolerance)
        state = StateProblem(
            problem.mass,
            problem.bias_force,
            self._flat_rows,
            problem.jacobian_drift.reshape(-1),
            problem.friction,
            self._rows[:, 1:] @ problem.velocity if sliding is None else sliding,
            touching,
        )
        answer = force_acceleration(*settings, *state, *self._scratch, *self._out)
        if answer[0] != _SINGULAR:
            self._warm = answer[0] == _SOLVED
        return answer
