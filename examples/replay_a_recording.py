"""How good were the predictions of a recording? A fall is written as a rosbag2, replayed, and scored.

``replay_bag`` runs the live node's engine over a recording and compares its predictions with what is known of the
contacts: the contact mode by F1 = 2 TP / (2 TP + FP + FN), and the touchdown times foretold 10, 20 and 50 ms ahead.
Here a simulated cube falls flat onto a board without bouncing, so that the truth is known: it lands at √(2 h/g).
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hybrid_contact_ros import (
    EstimatorConfig,
    Recording,
    RigidBodyModel,
    RobotState,
    replay_bag,
    simulate,
    write_recording,
)

CONFIG = Path(__file__).resolve().parent.parent / "config"
URDF = (CONFIG / "cube.urdf").read_text()
HEIGHT = 0.1  # m, of the fall

config = EstimatorConfig.from_file(CONFIG / "cube.yaml")
plastic = {name: replace(contact, restitution=0.0) for name, contact in config.contacts.items()}
config = replace(config, contacts=plastic)
model = RigidBodyModel.from_urdf(URDF, config)

start = model.neutral()
start[2] += HEIGHT - model.problem(RobotState(0, start, np.zeros(6))).gap.min()
execution = simulate(model, start, np.zeros(6), t_final=0.3)
times = np.arange(0.0, 0.3, 0.002)  # s: 500 Hz
states = [execution.at(time) for time in times]
q, v = (np.array(column) for column in zip(*states, strict=True))
closed = np.array([model.problem(RobotState(0, *state)).gap < 1e-6 for state in states])  # (n, 8): the truth

recording = Recording(
    times,
    position=q[:, :3],
    quaternion=q[:, 3:],
    linear=v[:, :3],
    angular=v[:, 3:],
    contacts=model.contact_names,
    frames=model.contact_frames,
    closed=closed,
    urdf=URDF,
)
with TemporaryDirectory() as folder:
    bag = Path(folder) / "fall.mcap"
    write_recording(recording, bag)
    result = replay_bag(bag, config, truth="truth/contact_mode")
scores = result.scores
f1 = scores.overall.f1
touchdown_error = max(timing.p95 for timing in scores.touchdown)  # s; the truth is known at 500 Hz only
wrong = sum(timing.false + timing.missed for timing in scores.touchdown)
landing = execution.events[0].time

if __name__ == "__main__":
    print(f"{result.states} states are replayed; the cube lands at {landing:.6f} s")
    print(f"F1 of the contact mode: {f1:.4f}; touchdowns are {1e3 * touchdown_error:.2f} ms off, {wrong} wrong")
