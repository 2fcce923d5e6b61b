"""What an update costs along a recorded trot, against another revision: ``./run bench update_costs OTHER``.

OTHER is the root of another checkout (``git worktree add``; it needs no environment of its own). Processes of both take
turns. Each follows the Go2's trot of the shared data, exact and with noise, with the whole configuration (mode, flags,
sequence; no impact set, which has a thread of its own), several times from the beginning; of each state its fastest
update counts; times are also told as multiples of ``pinocchio.computeAllTerms`` of the same robot in that process.
Predictions of three recordings, with their impact sets, are compared to the bit; ``--same`` demands it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDINGS = ("trot_inplace", "trot_slippery", "drop_01")
_PASSES, _TURNS = 4, 3
_SETS_EVERY = 10  # states


def states(name: str, count: int, noisy: bool) -> list[Any]:
    """The first states of a recording; noise as in docs/landings_ahead.md: 1 mm, 2 mrad, 2 cm/s, 0.05 rad/s."""
    import numpy as np

    from hybrid_contact_ros import RobotState

    with np.load(ROOT.parent / "shared" / "data" / "go2_mujoco" / f"{name}.npz", allow_pickle=False) as data:
        time, q, v, tau = (data[key][:count].astype(np.float64) for key in ("time", "q", "v", "tau"))
    if noisy:
        rng = np.random.default_rng(3)
        q[:, :3] += 1e-3 * rng.normal(size=q[:, :3].shape)
        q[:, 3:] += 2e-3 * rng.normal(size=q[:, 3:].shape)
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
        v[:, :3] += 0.02 * rng.normal(size=v[:, :3].shape)
        v[:, 3:] += 0.05 * rng.normal(size=v[:, 3:].shape)
    effort = np.hstack((np.zeros((len(tau), 6)), tau))
    return [RobotState(round(1e9 * time[k]), q[k], v[k], effort[k]) for k in range(len(time))]


def set_bits(found: Any) -> bytes:
    """Everything that an impact set says, as bytes."""
    if found is None:
        return b""
    values = ((name, getattr(found, name)) for name in type(found).__slots__ if name != "after_each")
    own = [value.tobytes() if hasattr(value, "tobytes") else repr((name, value)).encode() for name, value in values]
    return b"".join([*own, *map(set_bits, found.after_each)])


def bits(prediction: Any) -> bytes:
    """Everything that an update says, as bytes."""
    mode, flags = prediction.mode, prediction.stability
    parts = [mode.floats.tobytes(), mode.octets.tobytes(), repr((mode.residual, mode.validity)).encode()]
    parts += [array.tobytes() for array in (mode.sequence.contact, mode.sequence.kind, mode.sequence.times)]
    parts += [array.tobytes() for array in flags.pairs]
    return b"".join([*parts, repr(prediction.events).encode()])


def serve(count: int) -> None:
    """The worker: a line of JSON with what it measured, in the order exact, noisy."""
    import numpy as np
    import pinocchio

    from hybrid_contact_ros import ContactEstimator, EstimatorConfig, Parts, RigidBodyModel
    from hybrid_contact_ros.mechanics.example_data import example_urdf

    config = EstimatorConfig.from_file(Path(os.environ["REVISION"]) / "config" / "go2.yaml")
    # Without a deadline, a set does not depend on the time that others leave it.
    config = replace(config, impact=replace(config.impact, deadline=0.0, samples=64))
    model = RigidBodyModel.from_urdf(example_urdf("go2_description/urdf/go2.urdf"), config)
    estimator = ContactEstimator(model, config)
    parts = Parts.MODE | Parts.STABILITY | Parts.SEQUENCE
    estimator.warm()

    def all_terms() -> float:
        """µs, the fastest of several."""
        best, q, v = np.inf, model.neutral(), np.zeros(model.nv)
        for _ in range(30):
            begin = perf_counter_ns()
            for _ in range(100):
                pinocchio.computeAllTerms(model.pinocchio_model, model.pinocchio_data, q, v)
            best = min(best, 1e-5 * (perf_counter_ns() - begin))
        return float(best)

    answer: dict[str, Any] = {"unit": [all_terms()]}
    for kind in ("exact", "noisy"):
        stream = states(RECORDINGS[0], count, kind == "noisy")
        fastest = np.full(len(stream), np.inf)
        for _ in range(_PASSES):
            estimator.reset()
            for k, state in enumerate(stream):
                begin = perf_counter_ns()
                estimator.update(state, parts)
                fastest[k] = min(fastest[k], 1e-3 * (perf_counter_ns() - begin))
        answer[kind] = [float(np.median(fastest)), float(fastest.mean())]
    answer["unit"].append(all_terms())
    for name in RECORDINGS:
        for noisy in (False, True):
            estimator.reset()
            digest = hashlib.sha256()
            for k, state in enumerate(states(name, count, noisy)):
                digest.update(bits(estimator.update(state, parts)))
                digest.update(set_bits(estimator.next_impact()) if k % _SETS_EVERY == 0 else b"")
            answer[f"{name} {'noisy' if noisy else 'exact'}"] = digest.hexdigest()
    print(json.dumps(answer))


def measured(root: Path, count: int) -> dict[str, Any]:
    """By a process of that revision."""
    environment = dict(os.environ, REVISION=str(root), PYTHONPATH=str(root))
    code = f"import runpy; runpy.run_path({__file__!r})['serve']({count})"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=root, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench update_costs", description="Updates, against another revision.")
    parser.add_argument("other", type=Path, help="root of another checkout")
    parser.add_argument("--states", type=int, default=2000, help="of each recording (default 2000)")
    parser.add_argument("--turns", type=int, default=_TURNS, help="of both revisions (default 3)")
    parser.add_argument("--same", action="store_true", help="fail unless both predict the same to the bit")
    chosen = parser.parse_args()
    if not (chosen.other / "hybrid_contact_ros").is_dir():
        parser.error(f"{chosen.other} is no checkout of this repository")
    roots = (ROOT, chosen.other.resolve())
    found: list[list[dict[str, Any]]] = [[], []]
    for turn in range(chosen.turns):
        for i in (0, 1) if turn % 2 else (1, 0):
            found[i].append(measured(roots[i], chosen.states))
    # The fastest turn of each: what others do on the machine only ever makes a process slower.
    unit = min(min(one["unit"]) for side in found for one in side)
    print(f"computeAllTerms: {unit:.2f} µs")
    print("| trot | | here: µs (in units) | before | more, in units |")
    print("|---|---|---|---|---|")
    for kind in ("exact", "noisy"):
        for k, name in enumerate(("median", "mean")):
            here, before = (min(one[kind][k] for one in side) for side in found)
            sizes = (
                f"{here:.1f} ({here / unit:.1f}) | {before:.1f} ({before / unit:.1f}) | {(here - before) / unit:+.2f}"
            )
            print(f"| {kind} | {name} | {sizes} |")
    different = [key for key in found[0][0] if " " in key and found[0][0][key] != found[1][0][key]]
    print("predictions differ: " + ", ".join(different) if different else "predictions are the same to the bit")
    if chosen.same and different:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
