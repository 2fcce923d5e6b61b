"""Scale, bias and dry friction of measured efforts, joint by joint, from limbs in the air.

A joint that carries only contacts that are open obeys its row of the equations of motion without contact forces,

    τ = M v̇ + h  (its row),        measured:  y(t + δ) = a τ(t) + b + c sign(q̇) + noise,

with the scale a, the bias b and the friction c that the sensor, or a current, sees and the joint does not, and the
delay δ of all efforts. Samples below 0.3 rad/s are left out: there friction has neither a sign nor one form. v̇ is a
difference of measured velocities over 10 ms, and h and y are means over these 10 ms, for drives change their efforts
within less.

**The delay** is the one with which Σ n ln(what is left of τ by y, 1 and sign q̇), of all joints, is least. (Of y by τ,
whose noise is the larger, more is left where efforts are larger, whatever the delay.) Half a millisecond that is not
made up for makes a scale of 0.93 of 1 where drives are stiff.

**The rest**: the noise of v̇ would make a too small in plain least squares. Differences of other samples, one later and
earlier, have other noise and the same motion: they are the instruments z of (Σ z xᵀ) β = Σ z y. Both sums are kept for
each swing, and a bootstrap draws swings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.identification.intervals import FEWEST_BLOCKS, Found, by_blocks, not_found
from hybrid_contact_ros.identification.observed_contacts import LEAVING, SETTLING, Seen
from hybrid_contact_ros.identification.stance_noise import BLOCK
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_SPAN = 0.01  # s, of a difference of velocities
_SLOWEST = 0.0051  # s, between samples of which such differences can be made
_MOVING = 0.3  # rad/s (m/s): slower joints tell nothing of friction
_WIDEST = 0.25  # half-width of a scale's interval beyond which it is not known
_DELAYS = 5e-4 * np.arange(-8, 25)  # s, of efforts behind the motion, that are tried
_WORST = 1e8  # condition of the sums, with which scale, bias and friction can be told apart
_CHI = 0.454936  # median of x², x of variance 1


@dataclass(frozen=True, slots=True)
class JointEffort:
    """Of one joint: ``scale`` (measured over true), ``bias`` and dry ``friction`` in what is measured, and the
    standard deviation of what these leave (``noise``), N m (N)."""

    joint: str
    scale: Found
    bias: Found
    friction: Found
    noise: Found


@dataclass(frozen=True, slots=True)
class EffortErrors:
    """``joints``: each with a drive. ``delay``: of all efforts behind the motion, s."""

    joints: list[JointEffort]
    delay: Found


def effort_errors(
    model: RigidBodyModel, episodes: Sequence[Sequence[RobotState]], seen: Sequence[Seen]
) -> EffortErrors:
    """Of each joint with a drive, and of all of them together."""
    joints = np.flatnonzero(model.driven)
    names = [model.velocity_names[j] for j in joints]
    if not names:
        return EffortErrors([], no_delay("no joint has a drive"))

    def none(why: str) -> EffortErrors:
        return EffortErrors([_unknown(name, why) for name in names], no_delay(why))

    if any(state.effort is None for states in episodes for state in states[:1]):
        return none("no efforts were measured")
    step = float(np.median(np.concatenate([np.diff(x.time) for x in seen])))
    if step > _SLOWEST:
        return none(f"accelerations cannot be told from states {1e3 * step:.0f} ms apart")
    carried = _carried(model)
    rows: dict[int, list[Array]] = {int(j): [] for j in joints}
    for e, (states, x) in enumerate(zip(episodes, seen, strict=True)):
        _add(e, model, states, x, carried, joints, rows)
    tables = [np.array(rows[int(j)]) for j in joints]
    delay = _delay([table for table in tables if len(table)])
    ends = (delay.value, delay.low, delay.high) if delay.known else (0.0, 0.0, 0.0)
    found = [
        _joint(name, [_at(table, end) for end in ends], bool(carried[:, j].any()))
        for name, table, j in zip(names, tables, joints, strict=True)
    ]
    return EffortErrors(found, delay)


def no_delay(why: str) -> Found:
    """A delay that a recording does not tell."""
    return not_found("efforts, later than the motion by", "s", why)


def _delay(tables: Sequence[Array]) -> Found:
    """The delay of all efforts, from rows of each joint."""
    numbers = np.unique(np.concatenate([table[:, 6] for table in tables])) if tables else np.zeros(0)
    sums = []
    for table in tables:
        at = np.searchsorted(numbers, table[:, 6])
        x = np.column_stack([table[:, :3], table[:, 7:]])
        square = np.zeros((len(numbers), x.shape[1], x.shape[1]))
        np.add.at(square, at, x[:, :, None] * x[:, None, :])
        count = np.bincount(at, minlength=len(numbers)).astype(np.float64)
        if np.linalg.cond(square.sum(axis=0)[:3, :3]) < _WORST:
            sums.append((square, count))
    if not sums:
        return no_delay("no limb is in the air for long, or joints hardly move there")
    ends = float(_DELAYS[0]), float(_DELAYS[-1])

    def value(chosen: NDArray[np.intp]) -> Array:
        times = np.zeros((len(chosen), len(numbers)))
        np.add.at(times, (np.arange(len(chosen))[:, None], chosen), 1.0)
        left = np.zeros((len(chosen), _DELAYS.size))
        with np.errstate(invalid="ignore", divide="ignore"):
            for square, count in sums:
                total = np.einsum("db,bij->dij", times, square)
                base, cross = total[:, 1:3, 1:3], np.delete(total, (1, 2), axis=2)[:, 1:3]
                base = base + (1e-12 * np.trace(base, axis1=1, axis2=2)[:, None, None] + 1e-12) * np.eye(2)
                known = np.linalg.solve(base, cross)  # bias and friction, which are left out of the rest
                own = np.delete(np.diagonal(total, axis1=1, axis2=2), (1, 2), axis=1) - (cross * known).sum(axis=1)
                both = total[:, 0, 3:] - (cross[:, :, :1] * known[:, :, 1:]).sum(axis=1)
                rest = own[:, :1] - both**2 / np.maximum(own[:, 1:], 1e-300)
                left += (times @ count)[:, None] * np.log(np.maximum(rest, 1e-300))
        k = left.argmin(axis=1)
        inner = np.clip(k, 1, _DELAYS.size - 2)
        d = np.arange(len(chosen))
        before, here, after = left[d, inner - 1], left[d, inner], left[d, inner + 1]
        bend = before - 2.0 * here + after
        shift = np.where(bend > 0.0, 0.5 * (before - after) / np.where(bend > 0.0, bend, 1.0), 0.0)
        step = _DELAYS[1] - _DELAYS[0]
        return np.where(k == inner, _DELAYS[inner] + step * np.clip(shift, -0.5, 0.5), np.nan)

    found = by_blocks("efforts, later than the motion by", "s", len(numbers), sum(map(len, tables)), value)
    if not found.known and len(numbers) >= FEWEST_BLOCKS:
        return no_delay(f"no delay between {1e3 * ends[0]:g} and {1e3 * ends[1]:g} ms explains them best")
    return found


def _at(table: Array, delay: float) -> Array:
    """Rows of x (3), z (3), y and the block, of efforts that are this late."""
    if not len(table):
        return table
    place = np.clip((delay - _DELAYS[0]) / (_DELAYS[1] - _DELAYS[0]), 0.0, _DELAYS.size - 1.000001)
    k = int(place)
    y = table[:, 7 + k] + (place - k) * (table[:, 8 + k] - table[:, 7 + k])
    return np.column_stack([table[:, :6], y, table[:, 6]])


def _carried(model: RigidBodyModel) -> NDArray[np.bool_]:
    """(m, nv): which coordinates move a contact."""
    problem = model.problem(RobotState(0, model.bent(), np.zeros(model.nv)))
    jacobian = np.concatenate([problem.normal_jacobian[:, None], problem.tangent_jacobian], axis=1)
    return np.asarray((np.abs(jacobian) > 1e-9).any(axis=1))


def _add(
    episode: int,
    model: RigidBodyModel,
    states: Sequence[RobotState],
    x: Seen,
    carried: NDArray[np.bool_],
    joints: NDArray[np.intp],
    rows: dict[int, list[Array]],
) -> None:
    """For each joint and each block of time with its limb in the air: rows of x (3), z (3), the block, and the efforts
    at each delay."""
    n, dt = len(states), float(np.median(np.diff(x.time)))
    half = max(1, round(0.5 * _SPAN / dt))
    lead = 1
    reach = half + lead
    if n <= 2 * reach + 2:
        return
    clear = np.stack([_clear(column, x.time) for column in x.closed.T], axis=1)  # (n, m), well inside of a swing
    v = np.array([state.v for state in states])
    effort = _late_means(x.time, np.array([state.effort for state in states]), half * dt)
    free = np.stack([clear[:, carried[:, j]].all(axis=1) for j in joints], axis=1)
    usable = np.flatnonzero(free.any(axis=1))
    usable = usable[(usable >= reach) & (usable < n - reach)]
    usable = usable[x.time[usable + reach] - x.time[usable - reach] < 1.5 * 2 * reach * dt]
    near = np.unique(np.clip(usable[:, None] + np.arange(-half, half + 1), 0, n - 1))
    mass, h = {}, np.full((n, model.nv), np.nan)
    wanted = set(usable.tolist())
    for k in near.tolist():
        state = states[k]
        if model.evaluate(RobotState(state.stamp_ns, state.q, state.v)):
            h[k] = model.here.bias
            if k in wanted:
                mass[k] = model.here.mass.copy()
    h = _window_means(h, half)
    for k in usable.tolist():
        if k not in mass or not np.isfinite(h[k]).all() or not np.isfinite(effort[k]).all():
            continue
        M = mass[k]
        a = (v[k + half] - v[k - half]) / (x.time[k + half] - x.time[k - half])
        # The mean of a difference a sample later and one a sample earlier has none of the first one's samples.
        b = (v[k + half + lead] - v[k - half + lead] + v[k + half - lead] - v[k - half - lead]) / (
            x.time[k + half + lead] - x.time[k - half + lead] + x.time[k + half - lead] - x.time[k - half - lead]
        )
        explained, other = M @ a + h[k], M @ b + h[k]
        block = float(episode * 1_000_000 + int((x.time[k] - x.time[0]) / BLOCK))
        for column, j in enumerate(joints):
            speed = v[k - half + 1 : k + half, j].mean()
            if free[k, column] and abs(speed) > _MOVING:
                dry = np.sign(speed)
                rows[int(j)].append(np.r_[explained[j], 1.0, dry, other[j], 1.0, dry, block, effort[k, :, j]])


def _window_means(values: Array, half: int) -> Array:
    """Means (n, c) from ``half`` samples before to as many after each, by trapezoids; NaN where these are not there."""
    found = np.full(values.shape, np.nan)
    total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(np.nan_to_num(values), axis=0)])
    holes = np.concatenate([[0], np.cumsum(~np.isfinite(values).all(axis=1))])
    k = np.arange(half, len(values) - half)
    ends = 0.5 * (values[k - half] + values[k + half])
    found[k] = (total[k + half + 1] - total[k - half] - ends) / (2 * half)
    found[k[holes[k + half + 1] > holes[k - half]]] = np.nan
    return found


def _late_means(time: Array, values: Array, half: float) -> Array:
    """Means (n, delays, c) from ``half`` s before to as long after each time and delay; NaN beyond the ends."""
    integral = np.concatenate(
        [np.zeros((1, values.shape[1])), np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(time)[:, None], axis=0)]
    )
    found = np.empty((len(time), _DELAYS.size, values.shape[1]))
    for k, delay in enumerate(_DELAYS):
        for c in range(values.shape[1]):
            before, after = (
                np.interp(time + delay + side * half, time, integral[:, c], np.nan, np.nan) for side in (-1.0, 1.0)
            )
            found[:, k, c] = (after - before) / (2.0 * half)
    return found


def _clear(closed: NDArray[np.bool_], time: Array) -> NDArray[np.bool_]:
    """Where a contact is open, and neither just lifted off nor about to touch."""
    at = time[closed]
    if not at.size:
        return np.ones(len(time), dtype=np.bool_)
    after = np.searchsorted(at, time)
    since = time - np.where(after > 0, at[np.maximum(after - 1, 0)], -np.inf)
    until = np.where(after < at.size, at[np.minimum(after, at.size - 1)], np.inf) - time
    return np.asarray(~closed & (since > SETTLING) & (until > LEAVING))


def _unknown(name: str, why: str, samples: int = 0) -> JointEffort:
    scale = not_found(f"effort of {name}, measured over true", "-", why, samples)
    bias, friction, noise = (
        not_found(f"effort of {name}, {x}", "N m", why, samples) for x in ("bias", "dry friction", "left unexplained")
    )
    return JointEffort(name, scale, bias, friction, noise)


def _joint(name: str, at: Sequence[Array], of_limb: bool) -> JointEffort:
    """``at``: the rows with the delay, and with either end of its interval."""
    table = at[0]
    if not len(table):
        return _unknown(name, "its limb is never in the air for long" if of_limb else "no usable states")
    x, z, y = table[:, :3], table[:, 3:6], table[:, 6]
    blocks = [np.flatnonzero(table[:, 7] == b) for b in np.unique(table[:, 7])]
    zx = np.array([z[k].T @ x[k] for k in blocks])
    zy = np.array([z[k].T @ y[k] for k in blocks])
    if not np.linalg.cond(zx.sum(axis=0)) < _WORST:
        return _unknown(name, "it hardly moves in the air: scale, bias and friction look alike", len(table))
    cache: dict[bytes, Array] = {}

    def column(j: int):  # type: ignore[no-untyped-def]
        def value(chosen: NDArray[np.intp]) -> Array:
            key = chosen.tobytes()
            if key not in cache:
                left, right = zx[chosen].sum(axis=1), zy[chosen].sum(axis=1)
                fine = np.linalg.cond(left) < _WORST  # some draws have swings that tell nothing
                cache[key] = np.full(right.shape, np.nan)
                cache[key][fine] = np.linalg.solve(left[fine], right[fine][..., None])[..., 0]
            return cache[key][:, j]

        return value

    count, samples = len(blocks), len(table)
    found = [
        by_blocks(f"effort of {name}, {what}", unit, count, samples, column(j))
        for j, (what, unit) in enumerate((("measured over true", "-"), ("bias", "N m"), ("dry friction", "N m")))
    ]
    # What the delay is not known by comes beside: friction and a delay look alike where efforts follow the angle.
    every = np.array([np.linalg.solve(zx.sum(axis=0), z.T @ each[:, 6]) for each in at])
    away = np.abs(every[1:] - every[0]).max(axis=0)
    found = [_widened(f, float(by)) for f, by in zip(found, away, strict=True)]
    unknown = next((f for f in found if not f.known), None)
    if unknown is not None:
        return _unknown(name, unknown.why, samples)
    if 0.5 * (found[0].high - found[0].low) > _WIDEST:
        return _unknown(name, f"the interval of its scale is {found[0].low:.2f} to {found[0].high:.2f}", samples)
    left = y - x @ np.array([f.value for f in found])
    squares = np.array([np.median(left[k] ** 2) / _CHI for k in blocks])
    noise = by_blocks(
        f"effort of {name}, left unexplained",
        "N m",
        count,
        samples,
        lambda chosen: np.sqrt(np.median(squares[chosen], axis=1)),
        0.0,
    )
    scale, bias, friction = found
    return JointEffort(name, scale, bias, friction, noise)


def _widened(found: Found, by: float) -> Found:
    """With an interval that has a second, independent error of at most ``by`` in it."""
    low, high = (math.hypot(found.value - found.low, by), math.hypot(found.high - found.value, by))
    return replace(found, low=found.value - low, high=found.value + high) if found.known else found
