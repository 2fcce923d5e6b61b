"""What a transition does to the state: impacts, and projections onto closed contacts (Johnson (79), (82))."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import MOST_ENUMERATED
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind, ExecutionStatus
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.impact import ImpactResult, impact
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.simulation.transition_result import TransitionResult
from hybrid_contact_ros.simulation.without_collision import impact_without_collision

Array = NDArray[np.float64]
_CLOSED_GAP = 1e-15  # m; a smaller gap is rounding, and no projection makes it smaller
# Rows that depend on each other have singular values near 1e-16 of the largest; those below this part count as zero, so
# that redundant contacts share the correction.
_REDUNDANT = 1e-10
_RESOLVED = (Status.SOLVED, Status.INACCURATE, Status.STEP_LIMIT)


class Resets:
    """Resets of one system.

    Attributes:
        gap_drift, velocity_drift: the largest gap and speed of a closed contact that a projection has removed, m, m/s.
    """

    def __init__(self, system: AdaptedSystem, options: Options) -> None:
        self.system, self.options = system, options
        self.gap_drift = self.velocity_drift = 0.0

    def collide(
        self,
        here: TransitionResult,
        problem: ContactProblem,
        scope: frozenset[int],
        arriving: frozenset[int],
        leaving: frozenset[int],
        regular: bool,
    ) -> bool:
        """Resolve an impact; False where that fails, and then ``here`` says why.

        Args:
            scope: contacts that touch and do not leave. arriving: those of them that hit.
            leaving: contacts that touch to the gap tolerance and leave as the others arrive. The impact may send them
                back; then they are part of it, so that an instant sees one impact only (Johnson, Theorem 8).
            regular: whether M is invertible.
        """
        if not regular and problem.restitution[sorted(scope)].any():
            why = f"restitution of {self.system.listed(scope)} needs a regular inertia"
            here.stop(ExecutionStatus.SINGULAR, why)
            return False
        if len(scope) > MOST_ENUMERATED and self.options.law != "simultaneous":
            here.stop(ExecutionStatus.NO_MODE, f"{len(scope)} contacts touch, too many to try")
            return False
        mode = here.state.mode
        result = impact(problem, mode, scope, self.options, regular)
        while result.status in _RESOLVED:
            approaching = problem.normal_jacobian @ result.velocity < -self.options.velocity_tolerance
            sent_back = frozenset(i for i in leaving - scope if approaching[i])
            if not sent_back or (len(scope | sent_back) > MOST_ENUMERATED and self.options.law != "simultaneous"):
                break
            together = impact(problem, mode, scope | sent_back, self.options, regular)
            if together.status not in _RESOLVED or not together.decided:
                break  # then they hit after it
            result, scope, arriving = together, scope | sent_back, arriving | sent_back
        if result.status is Status.SINGULAR:
            why = f"impact of {self.system.listed(scope)} breaks Johnson's Assumption A5"
            here.stop(ExecutionStatus.SINGULAR, why)
            return False
        if result.status not in _RESOLVED:
            here.stop(ExecutionStatus.NO_MODE, f"impact of {self.system.listed(scope)} has no mode")
            return False
        self._apply_impact(here, ExecutionEventKind.TOUCHDOWN, arriving, result)
        return True

    def jam(self, here: TransitionResult, problem: ContactProblem, scope: frozenset[int]) -> bool:
        """Resolve an impact without collision; False where there is none."""
        result = impact_without_collision(problem, scope, self.options.velocity_tolerance)
        if result is None:
            return False
        pushed = result.impulse[:, 0] > 0.0
        contacts = frozenset(i for i in scope if pushed[i])
        self._apply_impact(here, ExecutionEventKind.IMPACT_WITHOUT_COLLISION, contacts, result)
        return True

    def _apply_impact(
        self, here: TransitionResult, kind: ExecutionEventKind, contacts: frozenset[int], result: ImpactResult
    ) -> None:
        event = ExecutionEvent(
            time=here.state.time,
            kind=kind,
            contacts=contacts,
            before=here.state.mode,
            after=result.mode,
            q=here.state.q.copy(),
            velocity_before=here.state.v.copy(),
            velocity_after=result.velocity,
            impulse=result.impulse,
            bounced=result.bounced,
            status=result.status,
            decided=result.decided,
        )
        self.apply(here, event, {})

    def apply(self, here: TransitionResult, event: ExecutionEvent, directions: Mapping[int, Array]) -> None:
        """Append an event and go to the state that it leads to."""
        here.events.append(event)
        here.state = here.state._replace(v=event.velocity_after, mode=event.after, directions=dict(directions))
        if event.kind not in (ExecutionEventKind.LIFTOFF, ExecutionEventKind.SLIP):  # their reset is the identity
            here.state = self.project(here.state)

    def project(self, state: HybridState) -> HybridState:
        """Take gaps of closed contacts and velocities of closed rows to zero; the largest of each are remembered."""
        time, q, v, mode, _ = state
        closed = sorted(mode.closed)
        if not closed:
            return state
        for _ in range(3):
            problem = self.system.problem(q, v, time, mode.closed)
            gap = problem.gap[closed]
            worst = float(np.abs(gap).max())
            self.gap_drift = max(self.gap_drift, worst)
            if worst <= _CLOSED_GAP:
                break
            normals = problem.normal_jacobian[closed]
            back = np.asarray(np.linalg.lstsq(normals, gap, rcond=_REDUNDANT)[0], dtype=np.float64)
            q = self.system.integrate(q, -back)
        problem = self.system.problem(q, v, time, mode.closed)
        rows = problem.jacobian().reshape(problem.contacts, -1, problem.nv)
        self.velocity_drift = max(self.velocity_drift, float(np.abs(rows[mode.closed_rows(problem)] @ v).max()))
        outcome = plastic_impact(problem, mode.closed, mode.sliding)
        return state._replace(q=q, v=v if outcome.status is Status.SINGULAR else outcome.velocity)
