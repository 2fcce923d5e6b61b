"""Which contacts hold, followed from state to state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import ActivationConfig
from hybrid_contact_ros.kernels.estimation.contact_tracking import (
    UNKNOWN,
    candidates,
    closed_scores,
    contact_statuses,
    slips,
)
from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]

# Low-pass (s) of the contact points' velocities for telling stick from slip.
SLIP_TIME_CONSTANT = 0.01
_GRAVITY = 9.81


class ContactTracker:
    """Which contacts are closed and which slide, from the evidence of the states so far.

    Remembered are which contacts were closed, which slid, their low-passed velocities along the surface, and the
    evidence against what is held of each: a contact opens or closes once the states since it began to speak against it
    make that certain enough, a single plain one at once
    (:func:`~hybrid_contact_ros.kernels.estimation.contact_tracking.contact_statuses`). The thresholds are those of
    :class:`~hybrid_contact_ros.config.ActivationConfig`: statements about the noise of the sensors, not about the
    robot. Deviation from a plain active set within tolerances (J 33): a contact that is near but not loaded by the
    model is open, so that a foot that skims the ground, or lifts off within the tolerance of the gap, is told apart
    from one that stands.

    Attributes (arrays of m that :meth:`near` and :meth:`decide` overwrite):
        touching: uint8, contacts that may carry force now. closed, slipping: uint8. status: ContactStatus, uint8.
        sliding: (m, 2) m/s, velocity along the tangents of those that slip, else zero.
        doubted: bool, evidence against the status before :meth:`decide` has begun to add up.
        probability: score that the contact is closed; monotone, not calibrated.
    """

    def __init__(self, tangents: Array, config: ActivationConfig) -> None:
        """``tangents`` (m, 2, 3): world frame."""
        contacts = tangents.shape[0]
        self.config, self._tangents = config, tangents
        self.touching = np.zeros(contacts, dtype=np.uint8)
        self.closed = np.zeros(contacts, dtype=np.uint8)
        self.slipping = np.zeros(contacts, dtype=np.uint8)
        self.status = np.ones(contacts, dtype=np.uint8)
        self.sliding = np.zeros((contacts, 2))
        self.probability = np.zeros(contacts)
        self._smooth, self._seen = np.zeros((contacts, 3)), np.zeros(contacts)
        self._spread, self._evidence = np.zeros(contacts), np.full(contacts, UNKNOWN)

    def reset(self) -> None:
        """Forget the past: all contacts are open until a state says otherwise."""
        self.closed[:] = 0
        self.slipping[:] = 0
        self.status[:] = 1
        self._evidence[:] = UNKNOWN
        self._spread[:] = 0.0

    @property
    def doubted(self) -> NDArray[np.bool_]:
        return self._evidence > 0.0

    def near(self, dt: float, gap: Array, rate: Array, tangential: Array) -> NDArray[np.uint8]:
        """The contacts (m,) uint8 that may carry force, and which of them slip; the first half of a step in time.

        Args:
            dt: s since the last state, 0 for the first. gap: m. rate: m/s.
            tangential: velocity of the contact points along the surface (m, 3), m/s.
        """
        c = self.config
        candidates(c.gap_on, c.gap_off, c.velocity_tolerance, self.closed, gap, rate, self.touching)
        slips(
            c.slip_on,
            c.slip_off,
            SLIP_TIME_CONSTANT,
            c.velocity_sigma,
            dt,
            self.closed,
            tangential,
            self._tangents,
            self.slipping,
            self._seen,
            self._smooth,
            self._spread,
            self.sliding,
        )
        return self.touching

    def decide(self, gap: Array, rate: Array, load: Array, trusted: bool) -> NDArray[np.uint8]:
        """Statuses (m,) of this state, after :meth:`near`: the second half.

        Args:
            gap: m. rate: m/s.
            load: N, negative where the contact would have to be pulled; read only if efforts are ``trusted``.
        """
        c = self.config
        contact_statuses(
            c.gap_on,
            c.velocity_tolerance,
            c.force_on,
            c.force_off,
            c.force_sigma,
            c.velocity_sigma,
            int(trusted),
            self.touching,
            self.slipping,
            gap,
            rate,
            load,
            self.closed,
            self._evidence,
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
    since a light robot on many points never loads one of them by more; ``force_off`` to at most 0.4 of it, and
    ``force_sigma`` in proportion: the model's forces are as uncertain as they are large."""
    force_on = config.force_on
    if model.contacts:
        weight = _GRAVITY * sum(inertia.mass for inertia in list(model.pinocchio_model.inertias)[1:])
        force_on = min(force_on, 0.25 * weight / model.contacts)
    part = force_on / config.force_on if config.force_on > 0.0 else 1.0
    return replace(
        config,
        force_on=force_on,
        force_off=min(config.force_off, 0.4 * force_on),
        force_sigma=part * config.force_sigma,
    )
