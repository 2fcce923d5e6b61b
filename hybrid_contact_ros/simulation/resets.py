"""What a transition does to the state: impacts, and projections onto closed contacts (J 79, 82)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import LARGEST
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import Event, EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.impact import ImpactResult, impact
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.simulation.transition_result import Settled
from hybrid_contact_ros.simulation.without_collision import impact_without_collision

Array = NDArray[np.float64]
_RESOLVED = (Status.SOLVED, Status.INACCURATE, Status.STEP_LIMIT)


class Resets:
    """Resets of one system.

    Attributes:
        gap_drift, velocity_drift: the largest that projections have removed, m and m/s.
    """

    def __init__(self, system: AdaptedSystem, options: Options) -> None:
        self.system, self.options = system, options
        self.gap_drift = self.velocity_drift = 0.0

    def collide(
        self,
        time: float,
        here: Settled,
        problem: ContactProblem,
        scope: frozenset[int],
        arriving: frozenset[int],
        leaving: frozenset[int],
        regular: bool,
    ) -> bool:
        """Resolve an impact; False where that fails.

        Contacts ``leaving`` as the others arrive, their gaps no more than the tolerance, may be sent back by it: then
        they are part of it, so that one impact is all that an instant sees (J Theorem 8).
        """
        if not regular and problem.restitution[sorted(scope)].any():
            here.status = ExecutionStatus.SINGULAR
            here.why = f"restitution of {self.system.listed(scope)} needs a regular inertia"
            return False
        if len(scope) > LARGEST and self.options.law != "simultaneous":
            here.status, here.why = ExecutionStatus.NO_MODE, f"{len(scope)} contacts touch, too many to try"
            return False
        result = impact(problem, here.mode, scope, self.options, regular)
        while result.status in _RESOLVED:
            late = problem.normal_jacobian @ result.velocity < -self.options.velocity_tolerance
            back = frozenset(i for i in leaving - scope if late[i])
            if not back or (len(scope | back) > LARGEST and self.options.law != "simultaneous"):
                break
            together = impact(problem, here.mode, scope | back, self.options, regular)
            if together.status not in _RESOLVED or not together.decided:
                break  # then they hit after it
            result, scope, arriving = together, scope | back, arriving | back
        if result.status not in _RESOLVED:
            here.status, here.why = ExecutionStatus.NO_MODE, f"impact of {self.system.listed(scope)} has no mode"
            if result.status is Status.SINGULAR:
                here.status = ExecutionStatus.SINGULAR
                here.why = f"impact of {self.system.listed(scope)} breaks J Assumption A5"
            return False
        self._apply_impact(time, here, EventKind.TOUCHDOWN, arriving, result)
        return True

    def jam(self, time: float, here: Settled, problem: ContactProblem, scope: frozenset[int]) -> bool:
        """Resolve an impact without collision; False where there is none."""
        result = impact_without_collision(problem, scope, self.options.velocity_tolerance)
        if result is None:
            return False
        pushed = result.impulse[:, 0] > 0.0
        contacts = frozenset(i for i in scope if pushed[i])
        self._apply_impact(time, here, EventKind.IMPACT_WITHOUT_COLLISION, contacts, result)
        return True

    def _apply_impact(
        self, time: float, here: Settled, kind: EventKind, contacts: frozenset[int], result: ImpactResult
    ) -> None:
        event = Event(
            time,
            kind,
            contacts,
            here.mode,
            result.mode,
            here.q.copy(),
            here.v.copy(),
            result.velocity,
            result.impulse,
            result.bounced,
            result.status,
            result.decided,
        )
        self.apply(here, event, {})

    def apply(self, here: Settled, event: Event, directions: Mapping[int, Array]) -> None:
        """Append an event and go to where it leads."""
        here.events.append(event)
        here.mode, here.directions = event.after, dict(directions)
        here.v = event.velocity_after
        if event.kind not in (EventKind.LIFTOFF, EventKind.SLIP):  # these have the identity as their reset
            here.q, here.v = self.project(event.time, here.q, here.v, here.mode)

    def project(self, time: float, q: Array, v: Array, mode: Mode) -> tuple[Array, Array]:
        """Take gaps of closed contacts and velocities of closed rows to zero; the largest of each are remembered."""
        closed = sorted(mode.closed)
        if not closed:
            return q, v
        for _ in range(3):
            problem = self.system.problem(q, v, time, mode.closed)
            gap = problem.gap[closed]
            worst = float(np.abs(gap).max())
            self.gap_drift = max(self.gap_drift, worst)
            if worst <= 1e-15:
                break
            back = np.asarray(np.linalg.lstsq(problem.normal_jacobian[closed], gap, rcond=1e-10)[0], dtype=np.float64)
            q = self.system.integrate(q, -back)
        problem = self.system.problem(q, v, time, mode.closed)
        rows = problem.jacobian().reshape(problem.contacts, -1, problem.nv)
        self.velocity_drift = max(self.velocity_drift, float(np.abs(rows[mode.held(problem)] @ v).max()))
        outcome = plastic_impact(problem, mode.closed, mode.sliding)
        return q, v if outcome.status is Status.SINGULAR else outcome.velocity
