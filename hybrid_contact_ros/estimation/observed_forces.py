"""Contact forces from the momentum observer: estimates that owe nothing to the contact mode's complementarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.momentum_observer import MomentumObserver, contact_forces
from hybrid_contact_ros.kernels.estimation.observed_forces import world_forces
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.modes.workspace import ModeWorkspace

Array = NDArray[np.float64]


class ObservedForces:
    """Runs the observer along a stream of states and lays what it sees to the closed contacts."""

    def __init__(self, model: RigidBodyModel, modes: ModeWorkspace, gain: float) -> None:
        """``modes``: with the factor of M of each state. ``gain``: bandwidth, 1/s; 0 switches the observer off."""
        self._model, self._modes = model, modes
        self._observer = MomentumObserver(model.nv, gain)
        # Own copies: a read-only array would be another type for the kernels.
        self._normals, self._tangents = model.contact_normals.copy(), model.contact_tangents.copy()

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
        modes = self._modes
        return self._world(contact_forces(modes.delassus, modes.response(external), width, chosen))

    def warm(self) -> None:
        """Compile what runs only once the observer has settled. ``modes`` must have been given a state."""
        response = self._modes.response(np.zeros(self._model.nv))
        if self._model.contacts:
            width = response.shape[0] // self._model.contacts
            self._world(contact_forces(self._modes.delassus, response, width, np.arange(1)))

    def _world(self, force: Array) -> Array:
        """Forces (m, 3), normal and two tangents, in the world frame."""
        world = np.empty(force.shape)
        world_forces(self._normals, self._tangents, force, world)
        return world
