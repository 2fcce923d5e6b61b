"""All transitions at one instant: impacts, then what the forces no longer hold (Johnson (79), (82), Theorem 8)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.complementarity import Selection
from hybrid_contact_ros.simulation.execution import ExecutionEventKind, ExecutionStatus
from hybrid_contact_ros.simulation.guards import Guards
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.impact import stop_massless_approach
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.simulation.resets import Resets
from hybrid_contact_ros.simulation.transition_result import TransitionResult, change_of_mode

Array = NDArray[np.float64]
IMPACTS = (ExecutionEventKind.TOUCHDOWN, ExecutionEventKind.IMPACT_WITHOUT_COLLISION)
_MAX_TRANSITIONS = 12
"""At one instant. Two are the rule (Johnson, Theorem 8); massless limbs, and Johnson's footnote 18, may take more."""


class Transitions:
    """Applies guards and resets of one system."""

    def __init__(self, system: AdaptedSystem, options: Options) -> None:
        self.system, self.options = system, options
        self.guards, self.resets = Guards(system, options), Resets(system, options)

    def settle(self, state: HybridState, idle: frozenset[int] = frozenset()) -> TransitionResult:
        """Apply transitions until none is due.

        Args:
            idle: contacts that touch besides those without a gap; they touch to the accuracy of the integration.
        """
        here = TransitionResult(state)
        regular = self.guards.regular(state)
        seen = {(state.mode, self._signs(state.directions))}
        for _ in range(_MAX_TRANSITIONS):
            problem, scope, arriving, leaving = self._touching(here.state, idle)
            # 1. What approaches hits.
            if arriving:
                if not self.resets.collide(here, problem, scope, arriving, leaving, regular):
                    return here
                seen = {(here.state.mode, ())}
                continue
            if not regular:
                scope -= self.guards.leaving(here.state, scope - here.state.mode.closed)
                here.idle = scope
            # 2. A sliding contact that no force can hold jams.
            diverging = not here.events and self.guards.diverging(here.state, regular)
            selection = Selection(None) if diverging else self.guards.select(here.state, scope, regular)
            frictional = regular and self.guards.kinetic(regular)
            if selection.mode is None and scope and frictional and self.resets.jam(here, problem, scope):
                seen = {(here.state.mode, ())}
                continue
            # 3. The mode that the forces allow follows.
            if diverging:
                selection = self.guards.select(here.state, scope, regular)
            if selection.mode is None:
                contacts = self.system.listed(scope)
                here.stop(
                    ExecutionStatus.NO_MODE, f"no mode of {contacts} satisfies force-acceleration complementarity"
                )
                return here
            if selection.mode == here.state.mode and self._stays(here, selection, problem):
                return self._at_rest(here, problem)
            event = change_of_mode(self.system, here.state, selection)
            key = (selection.mode, self._signs(selection.directions))
            if key in seen and not (here.events and here.events[-1].kind in IMPACTS):
                here.stop(ExecutionStatus.ALTERNATING, self._flips(here.state.mode, selection.mode))
                return here
            seen.add(key)
            changed = self.system.problem(here.state.q, here.state.v, state.time, selection.mode.closed)
            moving = self.guards.moving(changed, here.state)
            self.resets.apply(here, event, selection.directions)
            if (moving & here.state.mode.sliding) - self.guards.moving(changed, here.state):
                continue  # contacts that stick have stopped others of the same body
            if np.array_equal(changed.bias_force, problem.bias_force):
                # The complementarity problem does not depend on the mode if forces do not (Johnson, Theorem 8).
                return self._at_rest(here, changed)
        here.stop(ExecutionStatus.ALTERNATING, f"more than {_MAX_TRANSITIONS} transitions at one instant")
        return here

    def _touching(
        self, state: HybridState, idle: frozenset[int]
    ) -> tuple[ContactProblem, frozenset[int], frozenset[int], frozenset[int]]:
        """The contact problem; contacts that touch and do not leave, those of them that hit, and those that leave."""
        gap = self.system.gap(state.q)
        problem = self.system.problem(state.q, state.v, state.time, state.mode.closed)
        self.system.check_same_gap(gap, problem.gap)
        rate = problem.normal_jacobian @ state.v
        touching = frozenset(np.flatnonzero(gap <= self.options.gap_tolerance).tolist()) | state.mode.closed | idle
        resting = self.options.velocity_tolerance
        scope = frozenset(i for i in touching if rate[i] <= resting or i in idle)
        arriving = frozenset(i for i in touching if rate[i] < -resting)
        return problem, scope, arriving, touching - scope

    def _stays(self, here: TransitionResult, selection: Selection, problem: ContactProblem) -> bool:
        """Whether a mode that follows itself is no transition: it is one where a sliding contact in the plane reverses.

        A contact in space that came to rest and slides on in another direction is an event, and the transitions end.
        """
        known = self._signs(here.state.directions)
        here.state = here.state._replace(directions=dict(selection.directions))
        turned = self.guards.turned(here.state, problem)
        if turned and not here.events:
            here.events.append(change_of_mode(self.system, here.state, selection, turned))
        return bool(turned) or not known or known == self._signs(here.state.directions)

    def _at_rest(self, here: TransitionResult, problem: ContactProblem) -> TransitionResult:
        """The end of the transitions: contacts that turned stop first, and idle limbs do not approach."""
        state = here.state
        turned = self.guards.turned(state, problem)
        if turned:
            stopped = plastic_impact(problem.with_velocity(state.v), state.mode.closed, state.mode.sliding - turned)
            state = state if stopped.status is Status.SINGULAR else state._replace(v=stopped.velocity)
        here.idle -= state.mode.closed
        if here.idle:
            state = state._replace(v=stop_massless_approach(problem, state.mode, here.idle, state.v))
        here.state = state
        return here

    def _signs(self, directions: Mapping[int, Array]) -> tuple[tuple[int, int], ...]:
        """Planar directions as signs: reversing changes the vector field. In space a direction turns smoothly."""
        if self.system.tangents != 1:
            return ()
        return tuple(sorted((i, int(np.sign(s[0]))) for i, s in directions.items()))

    def _flips(self, before: HybridMode, after: HybridMode) -> str:
        names = self.system.contact_names
        return f"mode flips between {before.label(names)} and {after.label(names)} without time passing"
