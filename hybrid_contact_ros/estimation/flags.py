"""The stability flags of a state whose contact mode is known."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.codes import EventKind, Flag
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.pairs import no_pairs, order_sensitive
from hybrid_contact_ros.kernels.stability.chatter_bounds import chatter_bounds
from hybrid_contact_ros.kernels.stability.constraint import (
    BOUNDED_TIME,
    CONSTRAINT,
    CONTACTS_WITHOUT_LIMIT,
    FRICTION,
    GRAZING,
    PSEUDO_IMPULSE,
    ZENO,
)
from hybrid_contact_ros.modes.workspace import REAL_TIME_STEPS
from hybrid_contact_ros.prediction import StabilityPrediction
from hybrid_contact_ros.stability.workspace import StabilityWorkspace


class StabilityFlags:
    """Flags of every contact, and pairs whose order of impact matters, with the configured dead bands."""

    def __init__(self, contacts: int, tangents: int, config: EstimatorConfig) -> None:
        self._config, self._horizon = config.stability, config.prediction.horizon
        self._sigmas, self._margin = config.prediction.bound_sigmas, config.impact.restitution_margin
        self._acceleration_sigma = config.activation.acceleration_sigma
        # Steps are fewer with many contacts, since one costs as the square of their number.
        self._work = StabilityWorkspace(
            contacts,
            tangents,
            REAL_TIME_STEPS * CONTACTS_WITHOUT_LIMIT**2 // max(contacts, CONTACTS_WITHOUT_LIMIT) ** 2,
        )
        self._every_pair = np.triu_indices(contacts, 1)

    def predict(self, moment: Moment, wanted: bool) -> StabilityPrediction:
        """The flags of a moment whose mode is solved; UNDECIDED and NaN where they are not ``wanted``, or where no mode
        was found with known actuation."""
        work, config, m = self._work, self._config, moment.problem.contacts
        flags, margins = np.zeros((6, m), dtype=np.uint8), np.full((6, m), np.nan)
        ends = np.full((2, m), np.nan)
        pairs, stands = no_pairs(), moment.closed != 0
        if wanted:
            work.evaluate(
                moment.problem,
                moment.velocity,
                moment.touching,
                moment.modes,
                config.force_tolerance,
                config.acceleration_tolerance,
                config.grazing_speed,
                self._horizon,
                config.pseudo_impulse_duration,
            )
            involved = stands | (moment.backed == EventKind.TOUCHDOWN)
            pairs = order_sensitive(self._every_pair, work.cosines, involved, config.coupling_tolerance)
        if wanted and moment.solved:
            flags, margins = work.flags.copy(), work.margins.copy()
            if (flags[ZENO] == Flag.HOLDS).any():
                chatter_bounds(
                    self._sigmas,
                    self._acceleration_sigma,
                    self._margin,
                    moment.problem.gap,
                    moment.gap_velocity,
                    moment.gap_sigma,
                    moment.velocity_sigma,
                    margins[BOUNDED_TIME],
                    moment.problem.restitution,
                    flags[ZENO],
                    ends,
                )
        return StabilityPrediction(
            stamp_ns=moment.stamp_ns,
            closed=stands,
            constraint_stability=flags[CONSTRAINT],
            constraint_force=margins[CONSTRAINT],
            bounded_time_stability=flags[BOUNDED_TIME],
            gap_acceleration=margins[BOUNDED_TIME],
            zeno=flags[ZENO],
            chatter_end=margins[ZENO],
            chatter_end_earliest=ends[0],
            chatter_end_latest=ends[1],
            grazing=flags[GRAZING],
            touchdown_speed=margins[GRAZING],
            friction=flags[FRICTION],
            friction_margin=margins[FRICTION],
            pseudo_impulse=flags[PSEUDO_IMPULSE],
            pseudo_impulse_margin=margins[PSEUDO_IMPULSE],
            pair_first=pairs.first,
            pair_second=pairs.second,
            pair_coupling=pairs.coupling,
            pair_order_sensitive=pairs.order_sensitive,
        )
