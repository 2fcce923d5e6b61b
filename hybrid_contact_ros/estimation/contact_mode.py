"""Which contacts hold and with what force, for one state of a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import ActivationConfig
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.tracker import ContactTracker, load_thresholds
from hybrid_contact_ros.kernels.estimation.contact_quantities import contact_quantities, model_loads
from hybrid_contact_ros.kernels.mechanics.contact_drift import balanced_drift
from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.modes.workspace import ModeWorkspace, mode_steps

Array = NDArray[np.float64]

TANGENTS = 2  # of a contact in space
_WIDTH = 1 + TANGENTS  # rows of a contact
# A contact whose G_nn is below this times the largest is one that no motion changes.
_IMMOVABLE = 1e-12


class ContactModeSolver:
    """Force-acceleration complementarity (Johnson (38)) for the contacts that gaps and gap velocities leave in
    question.

    Attributes:
        modes: the workspace of the solve. tracker: which contacts are closed and slide.
    """

    def __init__(self, model: RigidBodyModel, config: ActivationConfig) -> None:
        m = model.contacts
        self.modes = ModeWorkspace(model.nv, m, TANGENTS, mode_steps(m), CRITICAL_PART)
        self.tracker = ContactTracker(model.contact_tangents.copy(), load_thresholds(model, config))
        self._normals, self._tangents = model.contact_normals.copy(), model.contact_tangents.copy()
        self._floating_base = model.floating_base
        self._basis, self._values = np.zeros((m * _WIDTH, model.nv)), np.zeros(m * _WIDTH)

    def reset(self) -> None:
        """Forget all earlier states."""
        self.tracker.reset()
        self.modes.forget()

    def warm(self) -> None:
        """Compile what runs only without effort and contacts. ``modes`` must have been given a state."""
        self.modes.leading_acceleration(np.zeros(self.modes.nv))

    def decide(self, moment: Moment) -> None:
        """Solve for the mode of the contacts that may carry force, and decide which of them are closed.

        Writes ``touching``, ``code``, ``residual``, ``load``, and what the tracker holds of the contacts.
        """
        tracker, problem, rate = self.tracker, moment.problem, moment.gap_velocity
        moment.load = np.empty(problem.contacts)
        touching = tracker.near(moment.dt, problem.gap, rate, moment.tangential_velocity)
        rows = self.modes.rows.reshape(problem.contacts, _WIDTH, problem.nv)
        balanced_drift(_WIDTH, rows, touching, self._basis, self._values, problem.jacobian_drift)
        self._solve(moment, touching)
        tracker.decide(problem.gap, rate, moment.load, moment.trusted)
        released = (touching != 0) & (tracker.closed == 0)
        if released.any() and (self.modes.forces[released, 0] > 0.0).any():
            # What does not hold carries nothing: the others take over its load.
            touching[:] = tracker.closed
            self._solve(moment, touching)
        moment.touching = touching.copy()
        moment.closed, moment.slipping = tracker.closed.copy(), tracker.slipping.copy()
        moment.status, moment.probability = tracker.status.copy(), tracker.probability.copy()
        moment.doubted = tracker.doubted

    def weigh(self, moment: Moment) -> None:
        """Write the forces and accelerations of the mode, or those that hold without known actuation."""
        m, modes = moment.problem.contacts, self.modes
        if moment.trusted:
            moment.accelerations, moment.acceleration = modes.contact_acceleration.copy(), modes.acceleration.copy()
            moment.forces = modes.forces.copy()
        else:
            moment.accelerations, moment.acceleration = self._with_locked_joints(moment)
            moment.forces = np.zeros((m, _WIDTH))
        moment.force_model = np.empty((m, 3))
        moment.friction_margin, moment.slip_acceleration = np.empty(m), np.empty(m)
        contact_quantities(
            self._normals,
            self._tangents,
            moment.problem.friction,
            moment.tangential_velocity,
            moment.slip_speed,
            moment.forces,
            moment.accelerations,
            moment.force_model,
            moment.friction_margin,
            moment.slip_acceleration,
        )

    def _solve(self, moment: Moment, touching: NDArray[np.uint8]) -> None:
        modes = self.modes
        moment.code, moment.residual, _ = modes.solve_prepared(moment.problem, touching, 0.0, self.tracker.sliding)
        model_loads(_WIDTH, _IMMOVABLE, modes.delassus, modes.forces, modes.contact_acceleration, moment.load)

    def _with_locked_joints(self, moment: Moment) -> tuple[Array, Array]:
        """Accelerations of the contacts (m, 3) and v̇ (nv,): free fall without contacts, none with."""
        problem = moment.problem
        acceleration = np.zeros(problem.nv)
        contacts = np.zeros((problem.contacts, _WIDTH))
        if self._floating_base and not moment.closed.any():
            acceleration[:6] = self.modes.leading_acceleration(-problem.bias_force[:6])
            contacts = (self.modes.rows @ acceleration).reshape(contacts.shape) + problem.jacobian_drift
        return contacts, acceleration
