"""What is known of each contact's μ: the record of the kernel, its configuration, and the interval for impact sets."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.kernels.estimation.friction_bounds import FrictionBounds, FrictionTable
from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]

_SLIPPERY = 0.8  # of the least ratio at which a contact slid: others that have not slid may stand on as little
_RECENT = 1.0  # exponent of forgetting up to which a slide tells of the ground under others
_NARROWEST = 0.75  # ratio of the ends of an interval, at most, where what was shown contradicts the configuration


class FrictionMemory:
    """The interval of each contact's μ for the set of the impact ahead.

    It is the configured μ ± ``part``, cut by the bounds that forces have shown (``docs/friction.md``). Where these
    contradict the configuration, they are believed. Where one contact slid on less than the configuration has, the
    others may stand on the same ground: their intervals begin there, too, as far as they have not shown more
    themselves.
    """

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig, bounds: FrictionBounds) -> None:
        """``impact.friction_margin`` is the ``part``; at 0, and without terms of a landing, nothing is told."""
        self._friction, self._bounds = model.friction.copy(), bounds
        self.tune(config)

    def tune(self, config: EstimatorConfig) -> None:
        """Take over another margin."""
        self._part = config.impact.friction_margin
        self._told = config.friction.learn and self._part > 0.0 and not LandingTerms.of(config.landing).off

    @property
    def learned(self) -> tuple[Array, Array] | None:
        """(low, high), each (m,), of μ; None where nothing has been learned. New arrays whenever it is asked for."""
        b = self._bounds
        if not self._told or not (b.lower.any() or np.isfinite(b.upper).any()):
            return None
        recent = np.isfinite(b.slid[:, 1]) & (b.slid[:, 2] < _RECENT)
        slippery = _SLIPPERY * float(b.slid[recent, 0].min()) if recent.any() else math.inf
        low = np.maximum(np.minimum((1.0 - self._part) * self._friction, slippery), b.lower)
        high = np.minimum((1.0 + self._part) * self._friction, b.upper)
        better = b.lower > high  # it holds better than the configuration has it
        high = np.where(better, np.minimum(b.upper, low / _NARROWEST), high)
        worse = ~better & (low > high)
        return np.where(worse, np.maximum(b.lower, _NARROWEST * high), low), high


def friction_table(model: RigidBodyModel, config: EstimatorConfig, weight: float) -> FrictionTable:
    """The configuration for a robot of this ``weight`` (N). Without an observer nothing is learned."""
    friction, gain = config.friction, config.observer.gain
    frames = list(model.contact_frames)
    return FrictionTable(
        learns=bool(friction.learn and gain > 0.0),
        applies=bool(friction.apply),
        gain=float(gain),
        least_load=float(friction.load_share * weight / max(1, len(set(frames)))),
        model=float(friction.model),
        sigmas=float(friction.sigmas),
        time=float(friction.time),
        length=float(friction.length),
        slide_speed=float(friction.slide_speed),
        margin=float(friction.margin),
        lead=float(friction.lead),
        link=np.array([frames.index(frame) for frame in frames], dtype=np.int64),
    )


def friction_bounds(contacts: int) -> FrictionBounds:
    """Memory for so many contacts, to be filled by :func:`forget_friction`."""
    m = contacts
    return FrictionBounds(
        begun=np.zeros(1),
        mean=np.zeros((m, 4)),
        last=np.zeros((m, 6)),
        spread=np.zeros(m),
        course=np.zeros((m, 6)),
        slide=np.zeros((m, 4)),
        place=np.zeros((m, 3)),
        held=np.zeros((m, 2)),
        slid=np.zeros((m, 3)),
        expected=np.zeros(m),
        lower=np.zeros(m),
        upper=np.zeros(m),
        ratio=np.zeros(m),
        time_to_slip=np.zeros(m),
        warning=np.zeros(m, np.uint8),
    )


def forget_friction(bounds: FrictionBounds, configured: Array) -> None:
    """Know nothing; ``configured``: μ (m,)."""
    for array in bounds:
        array.fill(0)
    bounds.begun.fill(-1.0)
    bounds.slid[:, 1] = bounds.upper[:] = math.inf
    bounds.ratio.fill(math.nan)
    bounds.time_to_slip.fill(math.nan)
    bounds.expected[:] = configured
