"""Height and slope of each plane, each foot's own offset, steps of the ground and drift of the base, from stances.

In a stance k of foot i at x_k along its plane the mean gap is

    g_k = a + b·x_k + f_i + e_k,   Σ f_i = 0,

a: the plane's height over the configured one, b: its slope against it, f: errors of the foot's radius or frame, e:
steps of the ground, and the base's drift. An error that all feet share looks like a: it is in the height. Drift makes
stances differ the more, the
longer they are apart: E (g_k − g_l)² = 2 σ_e² + d² |t_k − t_l| for stances of the same foot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import Environment
from hybrid_contact_ros.identification.intervals import FEWEST_BLOCKS, Found, by_blocks, not_found
from hybrid_contact_ros.identification.observed_contacts import Seen, Stretch
from hybrid_contact_ros.identification.stance_noise import block_of

Array = NDArray[np.float64]

_SPREAD = 0.06  # m, of each foot's footholds about their centre: with less, feet of other radii look like a slope
_ONE_WAY = 0.9  # correlation of place and time above which drift and slope look alike
_WIDEST = 0.03  # half-width of a slope's interval beyond which it tells nothing
LEVEL = 0.002
"""A slope below this is none."""
_ODD = 6.0  # deviations from the plane of a stance that is none: a foot on something else
_PAIRS = 8  # later stances of a foot that each stance is compared with, for the drift


@dataclass(frozen=True, slots=True)
class Plane:
    """What stances tell of one plane.

    Attributes:
        name: of the environment. height: m, over the configured plane. slopes: along the plane's two axes, rise over
        run.
        feet: by contact, m, what the foot stands higher than the others. steps: m, standard deviation of stances
        about plane and feet. drift: m/√s, of the base.
        moved: the plane with height, and with the slopes where they are known.
    """

    name: str
    height: Found
    slopes: tuple[Found, Found]
    feet: dict[str, Found]
    steps: Found
    drift: Found
    moved: Environment | None


@dataclass(frozen=True, slots=True, eq=False)
class _Stances:
    """Of k stances or pieces of them: place along the plane's axes (k, 2), mean gap, time, foot, block, samples."""

    at: Array
    gap: Array
    time: Array
    foot: NDArray[np.intp]
    block: NDArray[np.intp]
    samples: int

    def part(self, chosen: NDArray) -> _Stances:
        return _Stances(
            self.at[chosen], self.gap[chosen], self.time[chosen], self.foot[chosen], self.block[chosen], self.samples
        )


def axes(normal: Array) -> Array:
    """Two unit vectors (2, 3) along a plane; for the ground, x and y of the world."""
    n = normal / np.linalg.norm(normal)
    first = np.eye(3)[int(np.argmin(np.abs(n)))]
    x = first - n * (first @ n)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(n, x)])


def find_plane(
    name: str,
    plane: Environment,
    contacts: Sequence[int],
    names: Sequence[str],
    stances: Sequence[Stretch],
    pieces: Sequence[Stretch],
    seen: Sequence[Seen],
) -> Plane:
    """One environment's plane.

    Args:
        contacts: indices of those that may touch it; names: of all. stances: of any contacts; pieces: the same, cut
        where long.
    """
    along = axes(np.asarray(plane.normal, dtype=np.float64))
    cut = _gather([s for s in pieces if s.contact in contacts], seen, along)
    whole = _gather([s for s in stances if s.contact in contacts], seen, along)
    height = _height(name, cut)
    feet_seen = sorted(set(whole.foot.tolist()))
    whole = _without_odd(whole, feet_seen)
    slopes, feet, steps = _fit(name, whole, feet_seen, names)
    b = np.array([s.value if s.known and not s.covers(0.0) and abs(s.value) > LEVEL else 0.0 for s in slopes])
    if b.any():
        centre = whole.at.mean(axis=0)
        height = _height(name, replace(cut, gap=cut.gap - (cut.at - centre) @ b))
        whole = replace(whole, gap=whole.gap - (whole.at - centre) @ b)
    moved = None
    if height.known:
        moved = _moved(plane, along, height.value, b, whole.at.mean(axis=0) if b.any() else np.zeros(2))
    return Plane(name, height, slopes, feet, steps, _drift(name, whole), moved)


