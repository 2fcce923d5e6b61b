"""``./run bench compliant``: stiff compliant contact against the rigid set (Halm's Fig. 12), to
docs/images/compliant.png.

Each example of the paper collides with springs and dampers (88–90) whose stiffness ratios are drawn at random, up to
10^5 as the paper's. The distance of the outcome to the nearest of the rigid ones is given over the jump, both in the
norm of the mass. The rocking block is also swept over ratios and over its angle at impact, as in Figure 12.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.compliant import compliant_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.example import ImpactExample
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import DROP_HEIGHT, HEIGHT, WIDTH, rocking_block, rocking_block_impact

Array = NDArray[np.float64]
PATH = Path(__file__).resolve().parents[1] / "docs" / "images" / "compliant.png"
SYSTEMS = {
    "rocking block": rocking_block_impact,
    "compass gait": compass_gait_impact,
    "box and wall": box_and_wall_impact,
    "RAMone": ramone_impact,
    "disk stacking": disk_stacking_impact,
}
# Least stiffness (N/m), damping ratio, whether gravity acts: the paper's; without gravity; stiff and without rebound.
CASES = ((1e6, 5.0, True), (1e6, 5.0, False), (1e10, 50.0, True))
DRAWS, SWEEP, GRAVITY = 10, 51, 9.81
WITHIN = (0.005, 0.01, 0.02, 0.05)


def main() -> None:
    """Print how many outcomes lie within some per cent of the jump, and draw Figure 12."""
    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    curves: dict[str, list[Array]] = {}
    print(f"{DRAWS} random stiffness ratios a line; part of the outcomes within x of the jump of a rigid outcome")
    header = "  ".join(f"{100 * x:3g} %" for x in WITHIN)
    print(f"{'system':14s} {'min k':>6s} {'zeta':>4s} {'gravity':>7s}  {header}   median   worst  ended")
    for name, make in SYSTEMS.items():
        example = make()
        problem, rigid = example.problem, rigid_outcomes(example)
        ratios = 10.0 ** rng.uniform(0.0, 5.0, (DRAWS, problem.contacts))
        for least, damping, loaded in CASES:
            hit = problem if loaded else gapped(problem, problem.gap, np.zeros(problem.nv))
            away, ended = [], 0
            for ratio in ratios:
                found = compliant_impact(hit, least * ratio / ratio.min(), damping, rtol=1e-7)
                ended += found.status is Status.SOLVED
                away.append(distance(problem, found.velocity, rigid))
            curves.setdefault(name, []).append(np.sort(away))
            parts = "  ".join(f"{np.mean(np.array(away) <= x):5.2f}" for x in WITHIN)
            case = f"{name:14s} {least:6.0e} {damping:4.0f} {'yes' if loaded else 'no':>7s}"
            print(f"{case}  {parts}  {np.median(away):7.4f} {max(away):7.4f}  {ended}/{DRAWS}", flush=True)
    draw(curves)
    print(f"wrote {PATH.relative_to(PATH.parents[2])} ({time.perf_counter() - begin:.0f} s)")


def rigid_outcomes(example: ImpactExample) -> Array:
    """Algorithm 2 with uniform draws, and with draws near 0 and h, which are nearly sequential impacts."""
    found = [
        post_impact_set(example.problem, example.step, n, 20 * example.max_steps, seed=1, density=density)
        for n, density in ((4096, None), (2048, lambda rng, shape: rng.beta(0.1, 0.1, shape)))
    ]
    return np.vstack([x.velocities[x.terminated] for x in found])


def distance(problem: ContactProblem, outcome: Array, rigid: Array) -> float:
    """To the nearest rigid outcome, over the jump."""
    factor = np.linalg.cholesky(problem.mass)
    jump = np.linalg.norm((outcome - problem.velocity) @ factor)
    return float(np.linalg.norm((rigid - outcome) @ factor, axis=1).min() / jump)


def tilted(angle: float) -> ContactProblem:
    """The rocking block at ``angle`` (rad) with its lower corner on the ground, and the energy that it has flat."""
    height = HEIGHT / 2 * np.cos(angle) + WIDTH / 2 * abs(np.sin(angle))
    speed = np.sqrt(2 * GRAVITY * (DROP_HEIGHT + HEIGHT / 2 - height))
    problem = rocking_block().problem((0.0, height, angle), (0.0, -speed, 0.0))
    gap = np.where(problem.gap < 1e-12, 0.0, problem.gap)  # rounding of the lower corner's
    return gapped(problem, gap, problem.bias_force)


def first_share(problem: ContactProblem, mass: float | None) -> float:
    """The part of the first corner's impulse that comes before the other corner touches (Halm §5.4.1)."""
    found = compliant_impact(problem, 1e6, mass=mass, rtol=1e-10)
    first = int(np.argmin(problem.gap))
    other = found.gaps[:, 1 - first]
    k = int(np.argmax(other <= 0.0))
    part = other[k - 1] / (other[k - 1] - other[k])
    before, after = found.impulses[k - 1, first, 0], found.impulses[k, first, 0]
    return float((before + part * (after - before)) / found.impulse[first, 0])


