"""The estimator on simulated Go2 recordings: how right it is with and without noise, and how long an update takes.

Run with ``./run bench estimator [--full] [--no-rhythm]``. It takes the drops and one trot, or with ``--full``
all recordings; ``--no-rhythm`` switches ``prediction.rhythm`` off. The recordings are ``go2_mujoco`` of the shared data
(environment variable HYBRID_CONTACT_SHARED, else ``../shared``); without them only latency is measured, on a made-up
fall. The friction coefficient is the configuration's 0.7, also where the recording was made with another: a robot does
not know better.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.event_scores import WINDOW, skimming
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import Prediction

ROOT = Path(__file__).resolve().parents[1]
HORIZONS = (0.01, 0.02, 0.05)
# Standard deviations of Gaussian noise: joint angles (rad), base position (m), base angles (rad), joint and angular
# rates (rad/s), linear base velocity (m/s), all scaled so that feet move by about 1–2 mm and 2–5 cm/s; and an offset
# (m) of the base's height.
NOISE = {"joint": 0.002, "base": 0.001, "angle": 0.002, "rate": 0.05, "velocity": 0.02, "offset": 0.0}


def go2() -> RigidBodyModel:
    home = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix")))
    urdf = home / "share/example-robot-data/robots/go2_description/urdf/go2.urdf"
    return RigidBodyModel.from_urdf(urdf, EstimatorConfig.from_file(ROOT / "config" / "go2.yaml"))


def states(model: RigidBodyModel, data: dict[str, np.ndarray], noise: dict[str, float] | None) -> list[RobotState]:
    """The recording until ``valid_until``; the torque of a sample acts from it to the next."""
    rng = np.random.default_rng(1)
    found = []
    for i in range(int(np.searchsorted(data["time"], data["valid_until"], "right"))):
        q, v = data["q"][i].copy(), data["v"][i].copy()
        if noise is not None:
            sigma = np.r_[[noise["base"]] * 3, [noise["angle"]] * 3, [noise["joint"]] * (model.nv - 6)]
            q = model.integrate(q, sigma * rng.normal(size=model.nv))
            q[2] += noise["offset"]
            v += np.r_[[noise["velocity"]] * 3, [noise["rate"]] * (model.nv - 3)] * rng.normal(size=model.nv)
        found.append(RobotState(round(float(data["time"][i]) * 1e9), q, v, np.r_[np.zeros(6), data["tau"][i]]))
    return found


class Scores:
    """Scores pooled over recordings."""

    def __init__(self) -> None:
        self.confusion = np.zeros((2, 2), dtype=np.int64)
        self.brier: list[np.ndarray] = []
        self.slip: list[np.ndarray] = []
        self.force: list[np.ndarray] = []
        self.estimate: list[np.ndarray] = []
        self.ahead: dict[str, dict[float, list[float]]] = {
            k: {h: [] for h in HORIZONS} for k in ("touchdown", "liftoff")
        }
        self.detected: dict[str, list[float]] = {"touchdown": [], "liftoff": []}
        self.missed = {"touchdown": 0, "liftoff": 0}
        self.false = {"touchdown": 0, "liftoff": 0}
        self.inside: list[bool] = []

    def add(self, data: dict[str, np.ndarray], answers: list[Prediction]) -> None:
        n = len(answers)
        truth = data["foot_contact"][:n].astype(bool)
        closed = np.array([a.mode.closed for a in answers])
        for t in (0, 1):
            for p in (0, 1):
                self.confusion[t, p] += int(((truth == t) & (closed == p)).sum())
        self.brier.append(((np.array([a.mode.probability for a in answers]) - truth) ** 2).ravel())
        loaded = truth & closed & (data["foot_force"][:n, :, 2] > 5.0)
        slips = np.linalg.norm(data["foot_vel"][:n, :, :2], axis=2) > 0.05
        says = np.array([a.mode.status for a in answers]) == 3
        self.slip.append((slips == says)[loaded])
        normal = data["foot_force"][:n, :, 2]
        self.force.append((np.array([a.mode.force_model[:, 2] for a in answers]) - normal)[loaded])
        estimate = np.array([a.mode.force_estimate[:, 2] for a in answers])
        self.estimate.append((estimate - normal)[loaded & np.isfinite(estimate)])
        self._events(data, answers, truth)

    def _events(self, data: dict[str, np.ndarray], answers: list[Prediction], truth: np.ndarray) -> None:
        clock, raw = data["time"][: len(answers)], data["foot_contact_raw"][: len(answers)].astype(bool)
        height = data["foot_pos"][: len(answers), :, 2] - float(data["foot_radius"])
        for foot in range(truth.shape[1]):
            truth[:, foot] |= skimming(truth[:, foot], height[:, foot])
            for name, kind, edge in (("touchdown", EventKind.TOUCHDOWN, 1), ("liftoff", EventKind.LIFTOFF, -1)):
                true = clock[1:][np.diff(truth[:, foot].astype(int)) == edge]
                found = np.array(
                    [
                        1e-9 * e.time_ns
                        for a in answers
                        for e in a.events
                        if e.detected and (e.contact, e.kind) == (foot, kind)
                    ]
                )
                for t in true:
                    error = np.abs(found - t).min(initial=np.inf)
                    if error <= WINDOW:
                        self.detected[name].append(error)
                    else:
                        self.missed[name] += 1
                # The smoothed truth leaves out short bounces; detecting one is no fault.
                bounces = clock[1:][np.diff(raw[:, foot].astype(int)) == edge]
                self.false[name] += sum(bool(np.abs(bounces - f).min(initial=np.inf) > WINDOW) for f in found)
                for horizon in HORIZONS:
                    for t in true[true - horizon > clock[0]]:
                        mode = answers[int(np.searchsorted(clock, t - horizon - 1e-9))].mode
                        hit = mode.next_event[foot] == kind
                        here = 1e-9 * mode.stamp_ns
                        self.ahead[name][horizon].append(abs(here + mode.time_to_event[foot] - t) if hit else np.inf)
                        if hit and kind == EventKind.TOUCHDOWN:
                            self.inside.append(
                                bool(mode.earliest[foot] <= t - here + 1e-3 and t - here <= mode.latest[foot])
                            )

    @property
    def f1(self) -> float:
        (_, fp), (fn, tp) = self.confusion
        return float(2 * tp / (2 * tp + fp + fn))

    @property
    def brier_score(self) -> float:
        return float(np.concatenate(self.brier).mean())

    def table(self) -> list[tuple[str, str]]:
        (tn, fp), (fn, tp) = self.confusion
        rows = [
            ("mode F1", f"{self.f1:.4f}"),
            ("mode accuracy", f"{(tp + tn) / self.confusion.sum():.4f}  (false closed {fp}, false open {fn})"),
            ("Brier score", f"{self.brier_score:.4f}"),
            ("stick/slip accuracy", f"{np.concatenate(self.slip).mean():.4f}"),
        ]
        for name, values in (("model", self.force), ("observer", self.estimate)):
            errors = np.abs(np.concatenate(values))
            if errors.size:
                rows.append(
                    (
                        f"normal force error, {name}",
                        f"median {np.median(errors):.1f} p95 {np.quantile(errors, 0.95):.1f} N",
                    )
                )
        for name in ("touchdown", "liftoff"):
            for horizon, errors in self.ahead[name].items():
                values = np.array(errors)
                hits = values[np.isfinite(values)]
                missed = f"{values.size - hits.size} of {values.size} missed"
                text = f"median {_ms(hits, 0.5)} p95 {_ms(hits, 0.95)} ms; {missed}"
                rows.append((f"{name} {1e3 * horizon:.0f} ms ahead", text))
            found = np.array(self.detected[name])
            counts = f"missed {self.missed[name]} false {self.false[name]}"
            text = f"median {_ms(found, 0.5)} p95 {_ms(found, 0.95)} ms; {counts}"
            rows.append((f"{name} detected", text))
        rows.append(("touchdown within its bounds", f"{np.mean(self.inside):.3f} of {len(self.inside)}"))
        return rows


def _ms(values: np.ndarray, quantile: float) -> str:
    return f"{1e3 * np.quantile(values, quantile):.2f}" if values.size else "–"


def score(estimator: ContactEstimator, files: list[Path], noise: dict[str, float] | None) -> list[tuple[str, str]]:
    scores = Scores()
    for file in files:
        data = dict(np.load(file))
        estimator.reset()
        parts = Parts.MODE
        scores.add(data, [estimator.update(state, parts) for state in states(estimator.model, data, noise)])
    return scores.table()


def latency(estimator: ContactEstimator, stream: list[RobotState]) -> None:
    for name, parts in (("mode", Parts.MODE), ("mode + flags", Parts.MODE | Parts.STABILITY), ("all", Parts.ALL)):
        estimator.reset()
        taken, with_set = [], []
        for state in stream:
            begin = time.perf_counter_ns()
            answer = estimator.update(state, parts)
            (with_set if answer.impact is not None else taken).append(time.perf_counter_ns() - begin)
        for label, values in ((name, taken), (name + ", with a set", with_set)):
            if values:
                p50, p99, p999 = np.percentile(values, (50, 99, 99.9)) / 1e3
                print(f"{label:28s} p50 {p50:7.1f}  p99 {p99:7.1f}  p99.9 {p999:7.1f} µs  ({len(values)} updates)")


def main() -> None:
    model = go2()
    config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    if "--no-rhythm" in sys.argv:
        config = replace(config, prediction=replace(config.prediction, rhythm=False))
    estimator = ContactEstimator(model, config)
    estimator.warm(freeze=True)
    shared = Path(os.environ.get("HYBRID_CONTACT_SHARED", ROOT.parent / "shared")) / "data" / "go2_mujoco"
    files = sorted(shared.glob("*.npz"))
    if not files:
        print(f"no recordings in {shared}: latency only, on a fall")
        q = model.neutral()
        q[2] = 0.6
        stream = []
        for i in range(2000):
            t = 1e-3 * (i % 200)
            height = np.r_[0, 0, -0.5 * 9.81 * t * t, np.zeros(15)]
            v = np.r_[0, 0, -9.81 * t, np.zeros(15)]
            stream.append(RobotState(i * 1_000_000, model.integrate(q, height), v, np.zeros(18)))
        latency(estimator, stream)
        return
    print("latency, Go2, one thread")
    trot = dict(np.load(shared / "trot_inplace.npz"))
    latency(estimator, states(model, trot, None)[:5000])
    if "--full" not in sys.argv:
        files = [f for f in files if f.stem.startswith("drop") or f.stem == "trot_slippery"]
    columns = []
    cases = {"exact": None, "noise": NOISE, "ground +5 mm": {**dict.fromkeys(NOISE, 0.0), "offset": -0.005},
             "ground -5 mm": {**dict.fromkeys(NOISE, 0.0), "offset": 0.005}}  # fmt: skip
    for group in ("drop", "trot"):
        chosen = [f for f in files if f.stem.startswith(group)]
        for case, noise in cases.items():
            print(f"\n{group} ({len(chosen)} recordings), {case}")
            columns.append(score(estimator, chosen, noise))
            for name, value in columns[-1]:
                print(f"  {name:30s} {value}")


if __name__ == "__main__":
    main()
