"""Joint states and an inertial unit, no odometry: where is the base, and does the foot stand?

A monopod stands, bends its knee, and hops. The estimator is given its knee, and what an inertial unit on its body
measures. BaseFromLegs finds the base: attitude from the unit, height and velocity from the feet that stand, and in
flight from the accelerometer. Nodes and replays do the same with ``input.base: imu``.
"""

import numpy as np

from hybrid_contact_ros import (
    BaseFromLegs,
    ContactEstimator,
    EstimatorConfig,
    ImuMeasurement,
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
GRAVITY = np.array([0.0, 0.0, 9.81])
STEP = 0.001  # s

config = EstimatorConfig.from_mapping({"contacts": {"foot": {"link": "shank", "radius": 0.02, "friction": 0.7}}})
model = RigidBodyModel.from_urdf(URDF, config)


def hop(time, q, v, mode):
    """The leg's force (N): it carries the body, bends by 8 cm within half a second, and stretches at once."""
    wanted = 0.08 * min(time / 0.5, 1.0) if time < 0.6 else -0.02
    return [-6 * 9.81 - 6000.0 * (q[7] - wanted) - 150.0 * v[6]]


start = model.neutral()
start[2] = 0.52
execution = simulate(model, start, np.zeros(model.nv), t_final=1.2, effort=hop)

estimator, legs = ContactEstimator(model, config), BaseFromLegs(RigidBodyModel.from_urdf(URDF, config))
times = np.arange(0.0, 1.2, STEP)
height_error, wrong, before = [], [], np.zeros(model.nv)
for time in times:
    q, v = execution.at(time)
    acceleration = (v[:3] - before[:3]) / STEP + GRAVITY  # of a body that stays upright
    unit = ImuMeasurement(round(1e9 * time), q[3:7], angular_velocity=v[3:6], acceleration=acceleration)
    effort = np.concatenate((np.zeros(6), hop(time, q, v, None)))
    joints, rates = q.copy(), v.copy()
    joints[:7], rates[:6] = np.nan, np.nan  # nobody knows the base
    state = legs.with_base(RobotState(unit.stamp_ns, joints, rates, effort, imu=unit))
    mode = estimator.update(state).mode
    height_error.append(abs(state.q[2] - q[2]))
    in_the_air = q[2] + q[7] - 0.52 > 1e-4
    wrong.append(bool(mode.closed[0]) == in_the_air)
    before = v

worst_height = max(height_error)  # m
flight = [event.time for event in execution.events]  # s
wrong_for = STEP * sum(wrong)  # s

if __name__ == "__main__":
    print(f"the body was found within {1e3 * worst_height:.1f} mm of its height")
    print(f"the foot was called what it is not for {1e3 * wrong_for:.0f} ms of {times[-1]:.1f} s")
