"""The sequence of contact modes in the next moments, by a short rollout of the hybrid model."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.kernels.estimation.records import RolloutOut, RolloutScratch
from hybrid_contact_ros.kernels.estimation.rollout import rollout
from hybrid_contact_ros.kernels.modes.records import SPLITTING_ROWS
from hybrid_contact_ros.modes.workspace import TOLERANCE, mode_steps
from hybrid_contact_ros.prediction import ModeSequence

_SPLITTING_STEPS = 200  # at most, where an active set fails
_CONTACTS_LIMIT = 62  # the mask of a mode is a signed integer


class ModeRollout:
    """Follows the hybrid model (:mod:`hybrid_contact_ros.kernels.estimation.rollout`) from the mode that was found.

    Geometry and actuation are those of now; touchdowns are plastic impacts with Coulomb friction, or bounce by the
    contact's restitution. Liftoffs that the recent loads foretell are taken from the event predictor.

    Attributes:
        complete: the sequence last followed reaches the end of ``prediction.rollout``, or is full. Otherwise it broke
            off where the mode was not found (in time), or it was not wanted.
    """

    def __init__(self, contacts: int, tangents: int, tolerances: ActivationConfig, config: PredictionConfig) -> None:
        m, d = contacts, tangents
        n, k = m * (1 + d), config.rollout_events
        self.complete = False
        self._d, self._on = d, config.rollout > 0.0 and 0 < m <= _CONTACTS_LIMIT
        self._steps = min(_SPLITTING_STEPS, mode_steps(m))
        self._tolerances, self._config = tolerances, config
        codes, indices = np.uint8, np.int64
        self._scratch = RolloutScratch(
            A=np.zeros((2 * n + SPLITTING_ROWS, n)),
            work=np.zeros((2, n)),
            order=np.zeros(2 * n, dtype=indices),
            on=np.zeros(m, dtype=codes),
            moving=np.zeros(m, dtype=codes),
            touching=np.zeros(m, dtype=codes),
            known=np.zeros(m, dtype=codes),
            state=np.zeros(m, dtype=indices),
            slip=np.zeros((m, d)),
            phi=np.zeros(m),
            u=np.zeros(n),
            forces=np.zeros(n),
            a=np.zeros(n),
            after=np.zeros(n),
        )
        self._out = RolloutOut(
            contacts=np.zeros(k, dtype=indices),
            kinds=np.zeros(k, dtype=codes),
            times=np.zeros((k, 3)),
            modes=np.zeros(k, dtype=indices),
        )

    def follow(self, moment: Moment, wanted: bool) -> ModeSequence:
        """The events from here on; none where they are not ``wanted``, or without known actuation."""
        tolerances, config, problem = self._tolerances, self._config, moment.problem
        count, self.complete = 0, False
        if self._on and wanted and moment.trusted:
            count, self.complete = rollout(
                config.bound_sigmas,
                moment.gap_sigma,
                moment.velocity_sigma,
                tolerances.acceleration_sigma,
                self._d,
                self._steps,
                config.rollout,
                tolerances.slip_on,
                TOLERANCE,
                moment.modes.delassus,
                moment.modes.free,
                problem.friction,
                problem.restitution,
                problem.gap,
                moment.velocity.reshape(-1),
                moment.closed,
                moment.backed,
                moment.event_times,
                *self._scratch,
                *self._out,
            )
        part, out = slice(count), self._out
        return ModeSequence(
            contact=out.contacts[part].copy(),
            kind=out.kinds[part].copy(),
            times=out.times[part].copy(),
            mode=out.modes[part].copy(),
        )
