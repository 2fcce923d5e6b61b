"""All transitions at one instant: first an impact, then what the forces no longer hold (J 79, 82, Theorem 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.executions.adapter import AdaptedSystem
from hybrid_contact_ros.executions.complementarity import AT_REST, ForceAcceleration, Selection
from hybrid_contact_ros.executions.events import BEYOND, force_scale
from hybrid_contact_ros.executions.execution import Event, EventKind, ExecutionStatus
from hybrid_contact_ros.executions.flow import Flow
from hybrid_contact_ros.executions.impact import impact, withdrawn
from hybrid_contact_ros.executions.mode import Mode
from hybrid_contact_ros.executions.options import Options
from hybrid_contact_ros.executions.without_collision import impact_without_collision
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.kernels.mode_space import is_regular
from hybrid_contact_ros.kernels.status import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import LARGEST

Array = NDArray[np.float64]
IMPACTS = (EventKind.TOUCHDOWN, EventKind.IMPACT_WITHOUT_COLLISION)
_RESOLVED = (Status.SOLVED, Status.INACCURATE, Status.STEP_LIMIT)
_HARDLY, _TURNED = 1e-2, 0.5  # times the tolerance of speeds; cosine of an angle
_MOST = 12
"""Transitions at one instant; two are the rule (J Theorem 8), more are for massless limbs and footnote 18 of J."""


@dataclass(slots=True)
class Settled:
    """Where the transitions at one instant lead.

    ``idle``: touching contacts of massless limbs that carry nothing (see :class:`~.flow.Flow`). ``status`` is None
    where a mode was found that time can pass in.
    """

    mode: Mode
    directions: Mapping[int, Array]
    q: Array
    v: Array
    events: list[Event] = field(default_factory=list)
    status: ExecutionStatus | None = None
    why: str = ""
    idle: frozenset[int] = frozenset()


class Transitions:
    """Applies guards and resets of one system."""

    def __init__(self, system: AdaptedSystem, options: Options) -> None:
        self.system, self.options = system, options
        self.gap_drift = self.velocity_drift = 0.0

    def regular(self, time: float, q: Array, v: Array) -> bool:
        """Whether M is invertible here."""
        mass = self.system.problem(q, v, time).mass
        return bool(is_regular(mass, np.empty_like(mass)))

    def kinetic(self, regular: bool) -> bool:
        """Whether sliding contacts have friction."""
        return regular if self.options.sliding_friction is None else self.options.sliding_friction

    def settle(
        self,
        time: float,
        q: Array,
        v: Array,
        mode: Mode,
        directions: Mapping[int, Array],
        idle: frozenset[int] = frozenset(),
    ) -> Settled:
        """Apply transitions until none is due. ``idle``: contacts that touch besides, to the accuracy of a flow."""
        here = Settled(mode, directions, q, v)
        regular = self.regular(time, q, v)
        seen = {(mode, self._signs(directions))}
        for _ in range(_MOST):
            gap = self.system.gap(here.q)
            problem = self.system.problem(here.q, here.v, time, here.mode.closed)
            self.system.same_gap(gap, problem.gap)
            rate = problem.normal_jacobian @ here.v
            touching = frozenset(np.flatnonzero(gap <= self.options.gap_tolerance).tolist())
            touching |= here.mode.closed | idle
            resting = self.options.velocity_tolerance
            scope = frozenset(i for i in touching if rate[i] <= resting or i in idle)
            arriving = frozenset(i for i in touching if rate[i] < -resting)
            if arriving:
                if not self._impact(time, here, problem, scope, arriving, touching - scope, regular):
                    return here
                seen = {(here.mode, ())}
                continue
            if not regular:
                scope -= self._leaving(time, here, scope - here.mode.closed)
                here.idle = scope
            diverging = not here.events and self._diverging(time, here, regular)
            selection = Selection(None) if diverging else self.select(time, here.q, here.v, here.mode, scope, regular)
            if selection.mode is None and self._jam(time, here, problem, scope, regular):
                seen = {(here.mode, ())}
                continue
            if diverging:
                selection = self.select(time, here.q, here.v, here.mode, scope, regular)
            if selection.mode is None:
                here.status = ExecutionStatus.NO_MODE
                here.why = f"no mode of {self._names(scope)} satisfies force-acceleration complementarity"
                return here
            if selection.mode == here.mode:
                known = self._signs(here.directions)
                here.directions = dict(selection.directions)
                turned = self._turned(here, problem)
                if turned and not here.events:
                    here.events.append(self._event(time, here, selection, turned))
                if turned or not known or known == self._signs(here.directions):
                    return self._rested(here, problem)  # otherwise a sliding contact reverses
            event = self._event(time, here, selection)
            key = (selection.mode, self._signs(selection.directions))
            if key in seen and not (here.events and here.events[-1].kind in IMPACTS):
                here.status, here.why = ExecutionStatus.ALTERNATING, self._flips(here, selection.mode)
                return here
            seen.add(key)
            changed = self.system.problem(here.q, here.v, time, selection.mode.closed)
            moving = self._moving(changed, here)
            self._apply(here, event, selection.directions)
            if (moving & here.mode.sliding) - self._moving(changed, here):
                continue  # contacts that stick have stopped others of the same body
            if np.array_equal(changed.bias_force, problem.bias_force):
                return self._rested(here, changed)  # CP_FA does not depend on the mode (J Theorem 8), if forces do not
        here.status, here.why = ExecutionStatus.ALTERNATING, f"more than {_MOST} transitions at one instant"
        return here

    def _impact(
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
            here.why = f"restitution of {self._names(scope)} needs a regular inertia"
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
            here.status, here.why = ExecutionStatus.NO_MODE, f"impact of {self._names(scope)} has no mode"
            if result.status is Status.SINGULAR:
                here.status = ExecutionStatus.SINGULAR
                here.why = f"impact of {self._names(scope)} breaks J Assumption A5"
            return False
        event = Event(
            time,
            EventKind.TOUCHDOWN,
            arriving,
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
        self._apply(here, event, {})
        return True

    def _diverging(self, time: float, here: Settled, regular: bool) -> bool:
        """Whether the forces of the mode grow beyond bounds, as they do where sliding contacts begin to jam."""
        if not here.mode.sliding or not (regular and self.kinetic(regular)):
            return False
        flow = Flow(self.system, here.mode, True, self.options.velocity_tolerance, here.directions)
        now = flow.dynamics(time, here.q, here.v)
        return now.solved and float(np.abs(now.force).max()) >= 0.5 * BEYOND * force_scale(now.problem)

    def _jam(self, time: float, here: Settled, problem: ContactProblem, scope: frozenset[int], regular: bool) -> bool:
        """Resolve an impact without collision; False where there is none."""
        if not (regular and self.kinetic(regular) and scope):
            return False
        result = impact_without_collision(problem, scope, self.options.velocity_tolerance)
        if result is None:
            return False
        pushed = result.impulse[:, 0] > 0.0
        event = Event(
            time,
            EventKind.IMPACT_WITHOUT_COLLISION,
            frozenset(i for i in scope if pushed[i]),
            here.mode,
            result.mode,
            here.q.copy(),
            here.v.copy(),
            result.velocity,
            result.impulse,
            status=result.status,
        )
        self._apply(here, event, {})
        return True

    def _rested(self, here: Settled, problem: ContactProblem) -> Settled:
        """The end of the transitions; limbs that touch and carry nothing do not approach."""
        turned = self._turned(here, problem)
        if turned:
            stopped = plastic_impact(problem.with_velocity(here.v), here.mode.closed, here.mode.sliding - turned)
            here.v = here.v if stopped.status is Status.SINGULAR else stopped.velocity
        here.idle -= here.mode.closed
        if here.idle:
            here.v = withdrawn(problem, here.mode, here.idle, here.v)
        return here

    def select(self, time: float, q: Array, v: Array, mode: Mode, scope: frozenset[int], regular: bool) -> Selection:
        """CP_FA, with the directions in which frictionless sliding starts."""
        kinetic = self.kinetic(regular)
        if not scope:
            return Selection(Mode())
        problem_of = ForceAcceleration(self.system, time, q, v, mode, kinetic, self.options.velocity_tolerance)
        found = problem_of.select(scope)
        if found.mode is None or kinetic or not found.mode.sliding:
            return found
        flow = Flow(self.system, found.mode, kinetic, self.options.velocity_tolerance, {}, mode.closed)
        now = flow.dynamics(time, q, v)
        directions = {}
        for i in found.mode.sliding:
            along = problem_of.problem.tangent_jacobian[i] @ v
            if i not in problem_of.moving:
                along = now.problem.tangent_jacobian[i] @ now.acceleration + now.problem.jacobian_drift[i, 1:]
            size = float(np.sqrt(along @ along))
            directions[i] = along / size if size > 0.0 else np.eye(along.size)[0]
        return Selection(found.mode, directions, found.decided, found.trend_order)

    def _leaving(self, time: float, here: Settled, contacts: frozenset[int]) -> frozenset[int]:
        """Open contacts whose gap accelerates open as things are: not in a guard (J 78).

        With regular M complementarity finds that by itself (J Theorem 1); a massless limb in the air moves as A6 says.
        """
        if not contacts:
            return contacts
        flow = Flow(self.system, here.mode, False, self.options.velocity_tolerance, here.directions)
        now = flow.dynamics(time, here.q, here.v)
        second = now.problem.normal_jacobian @ now.acceleration + now.problem.jacobian_drift[:, 0]
        return frozenset(i for i in contacts if now.solved and second[i] > 1e-8)

    def _moving(self, problem: ContactProblem, here: Settled) -> frozenset[int]:
        """Sliding contacts that are faster than one at rest."""
        slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, here.v) ** 2).sum(axis=1))
        return frozenset(i for i in here.mode.sliding if slip[i] > self.options.velocity_tolerance)

    def _turned(self, here: Settled, problem: ContactProblem) -> frozenset[int]:
        """Sliding contacts in space that have come to rest, and slide on in clearly another direction.

        What is left of their speed is none: with it, their friction would turn through all directions between.
        """
        if self.system.tangents == 1:
            return frozenset()
        found = set()
        for i in here.mode.sliding & here.directions.keys():
            slip = problem.tangent_jacobian[i] @ here.v
            size = float(np.sqrt(slip @ slip))
            rests = _HARDLY * self.options.velocity_tolerance < size <= AT_REST * self.options.velocity_tolerance
            if rests and problem.friction[i] > 0.0 and slip @ here.directions[i] < _TURNED * size:
                found.add(i)
        return frozenset(found)

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
        return q, v if outcome.status is Status.SINGULAR else outcome.velocity  # INACCURATE of hardly any speed

    def _apply(self, here: Settled, event: Event, directions: Mapping[int, Array]) -> None:
        here.events.append(event)
        here.mode, here.directions = event.after, dict(directions)
        here.v = event.velocity_after
        if event.kind not in (EventKind.LIFTOFF, EventKind.SLIP):  # these have the identity as their reset
            here.q, here.v = self.project(event.time, here.q, here.v, here.mode)

    def _event(self, time: float, here: Settled, selection: Selection, turned: frozenset[int] = frozenset()) -> Event:
        before, after = here.mode, selection.mode
        assert after is not None
        opened, closed = before.closed - after.closed, after.closed - before.closed
        slips = (after.sliding - before.sliding) - closed
        sticks = (before.sliding - after.sliding) & after.closed
        kind, contacts = next(
            (
                (kind, contacts)
                for kind, contacts in (
                    (EventKind.LIFTOFF, opened),
                    (EventKind.CLOSING, closed),
                    (EventKind.SLIP, slips),
                    (EventKind.STICK, sticks),
                )
                if contacts
            ),
            (EventKind.SLIP, turned or after.sliding),
        )
        return Event(
            time,
            kind,
            contacts,
            before,
            after,
            here.q.copy(),
            here.v.copy(),
            here.v.copy(),
            np.zeros((self.system.contacts, 1 + self.system.tangents)),
            decided=selection.decided,
            trend_order=selection.trend_order,
        )

    def _signs(self, directions: Mapping[int, Array]) -> tuple[tuple[int, int], ...]:
        """Planar directions as signs: reversing changes the vector field. In space a direction turns smoothly."""
        if self.system.tangents != 1:
            return ()
        return tuple(sorted((i, int(np.sign(s[0]))) for i, s in directions.items()))

    def _names(self, contacts: frozenset[int]) -> str:
        return ", ".join(self.system.contact_names[i] for i in sorted(contacts)) or "no contact"

    def _flips(self, here: Settled, to: Mode) -> str:
        names = self.system.contact_names
        return f"mode flips between {here.mode.label(names)} and {to.label(names)} without time passing"
