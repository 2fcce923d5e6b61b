"""``./run bench zeno_block``: the rocking block through its Zeno point (H §4.3, Fig. 8), to docs/images/zeno_block.png.

Left: angle and rate over time. Middle: the same over s, where impacts have a length. Right: the rates of time and of
the normal impulses along s, which add up to 1.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.continuous_time.continuous_path import ContinuousTimePath, Phase
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.systems.zeno_block import apex, contraction, zeno_block, zeno_state

PATH = Path(__file__).resolve().parents[1] / "docs" / "images" / "zeno_block.png"
END = 3.0  # s
POINTS = 60  # of a piece
Array = NDArray[np.float64]


def main() -> None:
    """Print the numbers of §4.3 and draw Figure 8."""
    start = time.perf_counter()
    path = continuous_time_path(zeno_block(), *zeno_state(), END)
    seconds = time.perf_counter() - start
    (point,) = path.accumulations
    print(f"{len(path.pieces)} pieces, {path.s.size} knots, {1e3 * seconds:.0f} ms; largest drift {path.drift:.1e}")
    print(f"theta* {apex():.5f} rad, factor {contraction():.2f} an impact (the last ones: {point.ratio:.6f})")
    print(f"accumulates at t* = {point.t:.8f} s (error below {point.error:.0e}), s* = {point.s:.7f}")
    print(f"after {point.impacts} impacts; bounds (70), (69): {_bounds(path)}")
    last = path.pieces[-1]
    rest = path.t[last.stop] - path.t[last.start]
    forces = (path.impulses[last.stop] - path.impulses[last.start])[:, 0] / rest
    print(f"then rests on {forces[0]:.4f} and {forces[1]:.4f} N")
    draw(path)
    print(f"wrote {PATH.relative_to(PATH.parents[2])}")


def _bounds(path: ContinuousTimePath) -> str:
    first = next(piece for piece in path.pieces if piece.phase is Phase.IMPACT)
    left = 1.0 - contraction()
    return f"t* <= {path.t[first.stop] / left:.3f}, s* <= {path.s[first.stop] / left:.3f}"


def draw(path: ContinuousTimePath) -> None:
    """The three plots of Figure 8."""
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), constrained_layout=True)
    s = np.concatenate([np.linspace(path.s[p.start], path.s[p.stop], POINTS) for p in path.pieces])
    t, q, v, _ = path.at(s)
    (point,) = path.accumulations
    for plot, x, mark, label in ((axes[0], t, point.t, "t [s]"), (axes[1], s, point.s, "s [s + N s]")):
        plot.plot(x, q[:, 2], color="#1f77b4", label="θ [rad]")
        plot.plot(x, v[:, 2], color="#d62728", label="θ̇ [rad/s]")
        plot.axvline(mark, color="#888888", linestyle=":", label=f"accumulation, {mark:.3f}")
        plot.set_xlabel(label)
        plot.legend(fontsize=8)
    for piece in path.pieces:
        if piece.phase is Phase.ACCUMULATION:
            continue
        along = np.linspace(path.s[piece.start], path.s[piece.stop], POINTS)
        here, _, _, impulses = path.at(along)
        middle = 0.5 * (along[1:] + along[:-1])
        for values, colour, name, width in (
            (here, "#2b2b2b", "dt/ds", 1.5),
            (impulses[:, 0, 0], "#1f77b4", "dΛ_A/ds", 4.0),
            (impulses[:, 1, 0], "#d62728", "dΛ_B/ds", 1.5),
        ):
            shown = name if piece is path.pieces[0] else None
            axes[2].plot(middle, np.diff(values) / np.diff(along), color=colour, label=shown, linewidth=width)
    axes[2].set_xlabel("s [s + N s]")
    axes[2].set_ylim(-0.03, 1.03)
    axes[2].legend(fontsize=8, loc="center left")
    titles = ("over time", "over s: impacts have a length", "rates along s")
    for plot, title in zip(axes, titles, strict=True):
        plot.set_title(title)
        plot.spines[["top", "right"]].set_visible(False)
    figure.savefig(PATH, dpi=70)
    plt.close(figure)


if __name__ == "__main__":
    main()
