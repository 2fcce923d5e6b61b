"""``./run bench figures``: the sets of Halm's Figures 9–11, 13 and 14, in contact velocities.

Blue: 4096 outcomes of Algorithm 2, every increment searched for other solutions where that is affordable. Red squares:
all outcomes of resolving the contacts at once (Halm (31)). Black crosses: one after the other, in every order. The
picture is written to docs/images/impact_sets.png.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.sequential import sequential_impact
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

PATH = Path(__file__).resolve().parents[1] / "docs" / "images" / "impact_sets.png"
SAMPLES = 4096
# Contacts A and B of each figure, and the one whose tangent is shown.
SYSTEMS = {
    "rocking block (Fig. 9)": (rocking_block_impact, 0, 1, 0),
    "compass gait (Fig. 10)": (compass_gait_impact, 0, 1, 1),
    "box and wall (Fig. 11)": (box_and_wall_impact, 0, 1, 0),
    "RAMone (Fig. 13)": (ramone_impact, 0, 1, 1),
    "disk stacking (Fig. 14)": (disk_stacking_impact, 0, 1, 0),
}


def main() -> None:
    """Draw a row of two plots for each system: normal against normal, tangential against normal."""
    figure, axes = plt.subplots(2, len(SYSTEMS), figsize=(17, 6.6), constrained_layout=True)
    for column, (title, (make, a, b, shown)) in enumerate(SYSTEMS.items()):
        example = make()
        problem = example.problem
        found = post_impact_set(problem, example.step, SAMPLES, 20 * example.max_steps, seed=1)
        points = {"outcomes": found.velocities[found.terminated]}
        points["at once"] = np.array([x.velocity for x in simultaneous_impact(problem, 2, all_solutions=True)])
        orders = [sequential_impact(problem, order, 2) for order in permutations(range(min(problem.contacts, 3)))]
        ends = [x.velocity for x in orders if x.status == Status.SOLVED]
        if ends and problem.contacts <= 3:
            points["one by one"] = np.array(ends)
        normal, tangent = problem.normal_jacobian, problem.tangent_jacobian[:, 0]
        planes = ((normal[a], normal[b], f"contact {a}", f"normal of contact {b} [m/s]"),
                  (tangent[shown], normal[shown], f"tangential, contact {shown} [m/s]", "normal [m/s]"))  # fmt: skip
        for plot, (x, y, along, up) in zip(axes[:, column], planes, strict=True):
            plot.axhline(0.0, color="#bbbbbb", linewidth=0.8)
            plot.axvline(0.0, color="#bbbbbb", linewidth=0.8)
            for name, (mark, colour, size) in STYLE.items():
                if name in points:
                    across, along_up = (np.round(points[name] @ row, 9) for row in (x, y))
                    plot.plot(across, along_up, mark, color=colour, markersize=size, mfc="none", label=name)
            plot.set_xlabel(f"normal of {along} [m/s]" if plot is axes[0, column] else along)
            plot.set_ylabel(up)
            plot.spines[["top", "right"]].set_visible(False)
        axes[0, column].set_title(f"{title}\n{points['outcomes'].shape[0]} outcomes")
    axes[0, 0].legend(fontsize=8)
    figure.savefig(PATH, dpi=70)
    plt.close(figure)
    print(f"wrote {PATH.relative_to(PATH.parents[2])}")


STYLE = {"outcomes": (".", "#1f77b4", 2), "at once": ("s", "#d62728", 9), "one by one": ("x", "#2b2b2b", 9)}


if __name__ == "__main__":
    main()
