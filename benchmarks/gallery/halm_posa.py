"""Systems of H: sets of simultaneous impacts, the Zeno block, Painlevé's rod, and compliant bodies."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.gallery.page import BLUE, GREY, RED, Entry, Row, plain
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.systems.ball import ball, zeno_time
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact
from hybrid_contact_ros.systems.zeno_block import apex, contraction, zeno_block, zeno_state


def sets() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 3), layout="constrained")
    rows = []
    examples = {
        "rocking block": (rocking_block_impact(), "0.0930 m/s at either corner, or rest"),
        "compass gait": (compass_gait_impact(), "3 outcomes at once"),
        "RAMone": (ramone_impact(), "a triangle: stick, slide, lift"),
    }
    for axes, (name, (example, published)) in zip(figure.subplots(1, 3), examples.items(), strict=True):
        problem = example.problem
        found = post_impact_set(problem, example.step, 4096, 20 * example.max_steps)
        normal = found.velocities[found.terminated] @ problem.normal_jacobian.T
        along = found.velocities[found.terminated] @ problem.tangent_jacobian[1, 0]
        across = (normal[:, 0], normal[:, 1]) if name == "rocking block" else (along, normal[:, 1])
        axes.plot(*np.round(across, 9), ".", color=BLUE, markersize=2)
        axes.set_title(name)
        axes.set_xlabel("normal, contact 0 [m/s]" if name == "rocking block" else "tangential, contact 1 [m/s]")
        axes.set_ylabel("normal, contact 1 [m/s]")
        plain(axes)
        outcomes = simultaneous_impact(problem, 2, all_solutions=True)
        ours = f"{len(outcomes)} at once; largest normal velocities {normal[:, 0].max():.4f}, {normal[:, 1].max():.4f}"
        rows.append(Row(name, published, ours))
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
        Row("v⁺ (closed form: −e v⁻)", "0.6 … 1.4 m/s", f"{low:.4f} … {high:.4f} m/s"),
        Row("Zeno time from 1 m, e = 0.5 (closed form)", "", f"{zeno_time(1.0, 0.0, 0.5):.4f} s"),
    ]


ENTRIES = [
    Entry(
        "sets",
        "Sets of simultaneous impacts (H Figs. 9, 10, 13)",
        "All velocities that the order and overlap of inelastic impacts leave possible; more in "
        "[impacts.md](impacts.md), compliant bodies beside them in [continuous_time.md](continuous_time.md).",
        sets,
    ),
    Entry(
        "zeno_block",
        "The rocking block in continuous time (H Figs. 7 and 8)",
        "One trajectory through infinitely many impacts, in time and in s, which impacts lengthen.",
        block,
    ),
    Entry("ball", "A ball (textbook)", "The smallest check of restitution with an interval.", bouncing_ball),
]
