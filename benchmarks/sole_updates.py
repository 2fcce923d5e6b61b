"""Updates of humanoids on two flat soles: ``./run bench sole_updates [--against ROOT]``.

Robots of example-robot-data at 500 Hz, with measured efforts and the noise of sensors: one stands and sways ("stands"),
one steps in place ("steps"), and one lifts a foot without having shifted its weight ("tips"). Thread time of whole
updates (mode, sequence and flags), and what the answers lack. ROOT is another checkout that ``./run setup`` has set up:
the same states there, in alternation.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
# By its path: another checkout, whose worker runs this file, need not have it.
_SOLES = runpy.run_path(str(Path(__file__).with_name("soles.py")))
ROBOTS, Worker, sole = (_SOLES[name] for name in ("ROBOTS", "Worker", "sole"))
RATE = 500.0  # Hz
STATES = 400  # of each motion, half a period
TURNS = 2  # of every state, of which the fastest counts
PERIOD = 1.6  # s, of a shift of the weight from one sole to the other and back, and of two steps
POINTS = (4, 8, 12)  # of each sole
MOTIONS = ("stands", "steps", "tips")
HOLDS, FAILS, CUT, VALID_SEQUENCE = 1, 2, 3, 64
AIR = 0.7  # a sole is in the air where the sine of the phase is above
LIFT = 0.5  # m, times the square of how far above
REACH = {"stands": 0.5, "steps": 1.0, "tips": 0.0}  # of the point that bears the robot, over half the soles' distance
# Standard deviations: joint angles (rad) and rates, base velocity (m/s, rad/s), and efforts, of which it is a part.
NOISE = {"joint": 1e-4, "rate": 5e-3, "base": 1e-3, "effort": 0.02}
BENT = {
    "iCub": {f"{s}_{name}": x for s in "lr" for name, x in (("hip_pitch", 0.3), ("knee", -0.6), ("ankle_pitch", -0.3))}
}
LEGS = {
    "Talos": [[f"leg_{side}_{i}_joint" for i in range(1, 7)] for side in ("left", "right")],
    "iCub": [
        [f"{side}_{name}" for name in ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")]
        for side in "lr"
    ],
}


def reach(model, data, frame: int, goal, leg: list[int], q: np.ndarray) -> None:
    """Move the joints of one leg, entries of q, until its frame is at the goal."""
    import pinocchio

    for _ in range(12):
        pinocchio.computeJointJacobians(model, data, q)
        pinocchio.updateFramePlacements(model, data)
        error = pinocchio.log6(data.oMf[frame].actInv(goal)).vector
        J = pinocchio.getFrameJacobian(model, data, frame, pinocchio.LOCAL)[:, [i - 1 for i in leg]]
        q[leg] += J.T @ np.linalg.solve(J @ J.T + 1e-8 * np.eye(6), error)


def states(robot: str, points: int, motion: str):
    """(model, configuration, states) of a robot that stands or steps."""
    import pinocchio

    from hybrid_contact_ros import EstimatorConfig, RigidBodyModel, RobotState
    from hybrid_contact_ros.config import Contact
    from hybrid_contact_ros.mechanics.example_data import example_urdf

    urdf, links, size, posture = ROBOTS[robot]
    posture = {**posture, **BENT.get(robot, {})}
    contacts = {link: Contact(link=link, points=sole(points, size)) for link in links}
    config = EstimatorConfig(floating_base=True, contacts=contacts)
    model = RigidBodyModel.from_urdf(example_urdf(urdf), config)
    names = list(model.joint_names)
    rest = np.zeros(model.nq)
    rest[6] = 1.0
    for joint, angle in posture.items():
        rest[7 + names.index(joint)] = angle
    rest[2] = -model.problem(RobotState(0, rest, np.zeros(model.nv))).gap.min()
    data, frames = model.pinocchio_model.createData(), [model.pinocchio_model.getFrameId(link) for link in links]
    legs = [[7 + names.index(joint) for joint in leg] for leg in LEGS[robot]]
    pinocchio.framesForwardKinematics(model.pinocchio_model, data, rest)
    feet = [data.oMf[frame].copy() for frame in frames]
    middle = 0.5 * (feet[0].translation + feet[1].translation)
    rest[0] += middle[0] - pinocchio.centerOfMass(model.pinocchio_model, data, rest)[0]
    across = feet[0].translation[1] - feet[1].translation[1]
    half, side = 0.5 * abs(across), np.sign(across)
    rate = 2.0 * np.pi / PERIOD

    def posture_at(t: float, q: np.ndarray):
        """Configuration near q, and which soles are on the ground."""
        phase = np.sin(rate * t)
        lift = np.zeros(2)
        if motion != "stands":
            lift = LIFT * np.maximum(np.array([phase, -phase]) - AIR, 0.0) ** 2
        q = np.r_[rest[:7], q[7:]]
        # The point that bears the robot moves from one sole to the other, ahead of the centre of mass.
        q[1] -= REACH[motion] * half / (1.0 + rest[2] * rate**2 / 9.81) * phase * side
        for frame, foot, up, leg in zip(frames, feet, lift, legs, strict=True):
            reach(model.pinocchio_model, data, frame, pinocchio.SE3(np.eye(3), np.r_[0.0, 0.0, up]) * foot, leg, q)
        return q, lift < 1e-5

    rng = np.random.default_rng(0)
    found, h = [], 1.0 / RATE
    for i in range(STATES):
        t = i * h
        (q, stands), (before, _), (after, _) = (posture_at(t + dt, rest) for dt in (0.0, -h, h))
        v = pinocchio.difference(model.pinocchio_model, before, after) / (2.0 * h)
        steps = [pinocchio.difference(model.pinocchio_model, *pair) for pair in ((before, q), (q, after))]
        a = (steps[1] - steps[0]) / h**2
        problem = model.problem(RobotState(0, q, v))
        share = 0.5 - 0.49 * REACH[motion] * np.sin(rate * t)
        weight = np.repeat(stands * np.array([share, 1.0 - share]), 3 * points)  # of each force in the least squares
        tau = pinocchio.rnea(model.pinocchio_model, data, q, v, a)
        J = problem.jacobian()
        force = weight * np.linalg.lstsq((J[:, :6] * weight[:, None]).T, tau[:6], rcond=None)[0]
        effort = tau - J.T @ force
        effort *= 1.0 + NOISE["effort"] * rng.normal(size=model.nv)
        effort[:6] = 0.0
        moved = np.r_[rng.normal(size=6) * 0.2, rng.normal(size=model.nv - 6)] * NOISE["joint"]
        v = v + np.r_[np.full(6, NOISE["base"]), np.full(model.nv - 6, NOISE["rate"])] * rng.normal(size=model.nv)
        found.append(RobotState(round(1e9 * t), model.integrate(q, moved), v, effort))
    return model, config, found


def measure(robot: str, points: int, motion: str) -> dict[str, object]:
    """µs of each update, and which part of them lacks what; parts of the flags are those of closed contacts."""
    from hybrid_contact_ros import ContactEstimator, Parts

    model, config, stream = states(robot, points, motion)
    estimator = ContactEstimator(model, config)
    parts = Parts.MODE | Parts.SEQUENCE | Parts.STABILITY
    estimator.warm()
    times = np.full(len(stream), np.inf)
    for _ in range(TURNS):
        estimator.reset()
        answers = []
        for i, state in enumerate(stream):
            begin = time.thread_time_ns()
            answers.append(estimator.update(state, parts))
            times[i] = min(times[i], 1e-3 * (time.thread_time_ns() - begin))
    flags = np.concatenate([x.stability.bounded_time_stability[x.mode.closed] for x in answers])
    return {
        "times": times.tolist(),
        "no mode": float(np.mean([not x.mode.residual <= 1e-8 for x in answers])),
        "no sequence": float(np.mean([not x.mode.validity & VALID_SEQUENCE for x in answers])),
        "decided": float(np.mean((flags == HOLDS) | (flags == FAILS))),
        "cut": float(np.mean(flags == CUT)),
    }


def serve() -> None:
    """The worker: a JSON line with what :func:`measure` found for each line (a case) of standard input."""
    for line in sys.stdin:
        print(json.dumps(measure(*json.loads(line))), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="root of another checkout")
    against = parser.parse_args().against
    roots = [ROOT] if against is None else [ROOT, against.resolve()]
    workers = [Worker(root, __file__) for root in roots]
    print("µs p50, p99; % of states without a mode, without a whole sequence; % of releases decided, cut"
          + ("; in brackets the other checkout" if against else ""))  # fmt: skip
    for robot in ROBOTS:
        for points in POINTS:
            for motion in MOTIONS:
                line = f"{robot:<6}2 × {points:<3}{motion:<7}"
                for k, worker in enumerate(workers):
                    found = worker.measure(robot, points, motion)
                    shares = [100.0 * found[name] for name in ("no mode", "no sequence", "decided", "cut")]
                    cells = "{:6.0f} {:6.0f}".format(*np.percentile(found["times"], (50, 99)))
                    cells += "".join(f"{x:6.1f}" for x in shares)
                    line += cells if k == 0 else f"  ({cells})"
                print(line, flush=True)
    for worker in workers:
        worker.close()


if __name__ == "__main__":
    main()
