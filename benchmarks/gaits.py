"""Simulated gaits of other robots than the demo's: true events, and what the estimator detects of them.

``./run bench gaits [ROBOT ...] [--gaits NAME ...] [--ground soft]`` prints a line for each robot, gait, and
kind of state (exact, or with the noise of ``benchmarks/estimator.py``). :func:`record` makes the arrays of one episode,
laid out as the Go2 recordings that ``benchmarks/estimator.py`` scores.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Sequence
from itertools import pairwise

import mujoco
import numpy as np
from numpy.typing import NDArray

from benchmarks.estimator import NOISE, Scores, states
from benchmarks.event_scores import KINDS, EventScores
from benchmarks.gait_controller import GAITS, GaitController
from benchmarks.simulated_robots import GROUNDS, ROBOTS, SimulatedRobot
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.demo.physics import PHYSICS_STEP
from hybrid_contact_ros.estimator import ContactEstimator, Parts

Array = NDArray[np.float64]

STEP = 0.001  # s, of control and of the recording
_LOADED = 0.002  # A force of the ground below this part of the weight counts as none.
# s: the smoothed truth has no opening that is shorter than the first, and no contact that is shorter than the second.
_SHORTEST_OPENING, _SHORTEST_CONTACT = 0.025, 0.005
_UPRIGHT = 0.5  # Cosine of the tilt at which a robot has fallen.
DURATION = {"drop": 0.8, "step": 10.0, "walk": 8.0}
_PUSH = 0.1  # s
_STAND = 0.5  # s, before a gait begins
# The gaits in which each robot stays upright.
SHOWN = {
    "go2": ("walk", "trot", "bound", "stop", "drop"),
    "anymal": ("walk", "trot", "pace", "stop", "drop"),
    "solo12": ("walk", "trot", "stop", "drop"),
    "hyq": ("walk", "trot", "pace", "bound", "stop", "drop"),
    "talos": ("step", "drop"),
}


def record(
    robot: SimulatedRobot,
    gait: str,
    seed: int = 0,
    duration: float | None = None,
    pushes: Sequence[tuple[float, Array]] = (),
) -> dict[str, Array]:
    """One episode, in n samples; the same for the same seed, which draws the tilt at its beginning.

    ``gait``: a name of :data:`~benchmarks.gait_controller.GAITS`, or ``drop``. ``pushes``: times, s, and forces on the
    trunk (3,), N, world axes, that act for 0.1 s.

    Returns:
        time (n,), s; valid_until, s. q (n, nq), v (n, nv), in the estimator's order.
        tau (n, joints), N m, acts from the sample to the next.
        foot_force (n, m, 3), N, the mean over the millisecond before. foot_contact_raw (n, m), whether the contact is
        loaded in any physics step of that millisecond; foot_contact, the same without short openings and contacts.
        foot_pos (n, m, 3), m, centres of the spheres; foot_vel (n, m, 3), m/s, of their lowest points; foot_radius, m.
        mu, the friction coefficient. q_des (joints,), kp, kd (n, joints), tau_ff (n, joints): what the drives are told.
    """
    rng = np.random.default_rng([seed, zlib.crc32(gait.encode())])
    drop = gait == "drop"
    controller = GaitController(robot, None if drop else GAITS[gait], _STAND)
    height = float(robot.data.subtree_com[1, 2])
    tilt = np.r_[rng.normal(0.0, 0.06 if drop else 0.01, 2), 0.0]
    robot.place(tilt, 0.3 * height if drop else 0.0)
    data, model = robot.data, robot.model
    least = _LOADED * robot.mass * 9.81
    substeps = round(STEP / PHYSICS_STEP)
    rows: dict[str, list[Array]] = {k: [] for k in ("time", "q", "v", "tau", "force", "raw", "pos", "vel", "kp", "kd")}
    raw, force = np.zeros(robot.geoms.size, dtype=bool), np.zeros((robot.geoms.size, 3))
    landed = None
    for _ in range(round((duration or DURATION.get(gait, 6.0)) / STEP)):
        mujoco.mj_forward(model, data)
        if drop and landed is None and raw.any():
            landed = data.time
        airborne = drop and (landed is None or data.time < landed + 0.15)
        jacobians = robot.point_jacobians()
        tau = controller.falling() if airborne else controller.torques(data.time + 1e-9, jacobians)
        q, v = robot.state()
        for name, value in zip(
            rows,
            (np.float64(data.time), q, v, tau[robot.joints], force, raw, data.geom_xpos[robot.geoms].copy(),
             jacobians @ data.qvel, controller.stiffness[robot.joints], controller.damping[robot.joints]),
            strict=True,
        ):  # fmt: skip
            rows[name].append(value)
        if robot.rotation[2, 2] < _UPRIGHT:
            break
        data.qfrc_applied[:] = tau
        data.xfrc_applied[1, :3] = sum((f for t, f in pushes if t <= data.time < t + _PUSH), np.zeros(3))
        raw, force = np.zeros(robot.geoms.size, dtype=bool), np.zeros((robot.geoms.size, 3))
        for _ in range(substeps):
            mujoco.mj_step(model, data)
            now = robot.forces()
            raw |= now[:, 2] > least
            force += now / substeps
    arrays = {k: np.array(x) for k, x in rows.items()}
    raw_contact = arrays["raw"]
    return {
        "time": arrays["time"],
        "q": arrays["q"],
        "v": arrays["v"],
        "tau": arrays["tau"],
        "foot_force": arrays["force"],
        "foot_contact_raw": raw_contact,
        "foot_contact": smoothed(raw_contact),
        "foot_pos": arrays["pos"],
        "foot_vel": arrays["vel"],
        "foot_radius": np.float64(robot.radius),
        "valid_until": arrays["time"][-1],
        "mu": np.float64(robot.friction),
        "q_des": robot.posture,
        "kp": arrays["kp"],
        "kd": arrays["kd"],
        "tau_ff": arrays["tau"]
        - arrays["kp"] * (robot.posture - arrays["q"][:, 7:])
        + arrays["kd"] * arrays["v"][:, 6:],
    }


def smoothed(raw: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Contacts (n, m) without openings of less than 25 ms, and then without contacts of less than 5 ms."""
    found = raw.copy()
    for column in found.T:
        for value, shortest in ((False, _SHORTEST_OPENING), (True, _SHORTEST_CONTACT)):
            edges = np.flatnonzero(np.diff(column)) + 1
            for first, end in pairwise(edges):
                if column[first] == value and (end - first) * STEP < shortest:
                    column[first:end] = not value
    return found


