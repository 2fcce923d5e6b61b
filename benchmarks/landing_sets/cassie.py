"""What of Cassie's landings impulses can make: at its contact points, in its springs, along the rods of its legs.

The tree of ``cassie_v2.urdf`` has leaf springs as joints without stiffness, and no rods. A jump of the velocity is what
forces of 10 to 20 ms made; the part of it that no impulse of the given rows can make, ‖P Δv‖ / ‖Δv‖ in the kinetic norm
with P = 1 − M⁻¹Jᵀ(JM⁻¹Jᵀ)⁺J, no set of such impulses can hold.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.landing_sets.sources import SHARED
from hybrid_contact_ros.recordings.robots import read_cassie

Array = NDArray[np.float64]

POINTS = {
    "toe_left": ((-0.0457, 0.112, 0.0), (0.088, 0.0, 0.0)),
    "toe_right": ((-0.0457, 0.112, 0.0), (0.088, 0.0, 0.0)),
}
SPRINGS = ("knee_joint_left", "knee_joint_right", "ankle_spring_joint_left", "ankle_spring_joint_right")
RODS = (
    (("thigh_left", (0.0, 0.0, 0.045)), ("heel_spring_left", (0.11877, -0.01, 0.0))),
    (("thigh_right", (0.0, 0.0, -0.045)), ("heel_spring_right", (0.11877, -0.01, 0.0))),
)
"""Ends of the rods (link, m), as dairlib has them; between them it is 0.5012 m."""
_BEFORE, _AFTER = 0.002, 0.006  # s, from the first touch back to v⁻, and from the last to v⁺


def parts() -> dict[str, Array]:
    """Unexplained part of the jump of each landing, by what may push; and the lengths of the rods (m)."""
    found: dict[str, list[float]] = {}
    for path in sorted((SHARED / "data" / "cassie_jump").glob("jump_*.npz")):
        _add(path, found)
    return {name: np.array(values) for name, values in found.items()}


def _add(path: Path, found: dict[str, list[float]]) -> None:
    model = pin.buildModelFromUrdf(str(path.with_name("cassie_v2.urdf")), pin.JointModelFreeFlyer())
    data, recording = model.createData(), read_cassie(path)
    touches = np.load(path)["touchdown_time_inferred"]
    touches = touches[np.isfinite(touches)]
    touches = touches[touches <= touches.min() + 0.02]
    first = int(np.searchsorted(recording.time, touches.min() - _BEFORE))
    last = min(int(np.searchsorted(recording.time, touches.max() + _AFTER)), len(recording.time) - 1)
    order = np.array([model.joints[model.getJointId(name)].idx_v for name in recording.joints])

    def state(i: int) -> tuple[Array, Array, Array]:
        q, v, effort = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        q[:3], q[3:7], q[order + 1] = recording.position[i], recording.quaternion[i], recording.q[i]
        v[:3], v[3:6], v[order] = recording.linear[i], recording.angular[i], recording.dq[i]
        effort[order] = recording.effort[i]
        return q, v, effort

    q, before, _ = state(first)
    after = state(last)[1]
    pin.forwardKinematics(model, data, q, before)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    dt = float(recording.time[last] - recording.time[first])
    bias = pin.nonLinearEffects(model, data, q, before)
    drift = dt * np.linalg.solve(M, np.mean([state(i)[2] for i in range(first, last)], axis=0) - bias)

    def point(link: str, offset: tuple[float, ...]) -> tuple[Array, Array]:
        frame = model.getFrameId(link, pin.FrameType.BODY)
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        arm = data.oMf[frame].rotation @ np.array(offset)
        return data.oMf[frame].translation + arm, J[:3] - pin.skew(arm) @ J[3:]

    rows = {"contact points": np.vstack([point(link, o)[1] for link, offsets in POINTS.items() for o in offsets])}
    springs = np.zeros((len(SPRINGS), model.nv))
    for i, name in enumerate(SPRINGS):
        springs[i, model.joints[model.getJointId(name)].idx_v] = 1.0
    rods = []
    for i, ends in enumerate(RODS):
        (a, Ja), (b, Jb) = (point(*end) for end in ends)
        found.setdefault(f"length of rod {i}, m", []).append(float(np.linalg.norm(a - b)))
        rods.append((a - b) / np.linalg.norm(a - b) @ (Ja - Jb))
    rows["and springs"] = np.vstack([rows["contact points"], springs])
    rows["and rods"] = np.vstack([rows["contact points"], *np.array(rods)[:, None]])
    rows["and springs and rods"] = np.vstack([rows["and springs"], *np.array(rods)[:, None]])
    for kind, jump in (("", after - before), (", less the drift", after - before - drift)):
        whole = float(np.sqrt(jump @ M @ jump))
        for name, J in rows.items():
            W = np.linalg.solve(M, J.T)
            rest = jump - W @ np.linalg.pinv(J @ W, rcond=1e-9, hermitian=True) @ J @ jump
            found.setdefault(name + kind, []).append(float(np.sqrt(rest @ M @ rest)) / whole)


def main() -> None:
    for name, values in parts().items():
        print(f"{name:50} median {np.median(values):.3f}  5-95 % {np.round(np.quantile(values, [0.05, 0.95]), 3)}")


if __name__ == "__main__":
    main()
