"""Ground that is not a stiff level floor: slopes, tiles, blocks, and ground that gives way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from benchmarks.simulated_robots import SimulatedRobot

Array = NDArray[np.float64]
_DEPTH = 0.5  # m, of the boxes below their tops
_FIRST_RISER = 0.35  # m, of stairs, or a little beyond it
_TILES = (-1.0, 4.0), (-1.5, 1.5)  # m, where tiles lie, along x and y


@dataclass(frozen=True, slots=True)
class Terrain:
    """``slope``: rad, rising along x. ``tile``: m, side of square tiles whose tops lie between 0 and ``height``, m, or
    with ``blocks`` at one of the two, with ``stairs`` each higher than the one behind it. ``yields``: m, by which the
    ground gives way under a foot with half of the weight."""

    slope: float = 0.0
    tile: float = 0.0
    height: float = 0.0
    blocks: bool = False
    stairs: bool = False
    yields: float = 0.0

    def heights(self) -> Array:
        """Of the tiles (along x, along y), the same in every run; those about the origin are level."""
        (x0, x1), (y0, y1) = _TILES
        size = math.ceil((x1 - x0) / self.tile), math.ceil((y1 - y0) / self.tile)
        if self.stairs:
            first = math.ceil((_FIRST_RISER - x0) / self.tile)
            return np.repeat(self.height * np.maximum(np.arange(size[0]) - first + 1, 0)[:, None], size[1], axis=1)
        drawn = np.random.default_rng(5).random(size)
        return self.height * (drawn > 0.6 if self.blocks else drawn)

    def below(self, points: Array) -> Array:
        """Heights (k,), m, of the ground at points (k, 2 or more)."""
        if self.tile:
            tops, index = self.heights(), self.tiles(points)
            inside = ((index >= 0) & (index < tops.shape)).all(axis=1)
            i, j = np.clip(index, 0, np.array(tops.shape) - 1).T
            return np.where(inside, tops[i, j], 0.0)
        return np.asarray(math.tan(self.slope) * points[:, 0])

    def tiles(self, points: Array) -> NDArray[np.int64]:
        """Numbers (k, 2), along x and y, of the tiles below points (k, 2 or more)."""
        (x0, _), (y0, _) = _TILES
        return np.floor((points[:, :2] - [x0, y0]) / self.tile).astype(np.int64)


class TerrainRobot(SimulatedRobot):
    """A simulated robot on a terrain. Its configuration knows nothing of it: one plane at z = 0."""

    def __init__(self, name: str, terrain: Terrain) -> None:
        self.terrain = terrain
        super().__init__(name)
        if terrain.yields:
            self._soften()

    def add_ground(self, spec: mujoco.MjSpec, law: dict[str, Any]) -> None:
        law = law | {"contype": 0, "conaffinity": 1}
        half = 0.5 * self.terrain.slope
        quat = [math.cos(half), 0.0, -math.sin(half), 0.0]
        plane, box = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_BOX
        spec.worldbody.add_geom(name="floor", type=plane, size=[0, 0, 1], quat=quat, **law)
        if self.terrain.tile:
            (x0, _), (y0, _) = _TILES
            side = self.terrain.tile
            for (i, j), top in np.ndenumerate(self.terrain.heights()):
                if top > 0.0:
                    centre = [x0 + (i + 0.5) * side, y0 + (j + 0.5) * side, top - 0.5 * _DEPTH]
                    spec.worldbody.add_geom(type=box, size=[0.5 * side, 0.5 * side, 0.5 * _DEPTH], pos=centre, **law)

    def ground(self, points: Array) -> Array:
        return self.terrain.below(np.asarray(points))

    def forces(self) -> Array:
        """As of the level floor, with the axes of each contact; of its two geoms one is the robot's."""
        data, found = self.data, np.zeros((self.model.ngeom, 3))
        if data.ncon:
            contact = data.contact
            along = data.efc_force[-3 * data.ncon :].reshape(-1, 3)
            world = np.einsum("ci,cij->cj", along, contact.frame.reshape(-1, 3, 3))
            ours = np.isin(contact.geom2, self.geoms)
            np.add.at(found, np.where(ours, contact.geom2, contact.geom1), np.where(ours[:, None], world, -world))
        return found[self.geoms]

    def gaps(self, centres: Array) -> Array:
        """True gaps (n, m), m, of spheres whose centres are (n, m, 3), along the normal of the ground under them."""
        flat = centres.reshape(-1, 3)
        above = (flat[:, 2] - self.terrain.below(flat)) * math.cos(self.terrain.slope) - self.radius
        return np.asarray(above.reshape(centres.shape[:2]))

    def _soften(self) -> None:
        """Find the time constant with which the robot, standing on four feet, sinks half as deep, by bisection."""
        from benchmarks.gait_controller import GaitController

        model, data = self.model, self.data
        low, high = 0.002, 0.2
        for _ in range(7):
            middle = math.sqrt(low * high)
            model.geom_solref[:], model.geom_solimp[:] = [middle, 1.0], [0.5, 0.5, 0.001, 0.5, 2.0]
            controller = GaitController(self, None, 0.0)
            self.place(np.zeros(3), 0.0)
            while data.time < 1.0:
                mujoco.mj_forward(model, data)
                data.qfrc_applied[:] = controller.torques(data.time, self.point_jacobians())
                for _ in range(4):
                    mujoco.mj_step(model, data)
            depth = -float(self.gaps(data.geom_xpos[self.geoms][None]).mean())
            low, high = (middle, high) if depth < 0.5 * self.terrain.yields else (low, middle)
