"""When a transition is due: which mode the forces allow, and what else ends one (Johnson (36)-(40), (78), (82))."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.mechanics.contact_space import is_regular
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.complementarity import ForceAcceleration, Selection
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_candidates import AT_REST
from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.mode_motion import JAM_FORCE, force_scale
from hybrid_contact_ros.simulation.options import Options

Array = NDArray[np.float64]
_LEAST_SPEED = 1e-2  # times the tolerance of speeds: a slower slip has no direction that could be compared
_TURNED = 0.5  # cosine of the angle from which a slip counts as being in another direction


class Guards:
    """Guards of one system, those of impacts excepted: an impact is due where a touching contact approaches."""

    def __init__(self, system: AdaptedSystem, options: Options) -> None:
        self.system, self.options = system, options

    def regular(self, state: HybridState) -> bool:
        """Whether M is invertible here."""
        mass = self.system.problem(state.q, state.v, state.time).mass
        return bool(is_regular(mass, np.empty_like(mass)))

    def kinetic(self, regular: bool) -> bool:
        """Whether sliding contacts have friction."""
        return regular if self.options.sliding_friction is None else self.options.sliding_friction

    def dynamics(self, state: HybridState, kinetic: bool, **more: frozenset[int]) -> ModeDynamics:
        """The vector field of the state's mode; for the other arguments see :class:`~.mode_dynamics.ModeDynamics`."""
        speed = self.options.velocity_tolerance
        return ModeDynamics(self.system, state.mode, kinetic, speed, state.directions, **more)

    def select(self, state: HybridState, scope: frozenset[int], regular: bool) -> Selection:
        """The mode that force-acceleration complementarity allows, and the directions in which contacts start to slide.

        Args:
            scope: contacts that touch and do not leave. regular: whether M is invertible.
        """
        kinetic = self.kinetic(regular)
        if not scope:
            return Selection(HybridMode())
        law = ForceAcceleration(self.system, state, kinetic, self.options.velocity_tolerance)
        found = law.select(scope)
        if found.mode is None or kinetic or not found.mode.sliding:
            return found
        # Without friction the complementarity problem does not say where to contacts slide; their motion does.
        chosen = state._replace(mode=found.mode, directions={})
        now = self.dynamics(chosen, kinetic, forcing=state.mode.closed).motion(state.time, state.q, state.v)
        directions = {}
        for i in found.mode.sliding:
            along = law.problem.tangent_jacobian[i] @ state.v
            if i not in law.moving:
                along = now.problem.tangent_jacobian[i] @ now.acceleration + now.problem.jacobian_drift[i, 1:]
            size = float(np.sqrt(along @ along))
            directions[i] = along / size if size > 0.0 else np.eye(along.size)[0]
        return Selection(found.mode, directions, found.decided, found.trend_order)

    def diverging(self, state: HybridState, regular: bool) -> bool:
        """Whether the forces of the mode grow beyond bounds, as they do where sliding contacts begin to jam."""
        if not state.mode.sliding or not (regular and self.kinetic(regular)):
            return False
        now = self.dynamics(state, True).motion(state.time, state.q, state.v)
        return now.solved and float(np.abs(now.force).max()) >= 0.5 * JAM_FORCE * force_scale(now.problem)

    def leaving(self, state: HybridState, contacts: frozenset[int]) -> frozenset[int]:
        """Open contacts whose gap accelerates open in the present mode: they are in no guard (Johnson (78)).

        With regular M complementarity finds that by itself (Johnson, Theorem 1); a massless limb in the air moves as
        Assumption A6 says.
        """
        if not contacts:
            return contacts
        now = self.dynamics(state, False).motion(state.time, state.q, state.v)
        second = now.problem.normal_jacobian @ now.acceleration + now.problem.jacobian_drift[:, 0]
        return frozenset(i for i in contacts if now.solved and second[i] > 1e-8)

    def moving(self, problem: ContactProblem, state: HybridState) -> frozenset[int]:
        """Sliding contacts that are faster than one at rest."""
        slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, state.v) ** 2).sum(axis=1))
        return frozenset(i for i in state.mode.sliding if slip[i] > self.options.velocity_tolerance)

    def turned(self, state: HybridState, problem: ContactProblem) -> frozenset[int]:
        """Sliding contacts in space that have come to rest, and slide on in clearly another direction.

        The rest of their speed has to be removed: with it, their friction would turn through all directions between.
        """
        if self.system.tangents == 1:
            return frozenset()
        found = set()
        for i in state.mode.sliding & state.directions.keys():
            slip = problem.tangent_jacobian[i] @ state.v
            size = float(np.sqrt(slip @ slip))
            tolerance = self.options.velocity_tolerance
            rests = _LEAST_SPEED * tolerance < size <= AT_REST * tolerance
            if rests and problem.friction[i] > 0.0 and slip @ state.directions[i] < _TURNED * size:
                found.add(i)
        return frozenset(found)
