"""``./run bench continuous_time``: boxes of random shape thrown, tilted or pushed along rough ground (H §4).

What 2 s of each consist of, and what must not happen: energy that rises, corners that sink, paths that do not end.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

BOXES, END, GRAVITY = 100, 2.0, 9.81
FRICTIONS = (0.0, 0.3, 1.0, 2.0, 5.0)


def main() -> None:
    """Print counts and the worst of each kind."""
    phases: Counter[str] = Counter()
    reached = zeno = several = 0
    rise = sink = drift = 0.0
    begin = time.perf_counter()
    for seed in range(BOXES):
        box, q, v = thrown(seed)
        path = continuous_time_path(box, q, v, END)
        reached += path.status is Status.SOLVED
        zeno += len(path.accumulations)
        several += bool(path.branches)
        phases.update(piece.phase.value for piece in path.pieces)
        inertia = (box.width**2 + box.height**2) / 12
        energy = 0.5 * path.v**2 @ [1.0, 1.0, inertia] + GRAVITY * path.q[:, 1]
        rise = max(rise, float(np.diff(energy).max()))
        _, places, speeds, _ = path.at(np.linspace(path.s[0], path.s[-1], 100))
        deepest = min(box.problem(a, b).gap.min() for a, b in zip(places, speeds, strict=True))
        sink, drift = max(sink, -float(deepest)), max(drift, path.drift)
    seconds = time.perf_counter() - begin
    print(f"{reached} of {BOXES} boxes reached {END:g} s; {1e3 * seconds / phases.total():.0f} ms a piece")
    print(", ".join(f"{count} {name}" for name, count in phases.most_common()))
    print(f"{zeno} accumulation points; {several} boxes had a choice between motions")
    print(f"largest rise of energy {rise:.1e} J, deepest corner {sink:.1e} m, projected drift {drift:.1e}")


def thrown(seed: int) -> tuple[PlanarBox, np.ndarray, np.ndarray]:
    """A box of 1 kg with a corner on the ground, and its state: most of them slide on that corner or flat."""
    rng = np.random.default_rng(seed)
    width, height = rng.uniform(0.2, 1.0), rng.uniform(0.2, 3.0)
    corners = [
        Corner(name, 0.5 * x * width, 0.5 * y * height, (0.0, 1.0))
        for name, x, y in (("A", -1, -1), ("B", 1, -1), ("C", 1, 1), ("D", -1, 1))
    ]
    box = PlanarBox(width, height, 1.0, float(rng.choice(FRICTIONS)), corners)
    q, v = np.array([0.0, 0.0, rng.choice([0.0, rng.uniform(-3, 3)])]), rng.normal(size=3) * [5.0, 0.0, 3.0]
    q[1] = -box.problem(q, v).gap.min()
    if q[2] == 0.0:
        v[1:] = 0.0
    elif rng.random() < 0.7:
        problem = box.problem(q, v)
        v[1] -= (problem.normal_jacobian @ v)[np.argmin(problem.gap)]
    return box, q, v


if __name__ == "__main__":
    main()