def score(robot: SimulatedRobot, data: dict[str, Array], noisy: bool) -> tuple[Scores, EventScores]:
    """What the estimator makes of an episode, a state each millisecond."""
    estimator = ContactEstimator(robot.rigid, robot.config)
    answers = [estimator.update(state, Parts.MODE) for state in states(robot.rigid, data, NOISE if noisy else None)]
    modes, events = Scores(), EventScores()
    modes.add(data, answers)
    events.add(data, answers)
    return modes, events


def main() -> None:
    parser = argparse.ArgumentParser(description="Contact events of simulated gaits: true, told, missed, false.")
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help=f"of {', '.join(ROBOTS)}; without any, all")
    parser.add_argument("--gaits", nargs="*", help="those that the robot shows; without it, all of them")
    parser.add_argument("--ground", default="stiff", choices=sorted(GROUNDS))
    parser.add_argument("--predictions", action="store_true", help="a second table: predictions within their bounds")
    chosen = parser.parse_args()
    print("counts: true/told/missed/false; delay: median (95 %) from the event to the state that tells it, ms")
    print("| robot | gait | states | touchdown | delay | liftoff | delay | slip | stick | F1 | Brier |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    told = []
    for name in chosen.robots or ROBOTS:
        robot = SimulatedRobot(name, chosen.ground)
        for gait in SHOWN[name]:
            if chosen.gaits and gait not in chosen.gaits:
                continue
            data = record(robot, gait)
            for noisy in (False, True):
                modes, events = score(robot, data, noisy)
                kind = "noise" if noisy else "exact"
                down, up = EventKind.TOUCHDOWN, EventKind.LIFTOFF
                cells = (name, gait, kind, events.counts(down), events.delay(down), events.counts(up),
                         events.delay(up), events.counts(EventKind.SLIP), events.counts(EventKind.STICK),
                         f"{modes.f1:.4f}", f"{modes.brier_score:.4f}")  # fmt: skip
                print("| " + " | ".join(cells) + " |", flush=True)
                told.append((name, gait, kind, *(events.reliability(k) for k in KINDS)))
    if chosen.predictions:
        print("\npredictions that came true within their bounds, of those told, and the mean confidence said")
        print("| robot | gait | states | touchdown | liftoff | slip | stick |\n|---|---|---|---|---|---|---|")
        for row in told:
            print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
