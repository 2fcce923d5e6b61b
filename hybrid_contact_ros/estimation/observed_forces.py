"""Contact forces from the momentum observer: estimates that owe nothing to the contact mode's complementarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.momentum_observer import MomentumObserver, contact_forces
from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]


class ObservedForces:
    """Runs the observer along a stream of states and lays what it sees to the closed contacts."""

    def __init__(self, model: RigidBodyModel, gain: float) -> None:
        """``gain``: bandwidth of the observer, 1/s; 0 switches it off."""
        self._model = model
        self._observer = MomentumObserver(model.nv, gain)
        self._normals, self._tangents = model.contact_normals, model.contact_tangents

    def reset(self) -> None:
        """Forget all earlier states."""
        self._observer.reset()

    @property
    def settled(self) -> bool:
        """Whether the observer has run long enough for its forces to be used."""
        return self._observer.settled

    def estimate(self, moment: Moment) -> Array:
        """Forces (m, 3), N, world frame; NaN without known actuation, for open contacts, and until the observer has
        settled."""
        observer, m, width = self._observer, *moment.velocity.shape
        if observer.gain <= 0.0 or not moment.trusted:
            observer.reset()
            return np.full((m, 3), np.nan)
        momentum, rate = self._model.momentum(moment.state)
        effort = moment.state.effort
        external = observer.update(moment.dt, momentum, rate, np.zeros_like(rate) if effort is None else effort)
        chosen = np.flatnonzero(moment.closed)
        if not observer.settled or not chosen.size:
            return np.full((m, 3), np.nan)
        force = contact_forces(moment.modes.delassus, moment.modes.response(external), width, chosen)
        tangents = self._tangents
        return force[:, :1] * self._normals + force[:, 1:2] * tangents[:, 0] + force[:, 2:] * tangents[:, 1]
