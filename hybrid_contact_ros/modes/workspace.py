"""The force-acceleration solve of every message: arrays made once, one kernel call a state."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.modes.forces import force_acceleration
from hybrid_contact_ros.kernels.modes.splitting import ROWS
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
        n = m * (1 + d)
        self.nv, self.contacts, self.tangents = nv, m, d
        self.delassus = np.zeros((n, n))
        self.free = np.zeros(n)
        self._forces = np.zeros(n)
        self._contact_acceleration = np.zeros(n)
        self.forces: Array = self._forces.reshape(m, 1 + d)
        self.contact_acceleration: Array = self._contact_acceleration.reshape(m, 1 + d)
        self.acceleration = np.zeros(nv)
        self.contact_status = np.ones(m, dtype=np.uint8)
        self.slip_direction = np.zeros((m, d))
        self.moving = np.zeros(m, dtype=np.uint8)
        self._rows = np.zeros((m, 1 + d, nv))
        self._flat_rows = self._rows.reshape(n, nv)
        self._factor = np.zeros((nv, nv))
        self._half = np.zeros((n + 1, nv))
        self._matrix = np.zeros((2 * n + ROWS, n))
        self._work = np.zeros((2, n))
        self._order = np.zeros(2 * n, dtype=np.int64)
        self._state = np.zeros(m, dtype=np.int64)
        self._intended = np.zeros(m, dtype=np.int64)
        self._other_slip = np.zeros((m, d))
        self.critical_friction = np.full(m, np.inf)
        self.jammed = np.zeros(m, dtype=np.uint8)
        self._warm = False
        self._found = np.zeros((1, m), dtype=np.uint8)
        self._other_forces = np.zeros((1, n))

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
        answer = force_acceleration(
            self.tangents,
            self._warm,
            self._steps,
            self._critical_part,
            slip_speed,
            tolerance,
            problem.mass,
            problem.bias_force,
            self._flat_rows,
            problem.jacobian_drift.reshape(-1),
            problem.friction,
            self._rows[:, 1:] @ problem.velocity if sliding is None else sliding,
            touching,
            self._factor,
            self._half,
            self._matrix,
            self._work,
            self._order,
            self.moving,
            self.slip_direction,
            self._state,
            self._intended,
            self._other_slip,
            self._found,
            self._other_forces,
            self.delassus,
            self.free,
            self.critical_friction,
            self.jammed,
            self._forces,
            self._contact_acceleration,
            self.acceleration,
            self.contact_status,
        )
        if answer[0] != _SINGULAR:
            self._warm = answer[0] == _SOLVED
        return answer
