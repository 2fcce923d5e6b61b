"""What of Cassie's landings can be explained: by impulses at its feet, its rods, its springs, its motors' inertia.

The tree of ``cassie_v2.urdf`` has the leaf springs as joints, which turn freely, and neither their stiffness, nor the
rods that close the legs' loops, nor what the motors' rotors add. Here a leg has them all: springs are free coordinates
of the tree with torques −k q, a rod is a contact that pulls, too (its row of J), rotors are diagonal entries of M. An
ankle spring has no encoder (its recorded rate is 0): its rate is that with which the rod keeps its length.

The unexplained part of a jump Δv that forces f acted on for a time s is ‖P (Δv − s M⁻¹ f)‖ / ‖Δv‖ in the kinetic norm,
P = 1 − M⁻¹Jᵀ(JM⁻¹Jᵀ)⁺J, J the rows that may push: no set of such impulses can hold it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.landing_sets.bodies import HEAD, row
from benchmarks.landing_sets.law import simultaneous
from benchmarks.landing_sets.sets import LandingSet, Score, score
from benchmarks.landing_sets.sources import SHARED
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.robots import read_cassie

Array = NDArray[np.float64]

TOES = ((-0.0457, 0.112, 0.0), (0.088, 0.0, 0.0))
RODS = (
    (("thigh_left", (0.0, 0.0, 0.045)), ("heel_spring_left", (0.11877, -0.01, 0.0))),
    (("thigh_right", (0.0, 0.0, -0.045)), ("heel_spring_right", (0.11877, -0.01, 0.0))),
)
"""Ends of the rods (link, m), as dairlib has them; between them it is 0.5012 m."""
SPRINGS = ("knee_joint", "ankle_spring_joint")
PUBLISHED = np.array([2300.0, 2000.0])
"""N m/rad, stiffness of the springs in the URDF."""
ARMATURE = {"hip_roll": 0.038125, "hip_yaw": 0.038125, "hip_pitch": 0.09344, "knee": 0.09344, "toe": 0.01225}
"""kg m², of rotors, seen at the joints: as the model of the robot's maker for MuJoCo has it."""
_TOGETHER = 0.02  # s; feet that touch later belong to another landing
WINDOWS = ((0.001, 0.003), (0.002, 0.006))  # s, from the first touch back to v⁻, and from the last to v⁺
FRICTIONS, REBOUNDS = (0.3, 0.6, 1.0), (0.0, 0.2)


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """One landing. M, J at its middle; forces are means over it.

    Attributes:
        mass: (nv, nv) with rotors. feet: (12, nv) rows of the four points, normal first. rods: (2, nv).
        before, after: (nv,). duration: s. forces: (nv,) torques of the motors less gravity and gyroscopic forces.
        springs: (nv, 2) torques of the springs of knees and of ankles over their stiffness, −q.
    """

    mass: Array
    feet: Array
    rods: Array
    before: Array
    after: Array
    duration: float
    forces: Array
    springs: Array

    @property
    def size(self) -> float:
        jump = self.after - self.before
        return float(np.sqrt(jump @ self.mass @ jump))

    def left(self, rows: Array, vectors: Array) -> Array:
        """What of velocities (nv, k) impulses of these rows cannot make, scaled so that its norm is the kinetic one
        over that of the jump."""
        W = np.linalg.solve(self.mass, rows.T)
        rest = vectors - W @ (np.linalg.pinv(rows @ W, rcond=1e-9, hermitian=True) @ (rows @ vectors))
        return np.linalg.cholesky(self.mass).T @ rest / self.size

    def speed_left(self, rows: slice) -> float:
        """Of the feet after the landing, over their normal one before it, as norms over the four points."""
        before, after = ((self.feet @ v).reshape(4, 3) for v in (self.before, self.after))
        return float(np.linalg.norm(after[:, rows]) / np.linalg.norm(before[:, 0]))

    def moved(self, forces: Array) -> Array:
        """Velocities that forces (nv, k) give in the time of the landing."""
        return self.duration * np.linalg.solve(self.mass, forces)


