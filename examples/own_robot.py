"""One's own robot, from its URDF: when will its foot touch the ground, and what does it carry then?

A monopod falls while a controller holds its leg. The ContactEstimator gets its simulated states one by one, as it gets
those of /joint_states and /odom in the node. The time to touchdown solves φ + φ̇ t + φ̈ t²/2 = 0, where φ̈ comes from the
forces of the present contact mode, Johnson, Burden, Koditschek (2016), equation (38); in free fall it is √(2 h/g).
"""

import numpy as np

from hybrid_contact_ros import (
    ContactEstimator,
    ContactStatus,
    EstimatorConfig,
    EventKind,
    RigidBodyModel,
    RobotState,
    simulate,
)

URDF = """<robot name="monopod">
  <link name="body"><inertial><mass value="6"/>
    <inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="shank"><inertial><mass value="0.5"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="knee" type="prismatic"><parent link="body"/><child link="shank"/>
    <origin xyz="0 0 -0.5"/><axis xyz="0 0 1"/><limit lower="-0.2" upper="0.2" effort="300" velocity="9"/></joint>
</robot>"""
HEIGHT = 0.05  # m, of the foot at the start

config = EstimatorConfig.from_mapping({"contacts": {"foot": {"link": "shank", "radius": 0.02, "friction": 0.7}}})
model = RigidBodyModel.from_urdf(URDF, config)  # or the path of a file


def hold(time, q, v, mode):
    """The leg's force (N): a spring and a damper."""
    return [-3000.0 * q[7] - 120.0 * v[6]]


start = model.neutral()  # position, quaternion (x, y, z, w), knee: Pinocchio's order
start[2] = 0.5 + 0.02 + HEIGHT
execution = simulate(model, start, np.zeros(model.nv), t_final=1.0, effort=hold)

estimator = ContactEstimator(model, config)
foretold = []  # touchdown times, s, each as it was predicted while the foot was in the air
STEP = 0.002  # s
for time in np.arange(0.0, 1.0, STEP):
    q, v = execution.at(time)
    effort = np.concatenate((np.zeros(6), hold(time, q, v, None)))
    prediction = estimator.update(RobotState(stamp_ns=round(1e9 * time), q=q, v=v, effort=effort))
    mode = prediction.mode
    if mode.next_event[0] == EventKind.TOUCHDOWN and time < execution.events[0].time:
        # What is foretold is the first state that will show the touch: on average half a step after it.
        foretold.append(time + mode.time_to_event[0] - 0.5 * STEP)

touchdown = execution.events[0].time  # s
touchdown_by_hand = np.sqrt(2 * HEIGHT / 9.81)
worst_error = max(abs(time - touchdown) for time in foretold)  # s
weight_carried = mode.force_model[0, 2]  # N, in the end

if __name__ == "__main__":
    print(f"the foot touched at {touchdown:.6f} s, by hand {touchdown_by_hand:.6f} s")
    print(f"{len(foretold)} predictions of it were off by {worst_error:.1e} s at most")
    print(f"in the end it is {ContactStatus(mode.status[0]).name.lower()} and carries {weight_carried:.4f} N")
