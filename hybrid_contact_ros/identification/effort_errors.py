"""Scale, bias and dry friction of measured efforts, joint by joint, from limbs in the air.

A joint that carries only contacts that are open obeys its row of the equations of motion without contact forces,

    τ = M v̇ + h  (its row),        measured:  y = a τ + b + c sign(q̇) + noise,

with the scale a, the bias b and the friction c that the sensor, or a current, sees and the joint does not. Samples
below 0.3 rad/s are left out: there friction has neither a sign nor one form. v̇ is a difference of measured
velocities over 10 ms, whose noise would make a too small in plain least squares. Differences of other samples,
one later and earlier, have other noise and the same motion: they are the instruments z of (Σ z xᵀ) β = Σ z y. Both
sums are kept for each swing, and a bootstrap draws swings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.identification.intervals import Found, by_blocks, not_found
from hybrid_contact_ros.identification.observed_contacts import LEAVING, SETTLING, Seen
from hybrid_contact_ros.identification.stance_noise import BLOCK
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_SPAN = 0.01  # s, of a difference of velocities
_SLOWEST = 0.0051  # s, between samples of which such differences can be made
_MOVING = 0.3  # rad/s (m/s): slower joints tell nothing of friction
_WIDEST = 0.25  # half-width of a scale's interval beyond which it is not known
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


def effort_errors(
    model: RigidBodyModel, episodes: Sequence[Sequence[RobotState]], seen: Sequence[Seen]
) -> list[JointEffort]:
    """Of each joint with a drive."""
    joints = np.flatnonzero(model.driven)
    names = [model.velocity_names[j] for j in joints]
    if not names:
        return []
    if any(state.effort is None for states in episodes for state in states[:1]):
        return [_unknown(name, "no efforts were measured") for name in names]
    step = float(np.median(np.concatenate([np.diff(x.time) for x in seen])))
    if step > _SLOWEST:
        return [_unknown(name, f"accelerations cannot be told from states {1e3 * step:.0f} ms apart") for name in names]
    carried = _carried(model)
    rows: dict[int, list[Array]] = {int(j): [] for j in joints}
    for e, (states, x) in enumerate(zip(episodes, seen, strict=True)):
        _add(e, model, states, x, carried, joints, rows)
    return [_joint(name, rows[int(j)], bool(carried[:, j].any())) for name, j in zip(names, joints, strict=True)]


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
    """For each joint and each block of time with its limb in the air: (n, 8) of x (3), z (3), y, and the block."""
    n, dt = len(states), float(np.median(np.diff(x.time)))
    half = max(1, round(0.5 * _SPAN / dt))
    lead = 1
    reach = half + lead
    if n <= 2 * reach + 2:
        return
    clear = np.stack([_clear(column, x.time) for column in x.closed.T], axis=1)  # (n, m), well inside of a swing
    v = np.array([state.v for state in states])
    free = np.stack([clear[:, carried[:, j]].all(axis=1) for j in joints], axis=1)
    usable = np.flatnonzero(free.any(axis=1))
    usable = usable[(usable >= reach) & (usable < n - reach)]
    usable = usable[x.time[usable + reach] - x.time[usable - reach] < 1.5 * 2 * reach * dt]
    for k in usable.tolist():
        state = states[k]
        if not model.evaluate(RobotState(state.stamp_ns, state.q, state.v)):
            continue
        assert state.effort is not None
        M, h = model.here.mass, model.here.bias
        a = (v[k + half] - v[k - half]) / (x.time[k + half] - x.time[k - half])
        # The mean of a difference a sample later and one a sample earlier has none of the first one's samples.
        b = (v[k + half + lead] - v[k - half + lead] + v[k + half - lead] - v[k - half - lead]) / (
            x.time[k + half + lead] - x.time[k - half + lead] + x.time[k + half - lead] - x.time[k - half - lead]
        )
        explained, other = M @ a + h, M @ b + h
        block = float(episode * 1_000_000 + int((x.time[k] - x.time[0]) / BLOCK))
        for column, j in enumerate(joints):
            speed = v[k - half + 1 : k + half, j].mean()
            if free[k, column] and abs(speed) > _MOVING:
                dry = np.sign(speed)
                rows[int(j)].append(np.array([explained[j], 1.0, dry, other[j], 1.0, dry, state.effort[j], block]))


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


def _joint(name: str, rows: list[Array], of_limb: bool) -> JointEffort:
    if not rows:
        return _unknown(name, "its limb is never in the air for long" if of_limb else "no usable states")
    table = np.array(rows)
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