class _Robot:
    """Cassie's tree with its recordings' order of joints."""

    def __init__(self, urdf: Path, recording: Recording, armature: bool) -> None:
        self.model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
        self.data, self._recording = self.model.createData(), recording
        self.at = {name: self.model.joints[self.model.getJointId(name)].idx_v for name in recording.joints}
        self.order = np.array([self.at[name] for name in recording.joints])
        self.rotors = np.zeros(self.model.nv)
        for name, inertia in ARMATURE.items() if armature else ():
            for side in ("left", "right"):
                self.rotors[self.at[f"{name}_{side}"]] = inertia

    def configuration(self, i: int) -> Array:
        q, r = np.zeros(self.model.nq), self._recording
        q[:3], q[3:7], q[self.order + 1] = r.position[i], r.quaternion[i], r.q[i]
        return q

    def rows(self, i: int) -> tuple[Array, Array]:
        """Of the feet (12, nv), normal first, and of the rods (2, nv)."""
        pin.computeJointJacobians(self.model, self.data, self.configuration(i))
        pin.updateFramePlacements(self.model, self.data)
        sides = ("toe_left", "toe_right")
        feet = np.vstack([self._point(link, offset)[1][[2, 0, 1]] for link in sides for offset in TOES])
        rods = []
        for ends in RODS:
            (a, Ja), (b, Jb) = (self._point(*end) for end in ends)
            rods.append((a - b) / np.linalg.norm(a - b) @ (Ja - Jb))
        return feet, np.array(rods)

    def _point(self, link: str, offset: tuple[float, ...]) -> tuple[Array, Array]:
        frame = self.model.getFrameId(link, pin.FrameType.BODY)
        J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
        arm = self.data.oMf[frame].rotation @ np.array(offset)
        return self.data.oMf[frame].translation + arm, J[:3] - pin.skew(arm) @ J[3:]

    def velocity(self, i: int) -> Array:
        v, r = np.zeros(self.model.nv), self._recording
        v[:3], v[3:6], v[self.order] = r.linear[i], r.angular[i], r.dq[i]
        for rod, side in zip(self.rows(i)[1], ("left", "right"), strict=True):
            ankle = self.at[f"ankle_spring_joint_{side}"]
            v[ankle] = 0.0
            v[ankle] = -(rod @ v) / rod[ankle]
        return v

    def mass(self, i: int) -> Array:
        M = pin.crba(self.model, self.data, self.configuration(i))
        return np.triu(M) + np.triu(M, 1).T + np.diag(self.rotors)


