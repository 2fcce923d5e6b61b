"""What really happens at the simulated feet: forces as a plate under each foot would measure them, and impacts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.demo.go2_model import FOOT_NAMES, FOOT_RADIUS, state_of
from hybrid_contact_ros.demo.physics import add_contact_forces, in_world_axes

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LOADED = 5.0  # N, mean over a cycle; an open foot with more has touched
UNLOADED = 1.0  # N, mean over a cycle; a closed foot with less has left the ground
SLIPPING = 0.05  # m/s, speed along the ground from which on a loaded foot counts as slipping

_FLIGHT = 0.05  # s in the air, after which a touchdown is an impact to record
_STOPPED = 0.05  # of its speed of approach: a foot that approaches slower than this has stopped
_LONGEST_IMPACT = 0.008  # s; a foot stops in 1 ms, but four do not touch together


@dataclass(frozen=True, slots=True)
class TrueImpact:
    """An impact that ended a flight. It lasts from the physics step before the first contact to the first step after
    which no foot that touched approaches the ground any more.

    ``v_plus`` has what gravity, springs and motors do meanwhile, and the rebound of the feet that touched first. A foot
    that touches after the others have stopped is not part of the impact.

    Attributes:
        time: of its beginning, s.
        duration: s.
        feet: names of the feet that touched meanwhile.
        q: (19,) configuration at the beginning, as of :func:`~hybrid_contact_ros.demo.go2_model.state_of`.
        v_minus, v_plus: (18,) velocities before and after.
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
        impacts: the impacts since somebody emptied the list.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data = model, data
        self._geoms = np.array([model.geom(name).id for name in FOOT_NAMES])
        self._foot = np.full(model.ngeom, -1)
        self._foot[self._geoms] = range(4)
        self.impacts: list[TrueImpact] = []
        self._flight = math.inf  # s in the air so far; infinite before the first contact
        self._impact: TrueImpact | None = None
        self._touched: set[int] = set()
        self._rates = self._approach = np.zeros(4)  # m/s, rates of the heights of the feet
        self._sum, self._steps = np.zeros((model.ngeom, 3)), 0  # of forces, along the axes of the contacts
        self._closed: Flags = np.zeros(4, dtype=bool)

    def advance(self) -> None:
        """One physics step."""
        watched = self._flight >= _FLIGHT
        if watched:
            (q, v), heights = state_of(self._data), self._heights()
        mujoco.mj_step(self._model, self._data)
        self._steps += 1
        add_contact_forces(self._data, self._sum)
        step = float(self._model.opt.timestep)
        if watched:
            mujoco.mj_forward(self._model, self._data)
            self._watch(q, v, (self._heights() - heights) / step)
        else:
            self._flight = 0.0 if self._data.ncon else self._flight + step

    def cycle(self) -> tuple[Flags, Array, Flags]:
        """The contacts since the last call; at least one step must have been made meanwhile.

        Returns:
            closed: (4,), which feet carry load.
            force: (4, 3) N, mean force of the ground on each foot, in world axes.
            slipping: (4,), which of them slip now.
        """
        force = in_world_axes(self._sum[self._geoms]) / self._steps
        self._sum[:], self._steps = 0.0, 0
        self._closed = force[:, 2] > np.where(self._closed, UNLOADED, LOADED)
        return self._closed, force, self._slipping()

    def others_touching(self) -> tuple[str, ...]:
        """What touches the floor although it should not: ``base`` or ``*_calf``."""
        touching = {int(c.geom2) for c in self._data.contact[: self._data.ncon] if self._foot[c.geom2] < 0}
        return tuple(sorted(self._model.geom(i).name for i in touching))

    def _slipping(self) -> Flags:
        """Which of the closed feet have a lowest point that moves along the ground."""
        slipping, velocity = np.zeros(4, dtype=bool), np.zeros(6)  # angular, linear
        for foot in np.flatnonzero(self._closed):
            mujoco.mj_objectVelocity(self._model, self._data, mujoco.mjtObj.mjOBJ_GEOM, self._geoms[foot], velocity, 0)
            turn_x, turn_y, _, x, y, _ = velocity.tolist()
            slipping[foot] = math.hypot(x - FOOT_RADIUS * turn_y, y + FOOT_RADIUS * turn_x) > SLIPPING
        return slipping

    def _heights(self) -> Array:
        return np.array(self._data.geom_xpos[self._geoms, 2])

    def _watch(self, q: Array, v: Array, rates: Array) -> None:
        """Look at a step in flight, or during the impact that ends a flight.

        Args:
            q, v: the state before the step.
            rates: (4,) m/s, mean rates of the heights of the feet during the step.
        """
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
