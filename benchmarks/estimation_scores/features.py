"""What simple rules decide on, from the measured states alone: heights, speeds and forces of the k feet."""

from __future__ import annotations

import numpy as np

from benchmarks.estimation_scores.episodes import Array, Episode, Source, states
from hybrid_contact_ros.mechanics.model import RigidBodyModel

_GAIN = 100.0  # 1/s, bandwidth of the momentum observer
_SMOOTH = 0.005  # s, over which speeds and forces are averaged, as a driver of a robot would


def features(source: Source, model: RigidBodyModel, episode: Episode) -> dict[str, Array]:
    """Arrays (n, k): ``gap`` (m, lowest point to the configured plane), ``rate`` (m/s, of the same), ``speed`` (m/s,
    slowest point); of several feet
    ``height`` (m, over the lowest); where efforts are measured ``force``, ``observer`` (N), and of several feet
    ``share`` (of all feet's).

    The force of a foot is what holds the torques of its own leg in balance: without accelerations, or with what a
    momentum observer of 100/s says of them.
    """
    columns: dict[str, list[list[float]]] = {"gap": [], "rate": [], "speed": [], "force": [], "observer": []}
    measured = episode.recording.effort is not None
    base = 6 if model.floating_base else 0
    residual, last = np.zeros(model.nv), None
    for state in states(model, episode.recording):
        problem = model.problem(state)
        rows = np.concatenate([problem.normal_jacobian[:, None], problem.tangent_jacobian], axis=1)
        speed = np.linalg.norm(rows @ problem.velocity, axis=1)
        columns["gap"].append([float(problem.gap[list(g)].min()) for g in source.members])
        lowest = [g[int(np.argmin(problem.gap[list(g)]))] for g in source.members]
        columns["rate"].append((problem.normal_jacobian[lowest] @ problem.velocity).tolist())
        columns["speed"].append([float(speed[list(g)].min()) for g in source.members])
        if not measured:
            continue
        bias = problem.bias_force
        if last is not None and state.stamp_ns > last[0]:
            step = 1e-9 * (state.stamp_ns - last[0])
            force = problem.mass @ (problem.velocity - last[1]) / step + bias
            residual += (1.0 - np.exp(-_GAIN * step)) * (force - residual)
        else:
            residual = bias.copy()
        last = (state.stamp_ns, problem.velocity.copy())
        feet = [rows[list(g)].mean(axis=0) for g in source.members]
        columns["force"].append([_leg_force(foot, bias, base) for foot in feet])
        columns["observer"].append([_leg_force(foot, residual, base) for foot in feet])
    time = episode.recording.time
    width = max(1, round(_SMOOTH / float(np.median(np.diff(time)))))
    found = {name: np.array(columns[name]) for name in ("gap", "rate")}
    found |= {"speed": _averaged(np.array(columns["speed"]), width)}
    several = len(source.members) > 1
    if several:
        found["height"] = found["gap"] - found["gap"].min(axis=1, keepdims=True)
    if measured:
        found["force"] = _averaged(np.array(columns["force"]), width)
        found["observer"] = np.array(columns["observer"])
        if several:
            pushes = np.maximum(found["force"], 0.0)
            found["share"] = pushes / np.maximum(pushes.sum(axis=1, keepdims=True), 1e-9)
    return found


def delayed(time: Array, now: Array, lags: tuple[float, ...]) -> list[Array]:
    """``now`` (n, …) as it was so many seconds ago, of each lag; before the first sample, as in that."""
    return [now[np.maximum(np.searchsorted(time, time - lag + 1e-6, side="right") - 1, 0)] for lag in lags]


def _leg_force(rows: Array, bias: Array, base: int) -> float:
    """Normal force (N) that balances the joints of one leg: rows (3, nv) of the foot, normal first."""
    mine = np.flatnonzero(np.abs(rows[:, base:]).max(axis=0) > 1e-9) + base
    a, b = rows[:, mine].T, bias[mine]
    return float(np.linalg.lstsq(a, b, rcond=1e-3)[0][0])


def _averaged(x: Array, width: int) -> Array:
    """Means (n, k) over the last ``width`` samples."""
    total = np.cumsum(np.vstack([np.zeros((1, x.shape[1])), x]), axis=0)
    n = np.arange(1, len(x) + 1)
    first = np.maximum(n - width, 0)
    return np.asarray((total[n] - total[first]) / (n - first)[:, None])
