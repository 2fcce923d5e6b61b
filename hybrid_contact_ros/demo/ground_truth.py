"""What really happens at the simulated feet: forces as a plate under each would measure them, and impacts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.demo.go2_model import FOOT_NAMES, FOOT_RADIUS, state_of

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LOADED, UNLOADED = 5.0, 1.0  # N, mean over a cycle: above, an open foot has touched; below, a closed one has left
SLIPPING = 0.05  # m/s, speed along the ground from which on a loaded foot counts as slipping

_AXES = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # MuJoCo's, of contacts with a level floor
_FLIGHT = 0.05  # s in the air, before a touchdown is an impact to record
_STOPPED = 0.05  # of the speed of approach: a foot that approaches slower has stopped
_LONGEST_IMPACT = 0.008  # s; a foot stops in 1 ms, but four do not touch together


@dataclass(frozen=True, slots=True)
class TrueImpact:
    """An impact that ended a flight, from the physics step before the first contact to the first at which no foot that
    touched approaches any more.

    What gravity, springs and motors do meanwhile is in ``v_plus``, and so is the rebound of the feet that touched
    first. A foot that touches after the others have stopped is not in it.

    Attributes:
        time: s, of its beginning. duration: s. feet: that touched meanwhile.
        q (19,), v_minus, v_plus (18,): as of :func:`~hybrid_contact_ros.demo.go2_model.state_of`.
    """

    time: float
    duration: float
    feet: tuple[str, ...]
    q: Array
    v_minus: Array
    v_plus: Array


class Truth:
    """Steps the physics and watches the feet.

    Attributes:
        impacts: those since somebody last emptied the list.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data = model, data
        self._geoms = np.array([model.geom(name).id for name in FOOT_NAMES])
        self._foot = np.full(model.ngeom, -1)
        self._foot[self._geoms] = range(4)
        self.impacts: list[TrueImpact] = []
        self._flight = math.inf  # s in the air; only to be compared with _FLIGHT
        self._impact: TrueImpact | None = None
        self._touched: set[int] = set()
        self._rates = self._approach = np.zeros(4)  # m/s, of the feet's heights
        self._sum, self._steps = np.zeros((model.ngeom, 3)), 0  # of forces, along the axes of the contacts
        self._closed: Flags = np.zeros(4, dtype=bool)

    def advance(self) -> None:
        """One physics step."""
        watched = self._flight >= _FLIGHT
        if watched:
            (q, v), heights = state_of(self._data), self._heights()
        mujoco.mj_step(self._model, self._data)
        self._steps += 1
        if self._data.ncon:
            self._weigh()
        step = float(self._model.opt.timestep)
        if watched:
            mujoco.mj_forward(self._model, self._data)
            self._watch(q, v, (self._heights() - heights) / step)
        else:
            self._flight = 0.0 if self._data.ncon else self._flight + step

    def cycle(self) -> tuple[Flags, Array, Flags]:
        """Of the time since the last call: which feet carry load (4,), the ground's mean force on each (4, 3) in world
        axes [N], which of them slip now (4,). It must have been advanced meanwhile."""
        force = self._sum[self._geoms] @ _AXES / self._steps
        self._sum[:], self._steps = 0.0, 0
        self._closed = force[:, 2] > np.where(self._closed, UNLOADED, LOADED)
        return self._closed, force, self._slipping()

    def others_touching(self) -> tuple[str, ...]:
        """What touches the floor although it should not: ``base`` or ``*_calf``."""
        touching = {int(c.geom2) for c in self._data.contact[: self._data.ncon] if self._foot[c.geom2] < 0}
        return tuple(sorted(self._model.geom(i).name for i in touching))

    def _weigh(self) -> None:
        """Add the forces that acted during the step just made: the contacts are still those of its beginning."""
        # Contacts are the last constraints, three rows each: normal and tangents (elliptic cones). A foot has one.
        geoms = self._data.contact.geom2
        self._sum[geoms] += self._data.efc_force[-3 * geoms.size :].reshape(-1, 3)

    def _slipping(self) -> Flags:
        """Of the closed feet: whether the lowest point moves along the ground."""
        slipping, velocity = np.zeros(4, dtype=bool), np.zeros(6)  # angular, linear
        for foot in np.flatnonzero(self._closed):
            mujoco.mj_objectVelocity(self._model, self._data, mujoco.mjtObj.mjOBJ_GEOM, self._geoms[foot], velocity, 0)
            turn_x, turn_y, _, x, y, _ = velocity.tolist()
            slipping[foot] = math.hypot(x - FOOT_RADIUS * turn_y, y + FOOT_RADIUS * turn_x) > SLIPPING
        return slipping

    def _heights(self) -> Array:
        return np.array(self._data.geom_xpos[self._geoms, 2])

    def _watch(self, q: Array, v: Array, rates: Array) -> None:
        """A step in flight, or during the impact that ends it: q and v before it, the feet's rates in it."""
        data = self._data
        feet = {int(self._foot[c.geom2]) for c in data.contact[: data.ncon]} - {-1}
        now, step = float(data.time), float(self._model.opt.timestep)
        if feet and self._impact is None:
            self._impact = TrueImpact(now - step, 0.0, (), q, v, v)
            self._approach, self._touched = self._rates, set()
        self._rates = rates
        if self._impact is None:
            return
        self._touched |= feet
        members, duration = sorted(self._touched), now - self._impact.time
        if (rates[members] >= _STOPPED * self._approach[members]).all() or duration > _LONGEST_IMPACT:
            names = tuple(FOOT_NAMES[k] for k in members)
            self.impacts.append(replace(self._impact, duration=duration, feet=names, v_plus=state_of(data)[1]))
            self._impact, self._flight = None, 0.0
