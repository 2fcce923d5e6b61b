"""``./run bench friction``: do bounds of μ hold, how wide are they, and how early and how often is a slip warned of?

Recordings of robots on ground of known μ, which the configuration (0.7 or 0.8) has wrong: gaits on slippery ground and
on ground that is slippery under some feet, and robots that stand while their trunk is pulled until their feet slip.
*Bounds*, of closed contacts after an eighth of the recording: share for which the lower bound is below μ, the upper one
above it; medians of both over μ; share of states with an upper bound. *Slips*: the true ratio of a foot that bears a
quarter of its share reaches 0.95 μ, for 3 ms, after at least 30 ms below 0.8 μ. A warning is false if 0.9 μ is not
reached from 5 ms before its beginning to 100 ms after. The first slip of a foot, before which nothing can be known, is
counted apart.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import benchmarks.gaits as gaits
from benchmarks.estimation_scores.sources import CACHE
from benchmarks.estimator import NOISE, ROOT, go2, states
from benchmarks.gait_controller import Gait
from benchmarks.landing_sets.sources import SHARED
from benchmarks.simulated_robots import SimulatedRobot
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]

VERSION = 1
STEP = 0.001  # s
_LOADED, _CALM, _LIMIT, _NEAR, _SLIPS = 0.25, 30, 0.95, 0.9, 3
_BEFORE, _AFTER, _APART = 200, 100, 50  # states
# Robot, gait and μ, of all feet or of each.
CASES: tuple[tuple[str, str, tuple[float, ...]], ...] = (
    ("anymal", "trot", (0.2,)), ("anymal", "trot", (0.35,)), ("anymal", "trot", (0.25, 0.7, 0.7, 0.25)),
    ("go2", "trot", (0.6,)), ("go2", "walk", (0.6, 0.2, 0.6, 0.6)), ("solo12", "trot", (0.35,)),
    ("hyq", "trot", (0.6,)),
    ("anymal", "pull", (0.2,)), ("go2", "pull", (0.2,)), ("solo12", "pull", (0.2,)), ("hyq", "pull", (0.2,)),
    ("anymal", "pace", (0.3,)), ("hyq", "bound", (0.3,)), ("go2", "bound", (0.3,)), ("talos", "step", (0.4,)),
    ("talos", "pull", (0.2,)),
)  # fmt: skip
LEFT_OUT = 11
"""Cases from this one on were recorded after all constants had been chosen."""


def pulls(robot: SimulatedRobot, friction: float, duration: float) -> list[tuple[float, Array]]:
    """Forces on the trunk, in pieces of 10 ms, that grow for 0.4 s to 1.35 μ of the weight, every third to 0.75 μ."""
    found = []
    for k, begin in enumerate(np.arange(0.5, duration - 0.1, 0.8)):
        angle, peak = 0.4 + np.pi * k + (0.9 if k % 4 > 1 else 0.0), (0.75 if k % 3 == 2 else 1.35)
        along = peak * friction * robot.mass * 9.81 * np.array([np.cos(angle), np.sin(angle), 0.0])
        found += [(begin + 0.01 * j, min(1.0, j / 40) * along) for j in range(50)]
    return found


def made(robot: str, gait: str, friction: tuple[float, ...], cache: Path = CACHE) -> dict[str, Array]:
    """The arrays of one recording, as of ``benchmarks.gaits.record``; from the cache if it is there."""
    path = cache / f"friction_{robot}_{gait}_{'_'.join(map(str, friction))}_{VERSION}.npz"
    if path.is_file():
        return dict(np.load(path))
    body = SimulatedRobot(robot, "stiff", max(friction))
    if len(friction) > 1:
        body.model.geom_friction[body.geoms, 0] = friction
    if gait == "pull":
        feet = len(body.feet)
        gaits.GAITS["stand"] = Gait((0.0,) * feet, 0.0, 1.0, ramp=1e-6, speed=0.0)
        lasting, gaits._PUSH = gaits._PUSH, 0.01
        data = gaits.record(body, "stand", 3, 4.5, pulls(body, friction[0], 4.5))
        gaits._PUSH = lasting
    else:
        push = (0.25 if max(friction) > 0.3 else 0.12) * body.mass * 9.81
        times = ((1.8, (0.0, 1.0)), (2.7, (1.0, 0.0)), (3.6, (0.0, -1.0)), (4.5, (-1.0, 0.0)))
        pushes = [] if robot == "talos" else [(t, push * np.array([x, y, 0.0])) for t, (x, y) in times]
        data = gaits.record(body, gait, 3, 6.0, pushes)
    data["mu"] = np.broadcast_to(np.array(friction), body.geoms.shape).copy()
    cache.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **data)  # type: ignore[arg-type]
    return data


def recordings(names: list[str]) -> Iterator[tuple[str, RigidBodyModel, EstimatorConfig, dict[str, Array]]]:
    """Name, model, configuration and arrays of those whose name contains one of ``names``."""
    for stem in ("trot_slippery", "trot_inplace"):
        path = SHARED / "data" / "go2_mujoco" / f"{stem}.npz"
        if path.is_file() and (not names or any(n in stem for n in names)):
            data = dict(np.load(path))
            data["mu"] = np.full(4, float(data["mu"]))
            yield stem, go2(), EstimatorConfig.from_file(ROOT / "config" / "go2.yaml"), data
    for k, (robot, gait, friction) in enumerate(CASES):
        name = f"{robot}_{gait}_{'/'.join(map(str, friction))}" + (" *" if k >= LEFT_OUT else "")
        if not names or any(n in name for n in names):
            body = SimulatedRobot(robot)
            yield name, body.rigid, body.config, made(robot, gait, friction)


def resultants(model: RigidBodyModel, forces: Array) -> tuple[Array, Array]:
    """Normal and tangential force (n, m), N, of the link of each contact."""
    frames = np.array(model.contact_frames)
    total = np.stack([forces[:, frames == frame].sum(axis=1) for frame in frames], axis=1)
    return total[..., 2], np.linalg.norm(total[..., :2], axis=2)


def slips(push: Array, ratio: Array, least: float) -> list[int]:
    """States at which a foot reaches its limit: ``push`` (n,), N, ``ratio`` (n,), over μ."""
    found, calm = [], 0
    for k in range(ratio.size):
        if push[k] < least:
            calm = 0
        elif ratio[k] < 0.8:
            calm += 1
        elif ratio[k] >= _LIMIT:
            lasts = (ratio[k : k + _SLIPS] >= _LIMIT).all() and (push[k : k + _SLIPS] >= least).all()
            if calm >= _CALM and lasts:
                found.append(k)
            calm = 0
    return found


def lead(warned: NDArray[np.bool_], slip: int) -> int | None:
    """States for which a slip had been warned of without a pause; None where it was not, in the last 30 of them."""
    before = np.flatnonzero(warned[max(0, slip - _BEFORE) : slip + 1][::-1])
    if before.size == 0 or before[0] > _CALM:
        return None
    breaks = np.flatnonzero(np.diff(before) > 10)
    return int(before[breaks[0] if breaks.size else -1])


def row(name: str, model: RigidBodyModel, config: EstimatorConfig, data: dict[str, Array], noisy: bool) -> str:
    estimator = ContactEstimator(model, config)
    modes = [estimator.update(s, Parts.MODE).mode for s in states(model, data, NOISE if noisy else None)]
    n, begin, mu = len(modes), len(modes) // 8, data["mu"]
    low, high = (np.array([getattr(m, f"friction_{end}") for m in modes]) for end in ("lower", "upper"))
    closed = np.array([m.closed for m in modes])
    closed[:begin] = False
    warned = np.array([m.slip_warning for m in modes])
    known = np.isfinite(high) & closed
    push, held = resultants(model, data["foot_force"][:n])
    least = (
        _LOADED * sum(i.mass for i in list(model.pinocchio_model.inertias)[1:]) * 9.81 / len(set(model.contact_frames))
    )
    ratio = np.where(push > 0.4 * least, held / np.maximum(push, 1e-9), 0.0) / mu
    leads: list[int | None] = []
    first, false = 0, 0
    frames = list(model.contact_frames)
    for i in (frames.index(frame) for frame in dict.fromkeys(frames)):  # the first contact of each link
        for slip in slips(push[:, i], ratio[:, i], least):
            if np.isfinite(high[slip, i]):
                leads.append(lead(warned[:, i], slip))
            else:
                first += 1
        last = -_APART
        for k in np.flatnonzero(np.diff(np.r_[0, warned[:, i].astype(int)]) == 1).tolist():
            false += int(k - last >= _APART and ratio[max(0, k - 5) : k + _AFTER, i].max() < _NEAR)
            last = k
    told = [x for x in leads if x is not None]
    wide = f"{np.median((high / mu)[known]):.2f}" if known.any() else "–"
    early = f"{np.median(told):.0f} ({np.quantile(told, 0.1):.0f})" if told else "–"
    return " | ".join((
        f"| {name}", "noise" if noisy else "exact", f"{np.mean((low <= mu)[closed]):.3f}",
        f"{np.mean((high >= mu)[closed]):.3f}", f"{np.median((low / mu)[closed]):.2f}", wide,
        f"{known.sum() / closed.sum():.2f}", f"{len(leads)} + {first}", f"{len(leads) - len(told)}", early,
        f"{false / (n * STEP / 60.0):.0f} |",
    ))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names of recordings; without any, all")
    chosen = parser.parse_args()
    print("| recording (* left out) | states | lower holds | upper holds | lower/μ | upper/μ | share with an upper one "
          "| slips known + first | not warned of | ms ahead: median (10 %) | false warnings a minute |")  # fmt: skip
    print("|" + "---|" * 11)
    for name, model, config, data in recordings(chosen.names):
        for noisy in (False, True):
            print(row(name, model, config, data, noisy), flush=True)


if __name__ == "__main__":
    main()
