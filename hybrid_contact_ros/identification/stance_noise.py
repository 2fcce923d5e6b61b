"""The noise of gaps, of their rates and of loads, from feet that stand, and the motion of feet in the air.

A foot that stands has the gap of its ground and no velocity. What its gap does about a straight line through a
stance, and what
its rate is at all, is noise: of encoders and the base's pose, of the model's lengths, of soft ground and shaking legs.
Contacts that stand at the same time share the base's noise, and so blocks are stretches of time and not stances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.identification.intervals import Found, by_blocks, not_found
from hybrid_contact_ros.identification.observed_contacts import SMOOTHED, Seen, Stretch

Array = NDArray[np.float64]

BLOCK = 0.25  # s: more than what correlates errors of a stance, and half of a stride
_CHI = 0.454936  # median of x², x of variance 1
_WHITE = 20.0  # Σ w² of third differences
_RARE = 0.99  # quantile of a stance's slide that tolerances are to hold


def block_of(stretch: Stretch, seen: Sequence[Seen]) -> tuple[int, int]:
    """Episode and number of the block of time that the middle of a stretch is in."""
    time = seen[stretch.episode].time
    return stretch.episode, int((time[(stretch.begin + stretch.end) // 2] - time[0]) / BLOCK)


def _per_block(
    found: Sequence[Stretch], seen: Sequence[Seen], value: Callable[[Seen, Stretch], float]
) -> tuple[Array, int]:
    """One number of each block of time: the mean over its stretches, NaN apart; and how many samples there are."""
    blocks: dict[tuple[int, int], list[float]] = {}
    samples = 0
    for s in found:
        x = value(seen[s.episode], s)
        if np.isfinite(x):
            blocks.setdefault(block_of(s, seen), []).append(x)
            samples += s.end - s.begin
    return np.array([np.mean(x) for x in blocks.values()]), samples


def _found(name: str, unit: str, table: Array, samples: int, why: str, root: bool = True) -> Found:
    if not len(table):
        return not_found(name, unit, why)

    def value(chosen: NDArray[np.intp]) -> Array:
        middle = np.median(table[chosen], axis=1)
        return np.sqrt(middle) if root else middle

    return by_blocks(name, unit, len(table), samples, value, least=0.0)


def stance_noise(pieces: Sequence[Stretch], seen: Sequence[Seen]) -> dict[str, Found]:
    """Of feet that stand, in ``pieces`` of stances: the noise of ``gap`` (m), ``rate`` (m/s), ``load`` (N) and their
    ``slide`` (m/s): what their speed along the surface, over 10 ms, seldom exceeds."""
    none = "no foot stands for longer than what is left out at a touchdown and a liftoff"

    def gap(x: Seen, s: Stretch) -> float:
        return _about_line(x.time[s.rows], x.gap[s.rows, s.contact])

    def rate(x: Seen, s: Stretch) -> float:
        return float(np.median(x.rate[s.rows, s.contact] ** 2)) / _CHI

    def load(x: Seen, s: Stretch) -> float:
        force = x.load[s.rows, s.contact]
        if force.size < 8 or not np.isfinite(force).all():
            return np.nan
        return float(np.median(np.diff(force, 3) ** 2)) / _CHI / _WHITE

    def slide(x: Seen, s: Stretch) -> float:
        if not x.sticking[s.rows, s.contact].all():  # it slips: that is no noise
            return np.nan
        dt = (x.time[s.end - 1] - x.time[s.begin]) / (s.end - s.begin - 1)
        width = max(1, round(SMOOTHED / dt))
        v = x.slide[s.rows, s.contact]
        if len(v) < width:
            return np.nan
        mean = np.stack([np.convolve(v[:, k], np.full(width, 1.0 / width), "valid") for k in range(3)], axis=1)
        return float(np.quantile(np.linalg.norm(mean, axis=1), _RARE))

    told = {
        "gap": _found("gap of standing feet, noise", "m", *_per_block(pieces, seen, gap), none),
        "rate": _found("gap rate of standing feet, noise", "m/s", *_per_block(pieces, seen, rate), none),
        "slide": _found(
            "speed of standing feet along the surface", "m/s", *_per_block(pieces, seen, slide), none, root=False
        ),
    }
    why = "no load is known of standing feet: there are no efforts, or they are not believed"
    table, samples = _per_block(pieces, seen, load)
    return told | {"load": _found("load of standing feet, noise", "N", table, samples, why)}


def _about_line(time: Array, x: Array) -> float:
    """Variance about a straight line, robustly."""
    t = time - time.mean()
    x = x - x.mean()
    square = float(t @ t)
    left = x - t * (float(t @ x) / square) if square > 0.0 else x
    return float(np.median(left * left)) / _CHI * len(x) / max(len(x) - 2, 1)


def swing_motion(swings: Sequence[Stretch], seen: Sequence[Seen]) -> dict[str, Found]:
    """Of feet in the air: mean ``height`` over the ground (m), standard deviations of the ``speed`` of their gaps
    and of their ``slide`` along the surface in each direction (m/s)."""
    sums: dict[tuple[int, int], Array] = {}
    for s in swings:
        x = seen[s.episode]
        g, r, u = x.over_ground[s.rows, s.contact], x.rate[s.rows, s.contact], x.slide[s.rows, s.contact]
        row = np.array([g.size, g.sum(), (r * r).sum(), 0.5 * (u * u).sum()])
        key = block_of(s, seen)
        sums[key] = sums.get(key, np.zeros(4)) + row
    table = np.array(list(sums.values())).reshape(-1, 4)
    names = {"height": ("height of feet in the air", "m"), "speed": ("gap rate of feet in the air", "m/s"),
             "slide": ("speed of feet in the air along the surface", "m/s")}  # fmt: skip
    if not len(table):
        return {key: not_found(name, unit, "no foot is in the air for long") for key, (name, unit) in names.items()}

    def mean(k: int) -> Callable[[NDArray[np.intp]], Array]:
        def value(chosen: NDArray[np.intp]) -> Array:
            total = table[chosen].sum(axis=1)
            ratio = total[:, k] / total[:, 0]
            return np.asarray(ratio if k == 1 else np.sqrt(ratio))

        return value

    samples = int(table[:, 0].sum())
    return {
        key: by_blocks(*names[key], len(table), samples, mean(k), least=0.0) for k, key in enumerate(names, start=1)
    }
