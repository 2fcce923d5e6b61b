"""The force-acceleration solve of every message: arrays made once, one kernel call a state."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.mechanics.contact_space import contact_space
from hybrid_contact_ros.kernels.modes.forces import force_acceleration
from hybrid_contact_ros.kernels.modes.records import state_out, state_scratch
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]

TOLERANCE = 1e-8
REAL_TIME_STEPS = 1000
"""Steps of splitting at most where an active set fails: some 0.3 ms for four contacts, 0.7 ms for eight."""
OFFLINE_STEPS = 50_000
"""Steps of splitting at most where time does not matter."""
_MANY = 8
"""Contacts above which steps are fewer, so that a solve takes no longer: a step costs the square of the contacts."""
_SOLVED, _SINGULAR = int(Status.SOLVED), int(Status.SINGULAR)


def mode_steps(contacts: int) -> int:
    """Steps of splitting that a solve in real time may take."""
    return REAL_TIME_STEPS * _MANY**2 // max(contacts, _MANY) ** 2


class ModeWorkspace:
    """Scratch and results of the force-acceleration solve for problems of one size.

    The results are views into the workspace: the next call overwrites them. One workspace serves one thread.

    :meth:`solve` is :meth:`prepare`, which factors M, and then :meth:`solve_prepared`, which may be called several
    times.

    Attributes, written by :meth:`solve`; n = m (1 + d):
        rows: J (n, nv). delassus: G (n, n), 1/kg. free: b (n,), contact accelerations without contact forces, m/s².
        forces: λ (m, 1 + d), N. contact_acceleration: G λ + b (m, 1 + d), m/s², of all contacts.
        acceleration: v̇ (nv,). contact_status: (m,) uint8, values of ContactStatus.
        slip_direction: (m, d), the unit vector along which a contact slides or starts to; zero for the others.
        moving: (m,) uint8, 1 for a contact that slides already (or has no friction), so that its friction is given.
        critical_friction: (m,), the coefficient with which a slide jams (Painlevé), inf where it never does.
        jammed: (m,) uint8, values of :class:`~hybrid_contact_ros.codes.Jamming`: FREE; HELD, the contact slides and was
            solved as if at rest; LOST, no mode was found, and the forces are a bounded guess.

    Args:
        nv, contacts, tangents: sizes of the problems.
        steps: of operator splitting at most, where an active set fails.
        critical_part: contacts that slide with more than this part of their critical friction are held at rest. With
            inf none is held, and where the law has no answer there is none (for use offline).
    """

    def __init__(
        self, nv: int, contacts: int, tangents: int, steps: int = REAL_TIME_STEPS, critical_part: float = math.inf
    ) -> None:
        m, d = contacts, tangents
        self._steps, self._critical_part = steps, critical_part
        self.nv, self.contacts, self.tangents = nv, m, d
        n = m * (1 + d)
        self.rows, self.delassus, self.free = np.zeros((n, nv)), np.zeros((n, n)), np.zeros(n)
        self._factor, self._half = np.zeros((nv, nv)), np.zeros((n + 1, nv))
        self._no_drift, self._unforced = np.zeros(n), np.zeros(n)
        out = state_out(nv, m, d)
        self._memory = (*state_scratch(m, d), *out)
        self._warm = False
        self.forces: Array = out.forces.reshape(m, 1 + d)
        self.contact_acceleration: Array = out.accelerations.reshape(m, 1 + d)
        self.acceleration, self.contact_status = out.acceleration, out.status
        self.slip_direction, self.moving = out.slip, out.moving
        self.critical_friction, self.jammed = out.critical, out.jammed

    def forget(self) -> None:
        """Start the next solve from nothing instead of the last mode."""
        self._warm = False

    def prepare(self, problem: ContactProblem, rows: Array) -> bool:
        """Factor M and form G = J M⁻¹ Jᵀ and −J M⁻¹ bias, for the solves of one state; False where M is not positive
        definite. Nothing that :meth:`solve_prepared` starts from is changed.

        Args:
            problem: with the workspace's sizes (unchecked: this is the path of every message).
            rows: its ``jacobian()``, J (n, nv); kept, not copied.
        """
        self.rows = rows
        bias = problem.bias_force
        code = contact_space(
            problem.mass, bias, rows, self._no_drift, self._factor, self._half, self.delassus, self._unforced
        )
        return bool(code == _SOLVED)

    def solve_prepared(
        self,
        problem: ContactProblem,
        touching: NDArray[np.uint8],
        slip_speed: float,
        sliding: Array,
        tolerance: float = TOLERANCE,
    ) -> tuple[int, float, int]:
        """:meth:`solve` of a problem that :meth:`prepare` was given; only its drift may have changed since.

        ``sliding`` (m, d): velocities of the contact points along the tangents, m/s.
        """
        np.add(problem.jacobian_drift.reshape(-1), self._unforced, out=self.free)
        answer = force_acceleration(  # flat: the settings, the problem, scratch and out, in the order of their records
            self.tangents,
            self._warm,
            self._steps,
            self._critical_part,
            slip_speed,
            tolerance,
            self._factor,
            problem.bias_force,
            self.rows,
            self.delassus,
            self.free,
            problem.friction,
            sliding,
            touching,
            *self._memory,
        )
        self._warm = answer[0] == _SOLVED
        return answer

    def solve(
        self,
        problem: ContactProblem,
        touching: NDArray[np.uint8],
        slip_speed: float,
        tolerance: float = TOLERANCE,
        sliding: Array | None = None,
    ) -> tuple[int, float, int]:
        """Solve for the contacts flagged in ``touching`` (m,) uint8.

        The solve starts from the mode of the last one, if that was solved: along a stream of states the mode mostly
        still holds, and one linear system shows it. Where modes are not unique the last one stays.

        Args:
            problem: of the sizes of the workspace (not checked: this is the path of every message).
            slip_speed: m/s. A contact point that is faster slides, and friction opposes its velocity; a slower one is
                at rest. tolerance: of the scaled residual.
            sliding: (m, d), m/s, the velocities of the contact points along their tangents, where more is known of them
                than one state tells; by default J_t v.

        Returns:
            (status, residual, iterations), as :func:`~hybrid_contact_ros.kernels.modes.forces.force_acceleration`;
            SINGULAR where M is not positive definite, and then no result is written.
        """
        if not self.prepare(problem, problem.jacobian()):
            return _SINGULAR, 0.0, 0
        if sliding is None:
            sliding = problem.tangent_jacobian @ problem.velocity
        return self.solve_prepared(problem, touching, slip_speed, sliding, tolerance)
