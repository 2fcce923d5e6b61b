"""Which contacts hold, followed from state to state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import ActivationConfig
from hybrid_contact_ros.kernels.contact_tracking import candidates, closed_scores, contact_statuses, smooth_slip
from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]

# Low-pass (s) of the contact points' velocities for telling stick from slip.
SLIP_TIME_CONSTANT = 0.01
# Low-pass (s) of the loads of closed contacts: longer than a dip of chatter, shorter than a foot needs to leave.
LOAD_TIME_CONSTANT = 0.003
_GRAVITY = 9.81


class ContactTracker:
    """Active set with hysteresis in gap, load and slip speed.

    Remembered are which contacts were closed, which slid, and their low-passed velocities along the surface. The
    thresholds are those of :class:`~hybrid_contact_ros.config.ActivationConfig`: statements about the noise of the
    sensors, not about the robot. Deviation from a plain active set within tolerances (J 33): a contact that is near
    but not loaded by the model is open, so that a foot that skims the ground, or lifts off within the tolerance of the
    gap, is told apart from one that stands.

    Attributes (arrays of m that :meth:`near` and :meth:`decide` overwrite):
        touching: uint8, contacts that may carry force now. closed, slipping: uint8. status: ContactStatus, uint8.
        probability: score that the contact is closed; monotone, not calibrated.
    """

    def __init__(self, contacts: int, config: ActivationConfig) -> None:
        self.config = config
        self.touching = np.zeros(contacts, dtype=np.uint8)
        self.closed = np.zeros(contacts, dtype=np.uint8)
        self.slipping = np.zeros(contacts, dtype=np.uint8)
        self.status = np.ones(contacts, dtype=np.uint8)
        self.probability = np.zeros(contacts)
        self._smooth, self._glide = np.zeros((contacts, 3)), np.zeros((contacts, 2))
        self._mean_load = np.zeros(contacts)

    def reset(self) -> None:
        """Forget the past: all contacts are open until a state says otherwise."""
        self.closed[:] = 0
        self.slipping[:] = 0
        self.status[:] = 1

    def near(self, gap: Array, rate: Array) -> NDArray[np.uint8]:
        """The contacts (m,) uint8 that may carry force, from gaps (m) and gap velocities (m/s). Remembers nothing."""
        c = self.config
        candidates(c.gap_on, c.gap_off, c.velocity_tolerance, self.closed, gap, rate, self.touching)
        return self.touching

    def glide(self, dt: float, tangential: Array, tangents: Array) -> Array:
        """Low-passed velocities (m, 2) of the contact points along their tangents (m, 2, 3), m/s: who slides, and
        whither. A step in time, to be made before :meth:`decide`; ``dt`` and ``tangential`` as there."""
        smooth_slip(SLIP_TIME_CONSTANT, dt, self.closed, tangential, tangents, self._smooth, self._glide)
        return self._glide

    def decide(self, dt: float, gap: Array, rate: Array, load: Array, trusted: bool) -> NDArray[np.uint8]:
        """Statuses (m,) of this state, after :meth:`near` and :meth:`glide`; this is the step in time.

        Args:
            dt: s since the last state, 0 for the first. gap: m. rate: m/s.
            load: N, negative where the contact would have to be pulled; read only if efforts are ``trusted``.
        """
        c = self.config
        contact_statuses(
            c.velocity_tolerance,
            c.force_on,
            c.force_off,
            c.slip_on,
            c.slip_off,
            LOAD_TIME_CONSTANT,
            int(trusted),
            dt,
            self.touching,
            rate,
            self._smooth,
            load,
            self.closed,
            self.slipping,
            self._mean_load,
            self.status,
        )
        # The middle of the two gaps: a contact there is closed or open depending on where it comes from.
        closed_scores(
            0.5 * (c.gap_on + c.gap_off),
            c.velocity_tolerance,
            c.gap_sigma,
            c.velocity_sigma,
            c.force_sigma,
            int(trusted),
            gap,
            rate,
            load,
            self.probability,
        )
        return self.status


def load_thresholds(model: RigidBodyModel, config: ActivationConfig) -> ActivationConfig:
    """``force_on`` lowered to at most a quarter of what each contact carries when all share the weight of what moves,
    since a light robot on many points never loads one of them by more; ``force_off`` to at most 0.4 of it."""
    force_on = config.force_on
    if model.contacts:
        weight = _GRAVITY * sum(inertia.mass for inertia in list(model.pinocchio_model.inertias)[1:])
        force_on = min(force_on, 0.25 * weight / model.contacts)
    return replace(config, force_on=force_on, force_off=min(config.force_off, 0.4 * force_on))
