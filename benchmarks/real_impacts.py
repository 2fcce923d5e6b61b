"""``./run bench real_impacts [cube ellipse cassie] [--draw]``: what sets hold of impacts of real bodies, and how large
they are.

Cube and ellipse: e and μ (of the cube its centre of mass, inertia and corners, too) are identified on a third of the
impacts, and the sets of their intervals are scored on the rest. The wider the interval, the larger the set and the
more it holds: each row is one width, from the quantile given to its counterpart. Cassie: what of its landings impulses
at its feet can make, with its springs and rods. Distances, radius and half-width are as of ``benchmarks/landings.py``,
over the nominal jump. ``--draw`` writes docs/images/real_impacts.png. Needs the shared data, and says so without them.
"""

from __future__ import annotations

import argparse

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.landing_sets import bodies, cassie
from benchmarks.landing_sets.bodies import HEAD, Body, row
from benchmarks.landing_sets.sets import Score
from benchmarks.landing_sets.sources import ROOT, SHARED

PICTURE = ROOT / "docs" / "images" / "real_impacts.png"
SHARES = (0.45, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)  # quantiles at which the intervals begin
SINGLE = ("cube", "ellipse")
_COLOURS = {"cube": "#1f77b4", "ellipse": "#d62728"}
Curve = list[tuple[float, list[Score]]]


def curve(body: Body) -> Curve:
    """Scores of the rest by the quantile at which the intervals begin, with a line of the table for each."""
    found = bodies.found_material(body)
    told = f"{body.name}: {len(found.restitution)} impacts tell e and μ, {len(body.rest)} are scored"
    unexplained = np.median([impact.unexplained for impact in body.rest])
    print(f"\n{told}; impulses leave {100.0 * unexplained:.1f} % of their jumps (median)\n\n{HEAD}")
    e, mu = bodies.intervals(found, 0.5)
    print(row(f"inelastic, μ {mu[0]:.2f}", bodies.scored(body, (0.0, 0.0), mu, "inelastic", e[0])), flush=True)
    scores: Curve = []
    for share in SHARES:
        e, mu = bodies.intervals(found, share)
        scores.append((share, bodies.scored(body, e, mu)))
        name = f"{100.0 * share:.0f} %: e {e[0]:.2f}–{e[1]:.2f}, μ {mu[0]:.2f}–{mu[1]:.2f}"
        print(row(name, scores[-1][1]), flush=True)
    return scores


def draw(curves: dict[str, Curve]) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.4), sharey=True, constrained_layout=True)
    for plot, size, name in zip(axes, ("radius", "half_width"), ("radius", "half-width"), strict=True):
        for body, scores in curves.items():
            x = [100.0 * np.median([getattr(s, size) for s in part]) for _, part in scores]
            for part, style in ((0.05, "o-"), (0.10, "s--")):
                y = [100.0 * np.mean([s.distance <= part for s in one]) for _, one in scores]
                plot.plot(x, y, style, color=_COLOURS[body], label=f"{body}, within {100 * part:.0f} %", markersize=4)
        plot.set_xlabel(f"{name} of the set [% of the jump]")
        plot.set_xlim(left=0.0)
        plot.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("observed v⁺ within that part\nof the jump of the set [%]")
    axes[1].legend(fontsize=8, frameon=False, loc="lower right")
    figure.savefig(PICTURE, dpi=90)
    print(f"\nwrote {PICTURE.relative_to(ROOT)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=[*SINGLE, "cassie"], help=", ".join((*SINGLE, "cassie")))
    parser.add_argument("--draw", action="store_true", help="the picture of coverage against size, too")
    chosen = parser.parse_args()
    curves = {}
    for name in chosen.names:
        if name == "cassie":
            cassie.main()
            continue
        body = bodies.cube() if name == "cube" else bodies.ellipse(SHARED)
        if body is None:
            print(f"{name}: skipped, no recordings in {SHARED / 'data'}")
        else:
            curves[name] = curve(body)
    if chosen.draw and curves:
        draw(curves)


if __name__ == "__main__":
    main()
