"""What simple rules decide on, from the measured states alone: heights, speeds and forces of the k feet."""

from __future__ import annotations

import numpy as np

from benchmarks.estimation_scores.episodes import Array, Episode, Source, states
from hybrid_contact_ros.mechanics.model import RigidBodyModel

_SMOOTH = 0.005  # s, over which speeds and forces are averaged, as a driver of a robot would


def features(
    source: Source, model: RigidBodyModel, episode: Episode, observer: Array | None = None
) -> dict[str, Array]:
    """Arrays (n, k): ``gap`` (m, lowest point to the configured plane), ``speed`` (m/s, slowest point); of several feet
    ``height`` (m, over the lowest); where efforts are measured ``force`` (N), ``share`` (of all feet's), ``observer``
    (N).

    The force of a foot is what holds the torques of its own leg in balance, without accelerations.
    """
    columns: dict[str, list[list[float]]] = {"gap": [], "speed": [], "force": []}
    measured = episode.recording.effort is not None
    base = 6 if model.floating_base else 0
    for state in states(model, episode.recording):
        problem = model.problem(state)
        rows = np.concatenate([problem.normal_jacobian[:, None], problem.tangent_jacobian], axis=1)
        speed = np.linalg.norm(rows @ problem.velocity, axis=1)
        columns["gap"].append([float(problem.gap[list(g)].min()) for g in source.members])
        columns["speed"].append([float(speed[list(g)].min()) for g in source.members])
        if measured:
            columns["force"].append([_leg_force(rows[list(g)].mean(axis=0), problem.bias_force, base)
                                     for g in source.members])  # fmt: skip
    time = episode.recording.time
    width = max(1, round(_SMOOTH / float(np.median(np.diff(time)))))
    found = {"gap": np.array(columns["gap"]), "speed": _averaged(np.array(columns["speed"]), width)}
    several = len(source.members) > 1
    if several:
        found["height"] = found["gap"] - found["gap"].min(axis=1, keepdims=True)
    if measured:
        found["force"] = _averaged(np.array(columns["force"]), width)
        if several:
            pushes = np.maximum(found["force"], 0.0)
            found["share"] = pushes / np.maximum(pushes.sum(axis=1, keepdims=True), 1e-9)
        if observer is not None:
            found["observer"] = np.nan_to_num(observer)
    return found


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
