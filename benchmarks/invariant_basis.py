"""What no impulse changes, on landings: how much of a jump it is, how often what is said of it holds, and its time.

Landings are those of the shared data (Go2 in MuJoCo, all truths known), with the intervals of ``landing_sets``. The
time is thread time, beside ``pinocchio.computeAllTerms`` of the same robot in the same process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.estimator import go2 as go2_model
from benchmarks.landing_sets import sources
from benchmarks.landing_sets.recorded import recorded
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.landing_fit import Case
from hybrid_contact_ros.impacts.invariant_basis import OtherTerms, basis_of, invariant_basis, set_changes
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

_TERMS = LandingTerms(
    duration_min=0.001, duration_max=0.004, rebound_min=-0.07, rebound_max=0.18, drive_max=2.4e-3, drive_own=0.6e-3,
    settling=0.6, bounce=0.05, creep=0.15, slip=0.005,
)  # fmt: skip
_ROBOTS = {
    "go2": ("go2.yaml", "go2_description/urdf/go2.urdf", 4 * [0.0, 0.8, -1.6]),
    "anymal": (
        "anymal.yaml", "anymal_b_simple_description/robots/anymal.urdf", 2 * [0.0, 0.4, -0.8] + 2 * [0.0, -0.4, 0.8]
    ),
    "panda": ("arm.yaml", "panda_description/urdf/panda.urdf", [0.0, 0.3, 0.0, -2.0, 0.0, 2.3, 0.8, 0.02]),
}  # fmt: skip
_OTHER = OtherTerms(_TERMS.duration_max, _TERMS.drive_max, _TERMS.drive_own, 6)


def truths() -> None:
    """A table: of the true jump, and of what is said of it."""
    rows: dict[str, list[tuple[float, ...]]] = {}
    for landing in sources.go2(ahead=False):
        known = landing.truth
        basis = basis_of(known.mass, known.rows[known.active].reshape(-1, known.velocity.size))
        found = Case(recorded(landing)).made(_TERMS)
        change, jump = set_changes(basis, _OTHER, known.bias, known.velocity, found.points, found.generators)
        moved = landing.after - known.velocity
        size = float(np.sqrt(moved @ known.mass @ moved))
        kept = np.abs(basis.components(moved))
        rows.setdefault(landing.group, []).append(
            (
                float(len(change)),
                float(np.linalg.norm(kept)) / size,
                float(np.median(kept)) / size,
                float(np.median(change)) / size,
                float(np.mean(kept <= change)),
                float(np.mean(np.abs(moved) <= jump)),
                float(np.median(np.abs(moved[6:]) / jump[6:])),
            )
        )
    print(
        "| landings | n | r | invariant part of the jump, median, p90 | a component, median | said of it | holds |",
        end="",
    )
    print(" joint_jump holds | of it, median |\n|---|---|---|---|---|---|---|---|---|")
    for group, found_rows in rows.items():
        r, part, one, said, holds, jumps, share = np.array(found_rows).T
        print(
            f"| {group} | {len(r)} | {np.median(r):.0f}"
            f" | {100 * np.median(part):.1f} %, {100 * np.percentile(part, 90):.1f} %"
            f" | {100 * np.median(one):.1f} % | {100 * np.median(said):.1f} % | {100 * holds.mean():.1f} %"
            f" | {100 * jumps.mean():.1f} % | {np.median(share):.2f} |"
        )


def turns(pairs: int = 300, step: float = 1e-4) -> None:
    """How far the basis turns between configurations ``step`` (rad, m) apart, for all choices of contacts."""
    rng = np.random.default_rng(0)
    for name in ("go2", "anymal", "panda"):
        model, stance = _standing(name)
        feet = range(min(model.contacts, 4))
        chosen = [c for k in range(1, len(feet) + 1) for c in combinations(feet, k)]
        found = []
        for _ in range(pairs):
            bent = rng.normal(size=model.nv) * np.where(
                np.arange(model.nv) < (6 if model.floating_base else 0), 0.2, 0.3
            )
            here = model.integrate(stance, bent)
            there = model.integrate(here, step * rng.normal(size=model.nv))
            one, two = (model.problem(RobotState(0, q, np.zeros(model.nv))) for q in (here, there))
            for contacts in chosen:
                a, b = invariant_basis(one, contacts), invariant_basis(two, contacts)
                if a.rank == b.rank < model.nv:
                    found.append(np.abs(a.rows @ a.mass @ b.rows.T - np.eye(len(a.rows))).max())
        jumps = sum(turn > 0.05 for turn in found)
        print(f"{name}: rows turn by {np.median(found):.0e} (median), and jump in {jumps} of {len(found)} pairs")


def _standing(name: str) -> tuple[RigidBodyModel, NDArray[np.float64]]:
    file, urdf, joints = _ROBOTS[name]
    model = RigidBodyModel.from_urdf(example_urdf(urdf), EstimatorConfig.from_file(sources.ROOT / "config" / file))
    stance = model.neutral()
    stance[-len(joints) :] = joints
    return model, stance


def _best(call: Callable[[], object], turns: int = 200) -> float:
    """µs of thread time."""
    begin = time.thread_time_ns()
    for _ in range(turns):
        call()
    return (time.thread_time_ns() - begin) / turns / 1e3


def times() -> None:
    """Of a Go2 that lands on four feet, with a set of 80 velocities and 30 generators."""
    model, rng = go2_model(), np.random.default_rng(0)
    state = RobotState(0, model.bent(), rng.normal(size=model.nv), np.zeros(model.nv))
    problem = model.problem(state)
    mass, rows, bias, v = problem.mass, problem.jacobian(), problem.bias_force, problem.velocity
    basis, points, generators = basis_of(mass, rows), rng.normal(size=(80, v.size)), rng.normal(size=(30, v.size))
    calls = {
        "computeAllTerms": lambda: pin.computeAllTerms(model.pinocchio_model, model.pinocchio_data, state.q, state.v),
        "basis": lambda: basis_of(mass, rows),
        "changes and jumps": lambda: set_changes(basis, _OTHER, bias, v, points, generators, 0.1),
    }
    taken = {name: [_best(call) for _ in range(1)] for name, call in calls.items()}
    for _ in range(20):
        for name, call in calls.items():
            taken[name].append(_best(call))
    yardstick = min(taken["computeAllTerms"])
    for name, values in taken.items():
        print(f"{name}: {min(values):.1f} µs, {min(values) / yardstick:.1f} times computeAllTerms")


def main() -> None:
    truths()
    turns()
    times()


if __name__ == "__main__":
    main()
