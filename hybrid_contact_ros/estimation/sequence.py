"""The sequence of contact modes in the next moments, by a short rollout of the hybrid model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.kernels.estimation.rollout import rollout
from hybrid_contact_ros.kernels.modes.splitting import ROWS
from hybrid_contact_ros.modes.workspace import TOLERANCE, mode_steps
from hybrid_contact_ros.prediction import ModeSequence

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

_STEPS = 200  # of splitting, where an active set fails
_MOST = 62  # contacts: the mask is a signed integer


class ModeRollout:
    """Follows the hybrid model (:mod:`hybrid_contact_ros.kernels.estimation.rollout`) from the mode that was found.

    Geometry and actuation are those of now; touchdowns are plastic impacts with Coulomb friction, or bounce by the
    contact's restitution. What the recent loads foretell (liftoffs) is taken from the event predictor.

    Attributes:
        whole: the sequence last followed reaches the end of ``prediction.rollout`` or is full; else it broke off
            where the mode was not found (in time), or was not wanted.
    """

    def __init__(
        self,
        contacts: int,
        tangents: int,
        friction: Array,
        restitution: Array,
        tolerances: ActivationConfig,
        config: PredictionConfig,
    ) -> None:
        m, d = contacts, tangents
        n, k = m * (1 + d), config.rollout_events
        self.whole = False
        self._d, self._on = d, config.rollout > 0.0 and 0 < m <= _MOST
        self._steps = min(_STEPS, mode_steps(m))
        self._friction, self._restitution = friction, restitution.copy()
        self._tolerances, self._config = tolerances, config
        self._scratch = (
            np.zeros((2 * n + ROWS, n)),
            np.zeros((2, n)),
            np.zeros(2 * n, dtype=np.int64),
            np.zeros((4, m), dtype=np.uint8),
            np.zeros(m, dtype=np.int64),
            np.zeros((m, d)),
            np.zeros((5, n)),
        )
        self._contact, self._mode = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
        self._kind, self._times = np.zeros(k, dtype=np.uint8), np.zeros((k, 3))

    def follow(
        self,
        delassus: Array,
        free: Array,
        gap: Array,
        velocity: Array,
        closed: Codes,
        kind: Codes,
        times: Array,
        wanted: bool,
        gap_sigma: Array,
        velocity_sigma: Array,
    ) -> ModeSequence:
        """The events from here on; none where they are not ``wanted``, as without known efforts.

        Args:
            delassus (n, n), free (n,): as of :class:`~hybrid_contact_ros.modes.workspace.ModeWorkspace`.
            gap (m,) m; velocity (n,) m/s of the contacts; closed (m,) uint8; kind (m,), times (m, 3): the next event of
            each contact (:class:`~hybrid_contact_ros.estimation.events.EventPredictor`).
            gap_sigma (m,) m, velocity_sigma (m,) m/s: of the bounds.
        """
        t, c = self._tolerances, self._config
        count, self.whole = 0, False
        if self._on and wanted:
            count, self.whole = rollout(
                self._d,
                self._steps,
                c.rollout,
                t.slip_on,
                TOLERANCE,
                c.bound_sigmas,
                gap_sigma,
                velocity_sigma,
                t.acceleration_sigma,
                delassus,
                free,
                self._friction,
                self._restitution,
                gap,
                velocity,
                closed,
                kind,
                times,
                *self._scratch,
                self._contact,
                self._kind,
                self._times,
                self._mode,
            )
        part = slice(count)
        return ModeSequence(
            self._contact[part].copy(), self._kind[part].copy(), self._times[part].copy(), self._mode[part].copy()
        )