def gapped(problem: ContactProblem, gap: Array, bias_force: Array) -> ContactProblem:
    """The same impact with other gaps and another load."""
    return ContactProblem(
        problem.mass,
        problem.velocity,
        problem.normal_jacobian,
        problem.tangent_jacobian,
        problem.friction,
        gap=gap,
        bias_force=bias_force,
    )


def draw(curves: dict[str, list[Array]]) -> None:
    """Figure 12's two plots, and the distances of all systems."""
    example = rocking_block_impact()
    problem, rigid = example.problem, rigid_outcomes(example)
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.4), constrained_layout=True)
    normal = problem.normal_jacobian
    exponents = np.linspace(-5, 5, SWEEP)
    ratios = [(1e6 * max(10.0**e, 1.0), 1e6 * max(10.0**-e, 1.0)) for e in exponents]
    by_ratio = np.array([compliant_impact(problem, pair, mass=1.0).velocity @ normal.T for pair in ratios])
    angles = np.linspace(-1e-2, 1e-2, SWEEP)
    by_angle = []
    for angle in np.radians(angles):
        leaning = tilted(float(angle))
        by_angle.append(leaning.normal_jacobian @ compliant_impact(leaning, 1e6, mass=1.0).velocity)
    set_ = rigid @ normal.T
    sweeps = (
        (axes[0], by_ratio, exponents, "log10 k_A/k_B", "stiffness ratio"),
        (axes[1], np.array(by_angle), angles, "angle before the impact [deg]", "angle"),
    )
    for plot, points, values, label, title in sweeps:
        plot.plot(set_[:, 0], set_[:, 1], ".", color="#c8c8c8", markersize=5, label="rigid outcomes")
        shown = plot.scatter(points[:, 0], points[:, 1], c=values, cmap="viridis", s=16, label="compliant", zorder=3)
        figure.colorbar(shown, ax=plot, label=label)
        plot.set_xlabel("normal velocity of A [m/s]")
        plot.set_ylabel("normal velocity of B [m/s]")
        plot.set_title(f"rocking block, 1e6 N/m, ζ = 5: {title}")
        plot.legend(fontsize=8)
        print(f"rocking block over its {title}: fastest lift-off {points.max():.4f} m/s, rigid {set_.max():.4f} m/s")
    colours = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b")
    for colour, (name, found) in zip(colours, curves.items(), strict=True):
        for values, style in ((found[0], ":"), (found[-1], "-")):
            part = (np.arange(values.size) + 1) / values.size
            axes[2].plot(np.maximum(values, 1e-5), part, style, color=colour, label=name if style == "-" else None)
    axes[2].set_xscale("log")
    axes[2].set_xlabel("distance to the set / jump")
    axes[2].set_ylabel("part of the outcomes")
    axes[2].set_title("dotted: 1e6 N/m, ζ = 5; solid: 1e10, 50")
    axes[2].legend(fontsize=8, loc="lower right")
    for plot in axes:
        plot.spines[["top", "right"]].set_visible(False)
    figure.savefig(PATH, dpi=70)
    plt.close(figure)


if __name__ == "__main__":
    main()