def _gather(found: Sequence[Stretch], seen: Sequence[Seen], along: Array) -> _Stances:
    at, gap, time, foot, block, samples = [], [], [], [], [], 0
    numbers: dict[tuple[int, int], int] = {}
    for s in found:
        x = seen[s.episode]
        at.append(along @ np.median(x.position[s.rows, s.contact], axis=0))
        gap.append(float(np.median(x.gap[s.rows, s.contact])))
        time.append(float(x.time[s.begin] + x.time[s.end - 1]) / 2.0 + 1e6 * s.episode)
        foot.append(s.contact)
        block.append(numbers.setdefault(block_of(s, seen), len(numbers)))
        samples += s.end - s.begin
    return _Stances(
        np.array(at).reshape(-1, 2), np.array(gap), np.array(time), np.array(foot, dtype=np.intp),
        np.array(block, dtype=np.intp), samples,
    )  # fmt: skip


def _height(name: str, cut: _Stances) -> Found:
    label = f"height of {name} over its configured plane"
    blocks = np.unique(cut.block)
    table = np.array([np.mean(cut.gap[cut.block == b]) for b in blocks])
    if not len(table):
        return not_found(label, "m", "no foot stands on it")
    return by_blocks(label, "m", len(table), cut.samples, lambda chosen: np.median(table[chosen], axis=1))


def _design(s: _Stances, feet: Sequence[int]) -> Array:
    """Columns of height, both slopes (zero where nothing tells them), and feet but the last, whose offset is less
    the sum of the others'."""
    which = np.array([feet.index(int(f)) for f in s.foot], dtype=np.intp)
    own = np.zeros((len(s.gap), max(len(feet) - 1, 0)))
    for k in range(own.shape[1]):
        own[:, k] = (which == k).astype(float) - (which == len(feet) - 1)
    told = np.array([not _hidden(s, j) for j in range(2)], dtype=np.float64)
    return np.column_stack([np.ones(len(s.gap)), (s.at - s.at.mean(axis=0)) * told, own])


def _hidden(s: _Stances, axis: int) -> str:
    """Why nothing tells the slope along an axis; empty where something does."""
    spread = float(_spread(s)[axis])
    if spread < _SPREAD:
        return (
            f"each foot's footholds are within {1e3 * spread:.0f} mm of their centre along it (root mean square), and "
            f"{1e3 * _SPREAD:.0f} mm are needed: feet of other radii look the same"
        )
    together = abs(float(np.corrcoef(s.at[:, axis], s.time)[0, 1])) if np.ptp(s.time) > 0.0 else 0.0
    if together > _ONE_WAY:
        return "the robot went one way along it, and drift of the base's height looks the same: walk there and back"
    return ""


def _spread(s: _Stances) -> Array:
    """(2,): of each foot's stances about their own centre, m, root mean square over all feet."""
    left = s.at.copy()
    for foot in np.unique(s.foot):
        left[s.foot == foot] -= left[s.foot == foot].mean(axis=0)
    return np.asarray(np.sqrt(np.mean(left**2, axis=0)))


def _without_odd(s: _Stances, feet: Sequence[int]) -> _Stances:
    if len(s.gap) < 2 * FEWEST_BLOCKS:
        return s
    X = _design(s, feet)
    left = s.gap - X @ np.linalg.lstsq(X, s.gap, rcond=None)[0]
    spread = 1.4826 * float(np.median(np.abs(left - np.median(left))))
    return s.part(np.abs(left - np.median(left)) <= _ODD * max(spread, 1e-6))


