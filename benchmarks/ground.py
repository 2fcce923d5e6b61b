"""Gaits on ground that is not the configured plane z = 0: what the estimator makes of them with and without learning.

``./run bench ground [ROBOT ...] [--terrains NAME ...] [--gaits NAME ...]`` prints a line for each robot, gait, terrain,
and kind of state (exact, or with the noise of ``benchmarks/estimator.py``): F1 of closed contacts with ``ground.learn``
off and on, the error of the learned height (m) under loaded feet, and how often touchdowns lie within their bounds.

Slopes are made by tilting gravity over a level floor, and turning the recording into the world after that. On tiles and
blocks every contact has a level floor of its own, whose height follows the terrain while the contact is in the air:
edges are never touched.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from benchmarks.estimator import NOISE, Scores, states
from benchmarks.gaits import SHOWN, record
from benchmarks.simulated_robots import GROUNDS, ROBOTS, SimulatedRobot
from hybrid_contact_ros.demo.physics import contact_law, free_robot, robot_geom
from hybrid_contact_ros.estimator import ContactEstimator, Parts

Array = NDArray[np.float64]
Height = Callable[[Array], Array]
"""Of the ground, m, at places (k, 2)."""
_HIGH_ENOUGH = 0.001  # m: a floor moves only while its contact is this far above it
_SOFT = {"soft8": 0.03, "soft15": 0.042}  # s, time constants of the contact: it yields by some 8 and 15 mm under a Go2


def tiles(size: float, highest: float, seed: int = 3) -> Height:
    """Square tiles of random heights between 0 and ``highest`` m."""
    table = np.random.default_rng(seed).uniform(0.0, highest, (257, 251))

    def height(place: Array) -> Array:
        i, j = np.floor(place / size).astype(int).T
        return np.asarray(table[i % 257, j % 251])

    return height


def blocks(size: float, step: float) -> Height:
    """A chequerboard of heights 0 and ``step`` m."""
    return lambda place: step * (np.floor(place / size).astype(int).sum(axis=1) % 2)


TERRAINS: dict[str, Any] = {
    "flat": None,
    "5 mm up": lambda place: np.full(len(place), 0.005),
    "5 mm down": lambda place: np.full(len(place), -0.005),
    "tiles 15 mm": tiles(0.15, 0.015),
    "blocks 3 cm": blocks(0.4, 0.03),
    "slope 6°": 6.0,
    "slope 10°": 10.0,
    **_SOFT,
}


class TerrainRobot(SimulatedRobot):
    """A robot each of whose contacts stands on a level floor of its own."""

    def __init__(self, name: str, terrain: str) -> None:
        self._height = TERRAINS[terrain] if callable(TERRAINS[terrain]) else None
        self._softness = _SOFT.get(terrain, GROUNDS["stiff"])
        super().__init__(name)
        self._floors = np.array([self.model.geom(f"floor_{n}").id for n in self.rigid.contact_names])
        self.model.geom_sameframe[self._floors] = 0  # they do not stay where the world's frame is

    def _compile(self, urdf: str, stiffness: float) -> mujoco.MjModel:
        compiler = {"balanceinertia": "true", "boundmass": "1e-6", "boundinertia": "1e-9"}
        spec = free_robot(urdf, self.rigid.root_link, **compiler)
        law, plane = contact_law(0.0, self._softness), mujoco.mjtGeom.mjGEOM_PLANE
        names = iter(self.rigid.contact_names)
        for contact in self.config.contacts.values():
            for k in range(0, len(contact.points), 3):
                name = next(names)
                bit = 1 << list(self.rigid.contact_names).index(name)
                spec.worldbody.add_geom(
                    name=f"floor_{name}", type=plane, size=[0, 0, 1], **(law | {"contype": 0, "conaffinity": bit})
                )
                geom = robot_geom(contact_law(self.friction, self._softness)) | {"contype": bit}
                spec.body(contact.link).add_geom(
                    name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[contact.radius, 0, 0],
                    pos=list(contact.points[k : k + 3]), **geom,
                )  # fmt: skip
        model = spec.compile()
        model.dof_damping[:] = model.dof_frictionloss[:] = 0.0
        model.jnt_limited[:] = 0
        return model

    def forces(self) -> Array:
        """As of SimulatedRobot; the floors then follow the terrain."""
        found = super().forces()
        if self._height is not None:
            centres = self.data.geom_xpos[self.geoms]
            wanted = self._height(centres[:, :2])
            lowest = centres[:, 2] - self.radius
            here = self.model.geom_pos[self._floors, 2]
            # Not to above the foot either: it would be thrown up.
            free = (found[:, 2] <= 0.0) & (lowest > here + _HIGH_ENOUGH) & (lowest > wanted)
            self.model.geom_pos[self._floors[free], 2] = wanted[free]
        return found


def episode(name: str, gait: str, terrain: str) -> tuple[SimulatedRobot, dict[str, Array]]:
    """A recording (:func:`~benchmarks.gaits.record`), with ``ground`` (n, m), m, the height under each contact."""
    robot = TerrainRobot(name, terrain)
    slope = TERRAINS[terrain]
    if not isinstance(slope, float):
        data = record(robot, gait)
        height = TERRAINS[terrain]
        if height is not None:
            data["ground"] = np.stack([height(p) for p in data["foot_pos"][:, :, :2]])
        else:
            data["ground"] = np.zeros(data["foot_pos"].shape[:2])
        return robot, data
    angle = np.deg2rad(slope)
    robot.model.opt.gravity[:] = 9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    data = record(robot, gait)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    for key in ("foot_pos", "foot_vel", "foot_force"):
        data[key] = data[key] @ turn.T
    q = data["q"]
    q[:, :3] = q[:, :3] @ turn.T
    half = 0.5 * angle
    x, y, z, w = q[:, 3:7].T.copy()
    a, b = np.sin(half), np.cos(half)  # quaternion (0, a, 0, b) times (x, y, z, w)
    q[:, 3:7] = np.stack([b * x + a * z, b * y + a * w, b * z - a * x, b * w - a * y], axis=1)
    data["ground"] = -np.tan(angle) * data["foot_pos"][:, :, 0] + float(data["foot_radius"]) * (1 / np.cos(angle) - 1)
    return robot, data


def score(robot: SimulatedRobot, data: dict[str, Array], noisy: bool, learn: bool) -> tuple[Scores, Array]:
    """Scores, and the errors of the learned height under contacts in the last quarter of their swings."""
    config = replace(robot.config, ground=replace(robot.config.ground, learn=learn))
    model = robot.rigid
    estimator = ContactEstimator(model, config)
    answers = [estimator.update(state, Parts.MODE) for state in states(model, data, NOISE if noisy else None)]
    found = Scores()
    found.add(data, answers)
    offsets = np.array([a.mode.ground_offset for a in answers])
    truth = data["foot_contact"][: len(answers)]
    errors = []
    for foot in range(truth.shape[1]):
        touched = np.flatnonzero(np.diff(truth[:, foot].astype(int)) == 1) + 1
        late = touched[touched > 1000]
        errors.append(offsets[late - 2, foot] - data["ground"][late, foot])
    return found, np.concatenate(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description="Gaits on unknown ground, with and without learning it.")
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help=f"of {', '.join(ROBOTS)}; without any, go2, anymal")
    parser.add_argument("--terrains", nargs="*", choices=list(TERRAINS), default=list(TERRAINS))
    parser.add_argument("--gaits", nargs="*", default=["walk", "trot"])
    chosen = parser.parse_args()
    print("| robot | gait | terrain | states | F1 off | F1 on | height error before touchdown, mm | bounds hold |")
    print("|---|---|---|---|---|---|---|---|")
    for name in chosen.robots or ("go2", "anymal"):
        for gait in chosen.gaits:
            if gait not in SHOWN[name]:
                continue
            for terrain in chosen.terrains:
                robot, data = episode(name, gait, terrain)
                for noisy in (False, True):
                    off, on = (score(robot, data, noisy, learn) for learn in (False, True))
                    size = 1e3 * np.abs(on[1])
                    error = f"{np.median(size):.1f} ({np.quantile(size, 0.95):.1f})" if size.size else "–"
                    kind = "noise" if noisy else "exact"
                    inside = " → ".join(f"{np.mean(x.inside):.2f}" if x.inside else "–" for x in (off[0], on[0]))
                    cells = (name, gait, terrain, kind, f"{off[0].f1:.3f}", f"{on[0].f1:.3f}", error, inside)
                    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