def jumps(window: tuple[float, float] = WINDOWS[0], armature: bool = True, shared: Path = SHARED) -> list[Jump]:
    """Of every recording, from ``window[0]`` before the first touch to ``window[1]`` after the last."""
    found = []
    for path in sorted((shared / "data" / "cassie_jump").glob("jump_*.npz")):
        recording = read_cassie(path)
        robot = _Robot(path.with_name("cassie_v2.urdf"), recording, armature)
        touches = np.load(path)["touchdown_time_inferred"]
        touches = touches[touches <= np.nanmin(touches) + _TOGETHER]
        time = recording.time
        first = int(np.searchsorted(time, touches.min() - window[0]))
        last = min(int(np.searchsorted(time, touches.max() + window[1])), len(time) - 1)
        feet, rods = robot.rows((first + last) // 2)
        forces, springs = np.zeros(robot.model.nv), np.zeros((robot.model.nv, 2))
        samples = range(first, last + 1)
        forces[robot.order] = recording.effort[first : last + 1].mean(axis=0)
        for i in samples:
            q = robot.configuration(i)
            forces -= pin.nonLinearEffects(robot.model, robot.data, q, robot.velocity(i)) / len(samples)
            for j, name in enumerate(SPRINGS):
                for k in (robot.at[f"{name}_left"], robot.at[f"{name}_right"]):
                    springs[k, j] -= q[k + 1] / len(samples)
        ends = robot.velocity(first), robot.velocity(last)
        mass = robot.mass((first + last) // 2)
        found.append(Jump(mass, feet, rods, *ends, float(time[last] - time[first]), forces, springs))
    return found


def stiffness(found: list[Jump]) -> Array:
    """(2,) N m/rad of knees and ankles: least squares of what the known forces and rods leave of these jumps."""
    rest, columns = [], []
    for jump in found:
        rows = np.vstack([jump.feet, jump.rods])
        moved = jump.moved(np.column_stack([jump.forces, jump.springs]))
        left = jump.left(rows, np.column_stack([jump.after - jump.before - moved[:, 0], moved[:, 1:]]))
        rest.append(left[:, 0])
        columns.append(left[:, 1:])
    answer: Array = np.linalg.lstsq(np.vstack(columns), np.concatenate(rest), rcond=None)[0]
    return answer


def unexplained(jump: Jump, rows: Array, forces: Array | None = None, free: slice | None = None) -> float:
    """Part of the jump; ``free``: coordinates whose velocity is not believed."""
    delta = jump.after - jump.before
    left = jump.left(rows, (delta if forces is None else delta - jump.moved(forces))[:, None])[:, 0]
    if free is not None:
        doubted = jump.left(rows, np.eye(delta.size)[:, free])
        left = left - doubted @ np.linalg.lstsq(doubted, left, rcond=None)[0]
    return float(np.linalg.norm(left))


def parts(window: tuple[float, float], shared: Path = SHARED) -> dict[str, Array]:
    """Unexplained part of each landing, by what may push and what is known. The stiffness of a landing is identified on
    the other landings."""
    table: dict[str, list[float]] = {}
    for jump in jumps(window, False, shared):
        table.setdefault("feet", []).append(unexplained(jump, jump.feet))
        table.setdefault("feet; gravity and motors", []).append(unexplained(jump, jump.feet, jump.forces))
    found = jumps(window, True, shared)
    for i, jump in enumerate(found):
        both = np.vstack([jump.feet, jump.rods])
        k = stiffness(found[:i] + found[i + 1 :])
        published, own = (jump.forces + jump.springs @ values for values in (PUBLISHED, k))
        values = {
            "feet, rods; rotors": unexplained(jump, both),
            "feet, rods; rotors, gravity and motors": unexplained(jump, both, jump.forces),
            "the same, springs as published": unexplained(jump, both, published),
            "the same, springs as identified": unexplained(jump, both, own),
            "the same, pelvis not believed": unexplained(jump, both, own, slice(0, 6)),
            "normal speed of the feet that is left": jump.speed_left(slice(0, 1)),
            "tangential speed of the feet that is left": jump.speed_left(slice(1, 3)),
            "knee stiffness, N m/rad": k[0],
            "ankle stiffness, N m/rad": k[1],
        }
        for name, value in values.items():
            table.setdefault(name, []).append(float(value))
    return {name: np.array(values) for name, values in table.items()}


def containment(window: tuple[float, float], whole: bool, shared: Path = SHARED) -> list[Score]:
    """Sets of the impact law, inelastic or with a rebound, and for intervals of friction. ``whole``: with rods, rotors
    and all forces, for none to all of the time; otherwise as the URDF alone has it, at once."""
    found, scores = jumps(window, whole, shared), []
    for i, jump in enumerate(found):
        n = jump.before.size
        # Motions that the rods allow, as coordinates: v = Z y. Then the rods need no rows.
        Z = np.linalg.svd(jump.rods)[2][2:].T if whole else np.eye(n)
        M = Z.T @ jump.mass @ Z
        v, after = (np.linalg.lstsq(Z, x, rcond=None)[0] for x in (jump.before, jump.after))
        J = np.ascontiguousarray(jump.feet @ Z)
        k = stiffness(found[:i] + found[i + 1 :]) if whole else np.zeros(2)
        bias = -Z.T @ (jump.forces + jump.springs @ k)
        durations = (0.0, 0.5 * jump.duration, jump.duration) if whole else (0.0,)
        still = np.zeros(v.size)

        def law(s: float, mu: float, e: float, M=M, bias=bias, J=J, v=v, still=still) -> Array:
            return simultaneous(M, bias, J, v, np.full(4, mu), np.full(4, e), still, s)[0]

        points = np.array([law(s, mu, e) for s in durations for mu in FRICTIONS for e in REBOUNDS])
        kept = LandingSet(law(0.0, FRICTIONS[1], 0.0), v, points, np.zeros((0, v.size)), M)
        scores.append(score(kept, after))
    return scores


def main() -> None:
    if not (SHARED / "data" / "cassie_jump").is_dir():
        print(f"cassie: skipped, no recordings in {SHARED / 'data'}")
        return
    for window in WINDOWS:
        print(f"\ncassie, from {1e3 * window[0]:.0f} ms before the first touch to {1e3 * window[1]:.0f} after the last")
        for name, x in parts(window).items():
            low, high = np.quantile(x, [0.05, 0.95])
            unit = 1.0 if name.endswith("rad") else 100.0
            print(f"  {name:46}{unit * np.median(x):6.0f}  (5–95 %: {unit * low:.0f}–{unit * high:.0f})")
        print(HEAD)
        for whole in (False, True):
            print(row("rods, rotors, springs, time" if whole else "the URDF alone", containment(window, whole)))


if __name__ == "__main__":
    main()
