"""What happens between touchdowns: a landing in steps, contacts that close by their gaps, four kinds of drives.

    M(q) (v' − v) = dt (Sᵀτ − h(q, v)) + Jᵀλ,    0 ≤ λ_n ⊥ φ + dt J_n v' ≥ 0,    ‖λ_t‖ ≤ μ λ_n

The torque is that of the sample of v⁻ ("held"), the recorded one ("true"), that of a PD of the recording's gains around
the sample of v⁻ ("pd"), or the same PD as a drive computes it: once a millisecond, within its limits ("sampled").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimator import go2, states
from benchmarks.landing_sets.candidates import Terms, outcome
from benchmarks.landing_sets.law import _impulses
from benchmarks.landing_sets.records import STEP, find, landings
from benchmarks.landing_sets.sources import ROOT, SHARED
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
DRIVES = ("held", "true", "pd", "sampled")
_DT = 0.00025  # s
_LIMIT = np.tile([23.7, 23.7, 45.4], 4)  # N m, of the Go2's URDF
_CLOSED = 1e-5  # m


def landed(
    model: RigidBodyModel, data: dict[str, Array], seen: list[RobotState], span: tuple[int, int], drive: str
) -> Array:
    """v⁺ (nv,) of a landing from sample span[0] to span[1]."""
    first = seen[span[0]]
    q, v, effort = first.q.copy(), first.v.astype(np.float64), first.effort.astype(np.float64)
    q0, v0, tau0 = q.copy(), v.copy(), effort.copy()
    kp, kd, mu = (float(data[name]) for name in ("kp", "kd", "mu"))
    per_sample = round(STEP / _DT)
    for i in range((span[1] - span[0]) * per_sample):
        if drive == "true":
            effort = seen[span[0] + i // per_sample].effort.astype(np.float64)
        if drive == "sampled" and i % per_sample == 0:
            wanted = tau0[6:] - kp * (q[7:] - q0[7:]) - kd * (v[6:] - v0[6:])
            effort = np.r_[np.zeros(6), np.clip(wanted, -_LIMIT, _LIMIT)]
        problem = model.problem(RobotState(0, q, v, effort))
        M, bias = problem.mass.copy(), problem.bias_force.copy()
        if drive == "pd":  # implicit: stiff gains would make the explicit step oscillate
            joints = np.arange(6, v.size)
            M[joints, joints] += kd * _DT + kp * _DT**2
            bias[6:] += kp * (q[7:] - q0[7:]) + kd * (v[6:] - v0[6:]) + kp * _DT * v[6:]
        inverse = np.linalg.inv(M)
        free = v - _DT * inverse @ bias
        rows = problem.jacobian().reshape(problem.contacts, 3, v.size)
        near = np.flatnonzero(problem.gap + _DT * (rows[:, 0] @ free) <= _CLOSED)
        v = free
        if near.size:
            J = np.ascontiguousarray(rows[near].reshape(-1, v.size))
            W = J @ inverse
            speeds = J @ free + _DT * problem.jacobian_drift[near].reshape(-1)
            G, targets = np.ascontiguousarray(W @ J.T), -np.maximum(problem.gap[near], 0.0) / _DT
            v = free + W.T @ _impulses(G, speeds, np.full(near.size, mu), targets)
        q = model.integrate(q, _DT * v)
    return v


def main() -> None:
    model, config = go2(), EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    print("drops in which several feet land within a window; distance of the true v⁺, % of the nominal jump")
    print("| window ms | drive | n | median / p90 / p95 | < 5 % | < 10 % |\n|---|---|---|---|---|---|")
    for window in (5, 10):
        found: dict[str, list[float]] = {name: [] for name in ("at once", *DRIVES)}
        for path in sorted((SHARED / "data" / "go2_mujoco").glob("drop_*.npz")):
            data = dict(np.load(path))
            seen = states(model, data, None)
            closed = data["foot_contact"][: len(seen)].astype(bool)
            places = find(closed, data["foot_vel"][: len(seen), :, 2], window)
            for place, landing in zip(places, landings(model, config, data, "", False, window), strict=True):
                if len(place[2]) < 2:
                    continue
                known, off = landing.truth, np.zeros(model.nv)
                L = np.linalg.cholesky(known.mass)
                nominal = outcome(known, Terms(), 0.0, 0.0, 1.0, off)
                jump = np.linalg.norm((nominal - known.velocity) @ L)
                ends = {"at once": nominal, **{d: landed(model, data, seen, place[:2], d) for d in DRIVES}}
                for name, v in ends.items():
                    found[name].append(100.0 * float(np.linalg.norm((v - landing.after) @ L) / jump))
        for name, far in found.items() if found["held"] else ():
            cells = " / ".join(f"{x:.1f}" for x in np.percentile(far, [50, 90, 95]))
            within = " | ".join(f"{100 * np.mean(np.array(far) <= t):.0f}" for t in (5, 10))
            print(f"| {window} | {name} | {len(far)} | {cells} | {within} |", flush=True)


if __name__ == "__main__":
    main()
