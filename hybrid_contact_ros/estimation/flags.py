"""The stability flags of a state whose contact mode is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind, Flag
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.pairs import no_pairs, order_sensitive
from hybrid_contact_ros.kernels.stability.chatter_bounds import chatter_bounds
from hybrid_contact_ros.kernels.stability.constraint import BOUNDED_TIME, FEW, ZENO
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.workspace import STEPS, ModeWorkspace
from hybrid_contact_ros.prediction import StabilityPrediction
from hybrid_contact_ros.stability.workspace import StabilityWorkspace

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


class StabilityFlags:
    """Flags of every contact, and pairs whose order of impact matters, with the configured dead bands."""

    def __init__(self, contacts: int, tangents: int, config: EstimatorConfig) -> None:
        self._config, self._horizon = config.stability, config.prediction.horizon
        self._sigmas, self._margin = config.prediction.bound_sigmas, config.impact.restitution_margin
        self._acceleration_sigma = config.activation.acceleration_sigma
        # a step costs as the square of the contacts
        self._work = StabilityWorkspace(contacts, tangents, STEPS * FEW**2 // max(contacts, FEW) ** 2)
        self._every_pair = np.triu_indices(contacts, 1)

    def predict(
        self,
        stamp_ns: int,
        problem: ContactProblem,
        velocity: Array,
        touching: Codes,
        closed: Codes,
        modes: ModeWorkspace,
        kind: Codes,
        gap_sigma: Array,
        rate_sigma: Array,
        wanted: bool,
        trusted: bool,
    ) -> StabilityPrediction:
        """The flags of one state; UNDECIDED and NaN where not ``wanted``, or where efforts are not ``trusted``.

        Args:
            velocity: of the contacts (m, 1 + d), m/s. touching: what ``modes`` was solved for. closed: by the tracker.
            modes: after its solve of this state. kind: next event of each contact (m,).
            gap_sigma (m,), rate_sigma (m,): of gaps and their rates.
        """
        work, config, m = self._work, self._config, problem.contacts
        flags, margins = np.zeros((6, m), dtype=np.uint8), np.full((6, m), np.nan)
        ends = np.full((2, m), np.nan)
        pairs, stands = no_pairs(), closed != 0
        if wanted:
            work.evaluate(
                problem,
                velocity,
                touching,
                modes,
                config.force_tolerance,
                config.acceleration_tolerance,
                config.grazing_speed,
                self._horizon,
                config.pseudo_impulse_duration,
            )
            pairs = order_sensitive(
                self._every_pair, work.cosines, stands | (kind == EventKind.TOUCHDOWN), config.coupling_tolerance
            )
            if trusted:
                flags, margins = work.flags.copy(), work.margins.copy()
                if (flags[ZENO] == Flag.HOLDS).any():
                    chatter_bounds(
                        self._sigmas,
                        self._acceleration_sigma,
                        self._margin,
                        problem.gap,
                        velocity[:, 0].copy(),
                        gap_sigma,
                        rate_sigma,
                        margins[BOUNDED_TIME],
                        problem.restitution,
                        flags[ZENO],
                        ends,
                    )
        columns: list[Any] = [part[row] for row in range(6) for part in (flags, margins)]  # each flag and its margin
        columns[2 * ZENO + 2 : 2 * ZENO + 2] = ends
        return StabilityPrediction(stamp_ns, stands, *(columns + list(pairs)))
