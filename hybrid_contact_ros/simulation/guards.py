"""When a transition is due: which mode the forces allow, and what else ends one (J 36–40, 78, 82)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.mechanics.contact_space import is_regular
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.complementarity import AT_REST, ForceAcceleration, Selection
from hybrid_contact_ros.simulation.events import BEYOND, force_scale
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.mode_dynamics import Flow
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.simulation.transition_result import Settled

Array = NDArray[np.float64]
_HARDLY, _TURNED = 1e-2, 0.5  # times the tolerance of speeds; cosine of an angle


class Guards:
    """Guards of one system without impacts."""

    def __init__(self, system: AdaptedSystem, options: Options) -> None:
        self.system, self.options = system, options

    def regular(self, time: float, q: Array, v: Array) -> bool:
        """Whether M is invertible here."""
        mass = self.system.problem(q, v, time).mass
        return bool(is_regular(mass, np.empty_like(mass)))

    def kinetic(self, regular: bool) -> bool:
        """Whether sliding contacts have friction."""
        return regular if self.options.sliding_friction is None else self.options.sliding_friction

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

    def diverging(self, time: float, here: Settled, regular: bool) -> bool:
        """Whether the forces of the mode grow beyond bounds, as they do where sliding contacts begin to jam."""
        if not here.mode.sliding or not (regular and self.kinetic(regular)):
            return False
        flow = Flow(self.system, here.mode, True, self.options.velocity_tolerance, here.directions)
        now = flow.dynamics(time, here.q, here.v)
        return now.solved and float(np.abs(now.force).max()) >= 0.5 * BEYOND * force_scale(now.problem)

    def leaving(self, time: float, here: Settled, contacts: frozenset[int]) -> frozenset[int]:
        """Open contacts whose gap accelerates open as things are: not in a guard (J 78).

        With regular M complementarity finds that by itself (J Theorem 1); a massless limb in the air moves as A6 says.
        """
        if not contacts:
            return contacts
        flow = Flow(self.system, here.mode, False, self.options.velocity_tolerance, here.directions)
        now = flow.dynamics(time, here.q, here.v)
        second = now.problem.normal_jacobian @ now.acceleration + now.problem.jacobian_drift[:, 0]
        return frozenset(i for i in contacts if now.solved and second[i] > 1e-8)

    def moving(self, problem: ContactProblem, here: Settled) -> frozenset[int]:
        """Sliding contacts that are faster than one at rest."""
        slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, here.v) ** 2).sum(axis=1))
        return frozenset(i for i in here.mode.sliding if slip[i] > self.options.velocity_tolerance)

    def turned(self, here: Settled, problem: ContactProblem) -> frozenset[int]:
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
