"""The picture of the demo: predicted and true contacts, one post-impact set, and the latency."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no display is needed

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

from hybrid_contact_ros.demo.landings import Landing, Shadow
from hybrid_contact_ros.demo.record import DemoRecord

_PREDICTED, _TRUE, _NOMINAL = "#1f77b4", "#2b2b2b", "#d62728"


def draw(record: DemoRecord, path: Path) -> None:
    """Write the picture of a record to ``path``, whose suffix chooses the format."""
    figure = plt.figure(figsize=(16, 9), constrained_layout=True)
    grid = figure.add_gridspec(3, 4, height_ratios=(1.1, 1.1, 1.4))
    begin = int(record.stamps.rows[0, 0])
    landings = record.landings()
    whole, zoom = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, :])
    for axes in (whole, zoom):
        _timeline(axes, record, begin)
    whole.set_title("contacts: predicted (blue) over true (black)")
    if landings:
        at = 1e-9 * (landings[0].time_ns - begin)
        zoom.set_xlim(at - 0.05, at + 0.45)
        zoom.set_title("the first landing")
    else:
        zoom.set_xlim(0.0, 1.0)
    normals, *planes, latency = (figure.add_subplot(grid[2, column]) for column in range(4))
    held = (x for x in landings if x.score is not None)
    shown = max(held, key=lambda x: len(x.feet), default=None)
    if shown is None:
        for axes in (normals, *planes):
            axes.set_title("post-impact velocity set of a landing")
            axes.text(0.5, 0.5, "no set was predicted for a landing", ha="center", transform=axes.transAxes)
    else:
        _normals(normals, shown, record, 1e-9 * (shown.time_ns - begin))
        _titles(planes[0], shown)
        for axes, shadow in zip(planes, shown.shadows, strict=False):
            _shadow(axes, shadow)
        for axes in planes[len(shown.shadows) :]:
            axes.set_axis_off()
    _latency(latency, record.latency.rows[:, 0])
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _timeline(axes: Axes, record: DemoRecord, begin: int) -> None:
    """Two bars for each foot: its predicted and its true contacts."""
    series = (
        (record.truth_stamps.rows[:, 0], record.truth_closed(), _TRUE, -0.32),
        (record.stamps.rows[:, 0], record.closed.rows, _PREDICTED, 0.04),
    )
    for stamps, closed, colour, offset in series:
        t = 1e-9 * (stamps - begin)
        for i in range(len(record.contacts)):
            axes.broken_barh(_bars(t, closed[:, i]), (i + offset, 0.28), color=colour, linewidth=0)
    axes.set_yticks(range(len(record.contacts)), record.contacts)
    axes.invert_yaxis()
    axes.set_xlabel("time [s]")
    axes.set_xlim(0.0, max(1e-3, 1e-9 * float(record.stamps.rows[-1, 0] - begin)))
    axes.spines[["top", "right"]].set_visible(False)


def _bars(t: NDArray[np.float64], closed: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """(start, length) of every stretch of contact."""
    padded = np.concatenate(([False], closed, [False]))
    starts = np.flatnonzero(padded[1:] & ~padded[:-1])
    ends = np.minimum(np.flatnonzero(~padded[1:] & padded[:-1]), t.size - 1)
    return list(zip(t[starts].tolist(), (t[ends] - t[starts]).tolist(), strict=True))


def _normals(axes: Axes, shown: Landing, record: DemoRecord, at: float) -> None:
    """The set in the normal velocities of its contacts, a row for each contact."""
    assert shown.predicted is not None
    ahead = 1e-6 * (shown.time_ns - shown.predicted.stamp_ns)
    axes.set_title(f"landing at {at:.2f} s, predicted\n{ahead:.1f} ms before the first contact", fontsize=9)
    rows = [i for i, name in enumerate(record.contacts) if name in shown.predicted.contacts]
    for row, i in enumerate(rows):
        first = row == 0
        axes.plot(
            shown.normal_minus[i], row, "o", mfc="none", color=_TRUE, markersize=9, label="before" if first else None
        )
        axes.plot(
            shown.normal_range[:, i], (row, row), color=_PREDICTED, linewidth=7, alpha=0.5,
            solid_capstyle="butt", label="the set" if first else None,
        )  # fmt: skip
        axes.plot(
            shown.normal_nominal[i],
            row,
            "s",
            mfc="none",
            color=_NOMINAL,
            markersize=11,
            label="all at once" if first else None,
        )
        axes.plot(shown.normal_plus[i], row, "*", color=_TRUE, markersize=12, label="true, after" if first else None)
    axes.axvline(0.0, color="#bbbbbb", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [record.contacts[i] for i in rows])
    axes.set_ylim(len(rows) + 0.8, -0.6)  # the legend is below the feet
    axes.set_xlabel("normal velocity of the foot [m/s]")
    axes.legend(loc="lower center", ncols=2, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _titles(axes: Axes, shown: Landing) -> None:
    assert shown.score is not None
    score = shown.score
    truth = "inside it" if score.distance == 0.0 else f"{score.distance:.1%} from it"
    axes.set_title(
        f"radius {score.radius:.0%}, half-width {score.half_width:.1%} of the jump\n"
        f"truth {truth}, {score.nominal_distance:.0%} from the single outcome",
        fontsize=9,
    )


def _shadow(axes: Axes, shadow: Shadow) -> None:
    """The set on two axes of the robot, to their scale, with what was before and what really came."""
    axes.fill(*shadow.outline.T, color=_PREDICTED, alpha=0.25, label="the set")
    axes.plot(*shadow.outcomes.T, ".", color=_PREDICTED, markersize=3, label="outcomes")
    axes.plot(*shadow.before, "o", mfc="none", color=_TRUE, markersize=9, label="before")
    axes.plot(*shadow.nominal, "s", mfc="none", color=_NOMINAL, markersize=11, label="all at once")
    axes.plot(*shadow.after, "*", color=_TRUE, markersize=12, label="true, after")
    axes.set_xlabel(_with_unit(shadow.names[0]))
    axes.set_ylabel(_with_unit(shadow.names[1]))
    axes.legend(fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _with_unit(name: str) -> str:
    return f"{name} [{'m/s' if 'linear' in name else 'rad/s'}]"


def _latency(axes: Axes, latency: NDArray[np.float64]) -> None:
    milliseconds = 1e3 * latency
    p50, p99 = np.percentile(milliseconds, (50, 99))
    low, high = max(milliseconds.min(), 1e-2), max(milliseconds.max(), 2e-2)
    axes.hist(milliseconds, bins=np.geomspace(low, high * 1.001, 80).tolist(), color=_PREDICTED)
    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())  # within one decade minor labels run into each other
    for value, name, height, side in ((p50, "p50", 0.95, "left"), (p99, "p99", 0.88, "right")):  # both within the frame
        axes.axvline(value, color=_NOMINAL, linewidth=1)
        axes.annotate(
            f" {name} {value:.2f} ms ",
            (value, height),
            xycoords=("data", "axes fraction"),
            fontsize=9,
            horizontalalignment=side,
        )
    axes.set_xlabel("stamp of the measurement to reception [ms]")
    axes.set_ylabel("predictions")
    axes.set_title(f"latency over {milliseconds.size} predictions")
    axes.spines[["top", "right"]].set_visible(False)
