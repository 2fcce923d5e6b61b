"""Impacts of humanoids on flat soles: ``./run bench soles [--against ROOT]``.

Robots of example-robot-data land on one or two soles of four to twelve points, in random postures and velocities; sets
by Poisson's law with e = 0.3, and the node's other defaults. How many samples there are within a millisecond, what a
sample takes, and 64 of them. ROOT is another checkout that ``./run setup`` has set up: the same landings there, in
alternation, and how far the sets are from each other (quantiles of the distance of a sample from the nearest one of
the other set, in the kinetic norm, over the jump), beside that of two seeds of ROOT.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
LANDINGS = 6
COMPARED = 256  # samples of the sets that are compared
ROBOTS: dict[str, tuple[str, tuple[str, str], tuple[float, float], dict[str, float]]] = {
    "Talos": (
        "talos_data/robots/talos_reduced.urdf",
        ("left_sole_link", "right_sole_link"),
        (0.20, 0.12),
        {f"leg_{side}_{i}_joint": x for side in ("left", "right") for i, x in ((3, -0.4), (4, 0.8), (5, -0.4))},
    ),
    "iCub": ("icub_description/robots/icub_reduced.urdf", ("l_sole", "r_sole"), (0.14, 0.06), {}),
}
CASES = [(robot, soles, 4) for robot in ROBOTS for soles in (1, 2)] + [("Talos", 2, 8), ("Talos", 2, 12)]


def sole(points: int, size: tuple[float, float]) -> tuple[float, ...]:
    """The coordinates of so many points of a sole: its corners, or points around an ellipse."""
    turn = 2.0 * np.pi * (np.arange(points) + 0.5) / points
    around = 0.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1) * (np.sqrt(2.0) if points == 4 else 1.0)
    return tuple(float(x) for point in around for x in (point[0] * size[0], point[1] * size[1], 0.0))


def landing(robot: str, soles: int, points: int, seed: int):
    """A contact problem: the robot about to land flat, with small random differences."""
    from hybrid_contact_ros import EstimatorConfig, RigidBodyModel, RobotState
    from hybrid_contact_ros.config import Contact
    from hybrid_contact_ros.mechanics.example_data import example_urdf
    from hybrid_contact_ros.mechanics.slip_axes import along_slip

    urdf, links, size, posture = ROBOTS[robot]
    contacts = {link: Contact(link=link, points=sole(points, size), restitution=0.3) for link in links[:soles]}
    model = RigidBodyModel.from_urdf(example_urdf(urdf), EstimatorConfig(floating_base=True, contacts=contacts))
    rng = np.random.default_rng(seed)
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    q[2], q[6] = 1.0, 1.0
    names = list(model.joint_names)
    for joint, angle in posture.items():
        q[7 + names.index(joint)] = angle
    q[7:] += 0.02 * rng.normal(size=model.nq - 7)
    q[3:5] += 0.01 * rng.normal(size=2)
    q[3:7] /= np.linalg.norm(q[3:7])
    v[:3] = 0.2 * rng.normal(), 0.1 * rng.normal(), -0.5 - 0.3 * rng.random()
    v[3:6], v[6:] = 0.2 * rng.normal(size=3), 0.1 * rng.normal(size=model.nv - 6)
    return along_slip(model.problem(RobotState(0, q, v)))[0]


def measure(robot: str, soles: int, points: int, seed: int) -> dict[str, object]:
    """One landing: samples within 1 ms, µs a sample, ms of 64, increments a sample, worst residual, and two sets."""
    from hybrid_contact_ros import post_impact_set, simultaneous_impact
    from hybrid_contact_ros.impacts.velocity_set import impulse_scale

    problem = landing(robot, soles, points, seed)
    # As ``impulse_unit`` of ``estimation/impact.py``, whose arguments differ between revisions
    alone = impulse_scale(problem)
    step = min(max(alone, float(simultaneous_impact(problem).impulse[:, 0].max())), 100.0 * alone)

    def draw(samples: int, deadline_ns: int | None = None, seed: int = 0):
        return post_impact_set(
            problem, step, samples, 100, seed=seed, law="poisson", deadline_ns=deadline_ns, restitution=0.3
        )

    def best(samples: int) -> float:
        times = []
        for _ in range(3):
            begin = time.thread_time_ns()
            draw(samples)
            times.append(1e-3 * (time.thread_time_ns() - begin))
        return min(times)

    draw(1)
    one, whole = best(1), best(64)
    sets = [draw(COMPARED, seed=i) for i in range(2)]
    root = np.linalg.cholesky(problem.mass)
    jumps = [((found.velocities - problem.velocity) @ root).tolist() for found in sets]
    made = [len(draw(256, 1_000_000).velocities) for _ in range(7)]
    return {
        "within": float(np.median(made)),
        "sample": (whole - one) / 63.0,
        "whole": 1e-3 * whole,
        "steps": float(sets[0].steps.mean()),
        "residual": max(found.residual for found in sets),
        "jumps": jumps,
    }


def serve() -> None:
    """The worker: a JSON line with what :func:`measure` found for each line (a case) of standard input."""
    for line in sys.stdin:
        print(json.dumps(measure(*json.loads(line))), flush=True)


class Worker:
    """A process of one checkout, which need not have this file; it runs ``serve`` of ``script``."""

    def __init__(self, root: Path, script: str = __file__) -> None:
        code = f"import runpy, sys; sys.path.insert(0, {str(root)!r}); runpy.run_path({script!r})['serve']()"
        command = [root / ".venv" / "bin" / "python", "-c", code]
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def measure(self, *case: object) -> dict:
        """What :func:`measure` finds there."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker ended with exit code {self._process.wait()}; see its message above")
        return json.loads(line)

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def quantiles(a: list, b: list) -> np.ndarray:
    """50, 90 and 99 % quantile of the distance of a jump of ``a`` from the nearest one of ``b``, over the mean jump."""
    first, second = np.array(a), np.array(b)
    apart = np.linalg.norm(first[:, None] - second[None], axis=2).min(axis=1)
    return np.quantile(apart, (0.5, 0.9, 0.99)) / np.linalg.norm(first, axis=1).mean()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="root of another checkout")
    against = parser.parse_args().against
    other = None if against is None else Worker(against.resolve())
    print("within 1 ms: samples; µs a sample; ms of 64; increments a sample; worst residual" + (
        "; in brackets the other checkout; 50, 90, 99 % distances of its sets from ours, and of two seeds of its own"
        if other else ""
    ))  # fmt: skip
    for case in CASES:
        ours, theirs = [], []
        for seed in range(LANDINGS):
            ours.append(measure(*case, seed))
            if other is not None:
                theirs.append(other.measure(*case, seed))
        line = f"{case[0]:<6}{case[1]} × {case[2]:<3}"
        for name, digits in (("within", 1), ("sample", 1), ("whole", 2), ("steps", 1)):
            line += f"{np.median([found[name] for found in ours]):>8.{digits}f}"
            if theirs:
                line += f" ({np.median([found[name] for found in theirs]):.{digits}f})"
        line += f"  {max(found['residual'] for found in ours):.0e}"
        if theirs:
            pairs = list(zip(ours, theirs, strict=True))
            across = np.mean([quantiles(b["jumps"][0], a["jumps"][1]) for a, b in pairs], axis=0)
            seeds = np.mean([quantiles(b["jumps"][0], b["jumps"][1]) for _, b in pairs], axis=0)
            line += "  " + " ".join(f"{x:.4f}" for x in across) + " / " + " ".join(f"{x:.4f}" for x in seeds)
        print(line, flush=True)
    if other is not None:
        other.close()


if __name__ == "__main__":
    main()
