"""All transitions at one instant: first an impact, then what the forces no longer hold (J 79, 82, Theorem 8)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.complementarity import Selection
from hybrid_contact_ros.simulation.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.guards import Guards
from hybrid_contact_ros.simulation.impact import withdrawn
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.simulation.resets import Resets
from hybrid_contact_ros.simulation.transition_result import Settled, change_of_mode

Array = NDArray[np.float64]
IMPACTS = (EventKind.TOUCHDOWN, EventKind.IMPACT_WITHOUT_COLLISION)
_MOST = 12
"""Transitions at one instant; two are the rule (J Theorem 8), more are for massless limbs and footnote 18 of J."""


class Transitions:
    """Applies guards and resets of one system."""

    def __init__(self, system: AdaptedSystem, options: Options) -> None:
        self.system, self.options = system, options
        self.guards, self.resets = Guards(system, options), Resets(system, options)

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
        regular = self.guards.regular(time, q, v)
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
                if not self.resets.collide(time, here, problem, scope, arriving, touching - scope, regular):
                    return here
                seen = {(here.mode, ())}
                continue
            if not regular:
                scope -= self.guards.leaving(time, here, scope - here.mode.closed)
                here.idle = scope
            diverging = not here.events and self.guards.diverging(time, here, regular)
            selection = (
                Selection(None) if diverging else self.guards.select(time, here.q, here.v, here.mode, scope, regular)
            )
            frictional = regular and self.guards.kinetic(regular)
            if selection.mode is None and scope and frictional and self.resets.jam(time, here, problem, scope):
                seen = {(here.mode, ())}
                continue
            if diverging:
                selection = self.guards.select(time, here.q, here.v, here.mode, scope, regular)
            if selection.mode is None:
                here.status = ExecutionStatus.NO_MODE
                here.why = f"no mode of {self.system.listed(scope)} satisfies force-acceleration complementarity"
                return here
            if selection.mode == here.mode:
                known = self._signs(here.directions)
                here.directions = dict(selection.directions)
                turned = self.guards.turned(here, problem)
                if turned and not here.events:
                    here.events.append(change_of_mode(self.system, time, here, selection, turned))
                if turned or not known or known == self._signs(here.directions):
                    return self._rested(here, problem)  # otherwise a sliding contact reverses
            event = change_of_mode(self.system, time, here, selection)
            key = (selection.mode, self._signs(selection.directions))
            if key in seen and not (here.events and here.events[-1].kind in IMPACTS):
                here.status, here.why = ExecutionStatus.ALTERNATING, self._flips(here, selection.mode)
                return here
            seen.add(key)
            changed = self.system.problem(here.q, here.v, time, selection.mode.closed)
            moving = self.guards.moving(changed, here)
            self.resets.apply(here, event, selection.directions)
            if (moving & here.mode.sliding) - self.guards.moving(changed, here):
                continue  # contacts that stick have stopped others of the same body
            if np.array_equal(changed.bias_force, problem.bias_force):
                return self._rested(here, changed)  # CP_FA does not depend on the mode (J Theorem 8), if forces do not
        here.status, here.why = ExecutionStatus.ALTERNATING, f"more than {_MOST} transitions at one instant"
        return here

    def _rested(self, here: Settled, problem: ContactProblem) -> Settled:
        """The end of the transitions; limbs that touch and carry nothing do not approach."""
        turned = self.guards.turned(here, problem)
        if turned:
            stopped = plastic_impact(problem.with_velocity(here.v), here.mode.closed, here.mode.sliding - turned)
            here.v = here.v if stopped.status is Status.SINGULAR else stopped.velocity
        here.idle -= here.mode.closed
        if here.idle:
            here.v = withdrawn(problem, here.mode, here.idle, here.v)
        return here

    def _signs(self, directions: Mapping[int, Array]) -> tuple[tuple[int, int], ...]:
        """Planar directions as signs: reversing changes the vector field. In space a direction turns smoothly."""
        if self.system.tangents != 1:
            return ()
        return tuple(sorted((i, int(np.sign(s[0]))) for i, s in directions.items()))

    def _flips(self, here: Settled, to: Mode) -> str:
        names = self.system.contact_names
        return f"mode flips between {here.mode.label(names)} and {to.label(names)} without time passing"
