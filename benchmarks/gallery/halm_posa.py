"""Halm's systems: sets of simultaneous impacts, the Zeno block, Painlevé's rod, and compliant bodies."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.compliant import first_share, tilted
from benchmarks.gallery.page import BLUE, GREY, RED, Entry, Row, plain
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.impacts.compliant import compliant_impact
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.systems.ball import ball, zeno_time
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.example import ImpactExample
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact
from hybrid_contact_ros.systems.zeno_block import apex, contraction, zeno_block, zeno_state

Array = NDArray[np.float64]
# What Halm prints of the outcomes of all contacts at once, and increments a sample (Table 3)
EXAMPLES = {
    "rocking block": (rocking_block_impact, "", "2.67"),
    "compass gait": (compass_gait_impact, "three", "2.27"),
    "RAMone": (ramone_impact, "sticks, slides or lifts", "3.20"),
}


def _outcomes(example: ImpactExample) -> tuple[Array, Array, str, str]:
    """Normal (k, m) and tangential (k, m) velocities of a set, how many outcomes at once, and increments a sample."""
    problem = example.problem
    found = post_impact_set(problem, example.step, 4096, 20 * example.max_steps)
    after = np.round(found.velocities[found.terminated], 9)
    at_once = simultaneous_impact(problem, 2, all_solutions=True)
    draws = example.step * np.random.default_rng(0).random((4096, example.max_steps, problem.contacts))
    counted = post_impact_set(problem, example.step, 4096, example.max_steps, maximum_impulses=draws)
    normal, along = after @ problem.normal_jacobian.T, after @ problem.tangent_jacobian[:, 0].T
    return normal, along, str(len(at_once)), f"{counted.steps.mean():.2f}"


def sets() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 3), layout="constrained")
    rows = []
    for axes, (name, (make, at_once, table)) in zip(figure.subplots(1, 3), EXAMPLES.items(), strict=True):
        normal, along, outcomes, steps = _outcomes(make())
        across = (normal[:, 0], normal[:, 1]) if name == "rocking block" else (along[:, 1], normal[:, 1])
        axes.plot(*across, ".", color=BLUE, markersize=2)
        axes.set_title(name)
        axes.set_xlabel("normal, contact 0 [m/s]" if name == "rocking block" else "tangential, contact 1 [m/s]")
        axes.set_ylabel("normal, contact 1 [m/s]")
        plain(axes)
        rows.append(Row(f"{name}: outcomes at once", at_once, outcomes))
        rows.append(Row(f"{name}: increments a sample", table, steps))
        rows.append(Row(f"{name}: largest normal velocities", "", "{:.4f}, {:.4f} m/s".format(*normal.max(axis=0))))
    return figure, rows


def wall() -> tuple[Figure, list[Row]]:
    normal, along, outcomes, steps = _outcomes(box_and_wall_impact())
    figure = Figure(figsize=(8, 3), layout="constrained")
    for axes, i, name in zip(figure.subplots(1, 2), (0, 1), "AB", strict=True):
        axes.plot(along[:, i], normal[:, i], ".", color=BLUE, markersize=2)
        axes.set_xlabel(f"tangential, {name} [m/s]")
        axes.set_ylabel(f"normal, {name} [m/s]")
        plain(axes)
    faster = (np.abs(along[:, 0]) > 1e-6).mean()
    return figure, [
        Row("outcomes at once", "comes to rest", outcomes),
        Row("increments a sample", "1.97", steps),
        Row(
            "samples in which A slides on, and B leaves the wall",
            "",
            f"{faster:.3f}, {(normal[:, 1] > 1e-6).mean():.3f}",
        ),
    ]


def disks() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(8, 3), layout="constrained")
    rows = []
    for axes, published in zip(figure.subplots(1, 2), (False, True), strict=True):
        normal, _, outcomes, steps = _outcomes(disk_stacking_impact(published))
        name = "as published" if published else "1 kg"
        axes.plot(normal[:, 2], normal[:, 3], ".", color=BLUE, markersize=2)
        axes.set_title("disks of 5 kg, tangents as published" if published else "disks of 1 kg (Table 8)", fontsize=9)
        axes.set_xlabel("normal, C [m/s]")
        axes.set_ylabel("normal, D [m/s]")
        plain(axes)
        kept = ((np.abs(normal[:, 2:4]) < 1e-6).any(axis=1)).mean()
        rows.append(Row(f"{name}: outcomes at once", "only one", outcomes))
        rows.append(Row(f"{name}: increments a sample", "9.04", steps))
        rows.append(Row(f"{name}: the top disk keeps C or D", "always", f"{100 * kept:.1f} %"))
    return figure, rows


def compliant() -> tuple[Figure, list[Row]]:
    problem = rocking_block_impact().problem
    angles = np.linspace(-1e-2, 1e-2, 21)
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes, rows = figure.subplots(), []
    for mass, colour, name in ((1.0, BLUE, "m = 1 kg"), (None, RED, "each corner's own mass")):
        after = []
        for angle in angles:
            leaning = tilted(float(np.radians(angle)))
            after.append(leaning.normal_jacobian @ compliant_impact(leaning, 1e6, mass=mass).velocity)
        axes.plot(*np.array(after).T, ".", color=colour, label=name)
        part = first_share(tilted(float(np.radians(1e-2))), mass)
        ratio = compliant_impact(problem, (1e11, 1e6), mass=mass).velocity
        fastest = (problem.normal_jacobian @ ratio).max(), np.max(after)
        rows.append(Row(f"{name}: impulse before the second corner touches, 0.01°", "99.9992 %", f"{100 * part:.4f} %"))
        rows.append(Row(f"{name}: fastest lift-off over ratios, angles", "", "{:.4f}, {:.4f} m/s".format(*fastest)))
    axes.set_xlabel("normal velocity of A [m/s]")
    axes.set_ylabel("normal velocity of B [m/s]")
    axes.legend(fontsize=8, frameon=False)
    plain(axes)
    return figure, rows


def block() -> tuple[Figure, list[Row]]:
    path = continuous_time_path(zeno_block(), *zeno_state(), t_final=3.0)
    figure = Figure(figsize=(10, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, along, name in ((left, path.t, "t [s]"), (right, path.s, "s [s + N s]")):
        axes.plot(along, path.q[:, 2], color=BLUE, label="θ [rad]")
        axes.plot(along, path.v[:, 2], color=RED, linewidth=1, label="θ̇ [rad/s]")
        axes.set_xlabel(name)
        plain(axes)
    left.legend(fontsize=8, frameon=False)
    end = path.accumulations[0]
    return figure, [
        Row("t(s*)", "2.67", f"{end.t:.6f}"),
        Row("s*", "28.4", f"{end.s:.5f}"),
        Row("factor a half cycle", "0.7", f"{contraction():.4f}"),
        Row("θ*", "0.22", f"{apex():.4f}"),
    ]


def bouncing_ball() -> tuple[Figure, list[Row]]:
    e, samples = (0.3, 0.7), 2000
    problem = ball(0.0, -2.0)
    found = post_impact_set(problem, 0.5, samples, 200, law="poisson", restitution=e)
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.hist(found.velocities[:, 0], 40, color=BLUE)
    axes.set_xlabel("v⁺ [m/s] of a ball at −2 m/s, e ∈ [0.3, 0.7]")
    axes.axvline(0.0, color=GREY)
    plain(axes)
    low, high = found.velocities.min(), found.velocities.max()
    return figure, [
        Row("v⁺ (closed form, −e v⁻: 0.6 … 1.4 m/s)", "", f"{low:.4f} … {high:.4f} m/s"),
        Row("Zeno time from 1 m, e = 0.5 (closed form)", "", f"{zeno_time(1.0, 0.0, 0.5):.4f} s"),
    ]


ENTRIES = [
    Entry(
        "sets",
        "Sets of simultaneous impacts (Halm, Figs. 9, 10, 13)",
        "All velocities that the order and overlap of inelastic impacts leave possible; more in "
        "[impacts.md](impacts.md). Increments a sample are published in Table 3. Halm's code under GNU Octave takes as "
        "many as ours: 2.48 (block) and 3.01 (RAMone).",
        sets,
    ),
    Entry(
        "wall",
        "A box at a wall (Halm, Figs. 5 and 11)",
        "It slides on A and hits the wall with B. Resolved at once it stops; otherwise A slides on and B leaves, too. "
        "The published code takes 1.53 increments a sample, Table 3 prints 1.97.",
        wall,
    ),
    Entry(
        "disks",
        "Stacked disks (Halm, Fig. 14)",
        "A disk falls on two others. With the 1 kg of Table 8 a sample takes a quarter of the increments of Table 3, "
        "and the top disk leaves both others in some thousandths of the samples. The published code has disks of 5 kg, "
        "and takes 8.78 increments.",
        disks,
    ),
    Entry(
        "compliant",
        "The rocking block with springs (Halm, Fig. 12)",
        "Stiff and damped corners instead of rigid ones, over small angles of the ground. Halm's number is that of "
        "m = 1 kg in the damping (88). Over ratios of stiffness, too, in [continuous_time.md](continuous_time.md).",
        compliant,
    ),
    Entry(
        "zeno_block",
        "The rocking block in continuous time (Halm, Figs. 7 and 8)",
        "One trajectory through infinitely many impacts, in time and in s, which impacts lengthen.",
        block,
    ),
    Entry("ball", "A ball (textbook)", "The smallest check of restitution with an interval.", bouncing_ball),
]