def _fit(
    name: str, s: _Stances, feet: list[int], names: Sequence[str]
) -> tuple[tuple[Found, Found], dict[str, Found], Found]:
    """Slopes, feet and steps."""
    slope_names = [f"slope of {name} along its {axis} axis" for axis in ("first", "second")]
    foot_names = [f"{names[i]} stands higher than the other feet by" for i in feet]
    steps_name = f"steps of {name}"
    blocks, number = np.unique(s.block, return_inverse=True)

    def no(why: str) -> tuple[tuple[Found, Found], dict[str, Found], Found]:
        a, b = (not_found(x, "-", why, s.samples) for x in slope_names)
        return (
            (a, b), {names[i]: not_found(x, "m", why, s.samples) for i, x in zip(feet, foot_names, strict=True)},
            not_found(steps_name, "m", why, s.samples),
        )  # fmt: skip

    if len(s.gap) < max(2 * FEWEST_BLOCKS, 3 * (2 + len(feet))) or len(blocks) < FEWEST_BLOCKS:
        return no(f"{len(s.gap)} stances in {len(blocks)} stretches of time are too few")
    X = _design(s, feet)
    full = int(X.any(axis=0).sum())
    members = [np.flatnonzero(number == b) for b in range(len(blocks))]

    def solved(chosen: NDArray[np.intp]) -> Array:
        """(draws, coefficients and the standard deviation of what is left)."""
        rows = []
        for draw in chosen:
            k = np.concatenate([members[b] for b in draw])
            beta, _, rank, _ = np.linalg.lstsq(X[k], s.gap[k], rcond=None)
            left = s.gap[k] - X[k] @ beta
            sigma = math.sqrt(float(left @ left) / max(len(k) - rank, 1))
            rows.append([*beta, -beta[3:].sum(), sigma] if rank == full else [np.nan] * (X.shape[1] + 2))
        return np.array(rows)

    cache: dict[bytes, Array] = {}

    def column(j: int):  # type: ignore[no-untyped-def]
        def value(chosen: NDArray[np.intp]) -> Array:
            key = chosen.tobytes()
            if key not in cache:
                cache[key] = solved(chosen)
            return cache[key][:, j]

        return value

    count, samples = len(blocks), s.samples
    a, b = (_slope(by_blocks(x, "-", count, samples, column(1 + j)), _hidden(s, j)) for j, x in enumerate(slope_names))
    own = {names[i]: by_blocks(x, "m", count, samples, column(3 + j))
           for j, (i, x) in enumerate(zip(feet, foot_names, strict=True))} if len(feet) > 1 else {}  # fmt: skip
    return (a, b), own, by_blocks(steps_name, "m", count, samples, column(X.shape[1] + 1), least=0.0)


def _slope(found: Found, hidden: str) -> Found:
    wide = found.known and 0.5 * (found.high - found.low) > _WIDEST
    why = hidden or (f"its interval is {found.low:.3f} to {found.high:.3f}" if wide else "")
    return not_found(found.name, "-", why, found.samples, found.blocks) if why else found


def _drift(name: str, s: _Stances) -> Found:
    label = "drift of the base's height in a second"
    sums: dict[int, Array] = {}
    for foot in np.unique(s.foot):
        k = np.flatnonzero(s.foot == foot)
        for lag in range(1, _PAIRS + 1):
            a, b = k[:-lag], k[lag:]
            apart = s.time[b] - s.time[a]
            for i, t, d in zip(
                a[apart < 1e5], apart[apart < 1e5], ((s.gap[b] - s.gap[a]) ** 2)[apart < 1e5], strict=True
            ):
                row = np.array([1.0, t, t * t, d, d * t])
                sums[int(s.block[i])] = sums.get(int(s.block[i]), np.zeros(5)) + row
    table = np.array(list(sums.values())).reshape(-1, 5)
    if not len(table):
        return not_found(label, "m/sqrt(s)", f"no foot stands on {name} more than once")

    def value(chosen: NDArray[np.intp]) -> Array:
        n, t, tt, d, dt = np.moveaxis(table[chosen].sum(axis=1), -1, 0)
        spread = n * tt - t * t
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.where(spread > 1e-9 * n * tt, (n * dt - t * d) / spread, np.nan)
        return np.sqrt(np.maximum(rate, 0.0))

    return by_blocks(label, "m/sqrt(s)", len(table), s.samples, value, least=0.0)


def _moved(plane: Environment, along: Array, height: float, slope: Array, centre: Array) -> Environment:
    """The configured plane, raised by ``height`` and tilted by ``slope`` about the ``centre`` of the footholds."""
    n = np.asarray(plane.normal, dtype=np.float64)
    length = float(np.linalg.norm(n))
    n = n / length
    point = (plane.offset + height) * n + centre @ along
    normal = n - slope @ along
    normal /= np.linalg.norm(normal)
    return Environment(normal=tuple(float(x) for x in normal), offset=float(normal @ point))
