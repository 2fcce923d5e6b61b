"""A Go2 lands later than planned, and tilted. What do its drives answer to the jump that is still to come?

The robot tracks a level drop from higher up. While the planned joint velocities have jumped and its own have not, the
feedback k_d (v* − v) fights an error that the impact will take away by itself. Impact-invariant control (Yang and Posa,
IROS 2021) feeds back only what no impulse changes, k_d BᵀB M (v* − v) of the joints, from shortly before impact until
plan and robot have landed: an interim mode, as of reference spreading (van Steen, van de Wouw, Saccon, ACC 2022). The
basis B comes with the predicted impact; outside of that interval both controllers are the same. MuJoCo is the robot.
"""

import mujoco
import numpy as np

from hybrid_contact_ros import ContactEstimator, EstimatorConfig, Parts, RigidBodyModel, RobotState
from hybrid_contact_ros.demo.go2_model import FOOT_NAMES, go2_model, state_of
from hybrid_contact_ros.mechanics.example_data import example_urdf

STEP, KP, KD = 0.001, 60.0, 4.0  # s, of the controller; N m/rad; N m s/rad
STANCE = np.tile([0.0, 0.75, -1.5], 4)  # rad
STRONGEST = np.tile([23.7, 23.7, 45.4], 4)  # N m, of hip, thigh and calf
MARGIN = 0.01  # s: projected from so long before a predicted touchdown until so long after the last landing
urdf = example_urdf("go2_description/urdf/go2.urdf").read_text()
feet = {name: {"link": name, "radius": 0.02, "friction": 0.7} for name in FOOT_NAMES}
config = EstimatorConfig.from_mapping({"contacts": feet, "impact": {"deadline": 0.0, "horizon": MARGIN}})
robot, physics = RigidBodyModel.from_urdf(urdf, config), go2_model(urdf)


def land(height, roll, pitch, plan=None, invariant=False):
    """Released at rest, the lowest foot at this height, track the plan, or without one hold the stance. Returns rows of
    q, v, torques, feedback of velocities (N m), number of closed feet, whether the error was projected."""
    data, estimator, basis, until, rows = mujoco.MjData(physics), ContactEstimator(robot, config), None, 0.0, []
    mujoco.mju_euler2Quat(data.qpos[3:7], np.array([roll, pitch, 0.0]), "xyz")
    data.qpos[7:] = STANCE
    mujoco.mj_kinematics(physics, data)
    data.qpos[2] = height + 0.02 - min(data.geom(name).xpos[2] for name in FOOT_NAMES)
    for k in range(340):
        now, (q, v) = k * STEP, state_of(data)
        state = RobotState(round(1e9 * now), q, v, np.r_[np.zeros(6), data.qfrc_applied[6:]])
        found = estimator.update(state, Parts.MODE | Parts.IMPACT)
        closed = int(found.mode.closed.sum())
        goal, goal_v, known, _, planned, _ = plan[k] if plan else (q, np.zeros(18), np.zeros(12), 0, 0, 0)
        if found.impact is not None:
            basis, until = found.impact.basis, now + found.impact.time_to_impact + MARGIN
        elif basis is not None and not closed == planned == 4:
            until = now + MARGIN  # one of the two has not landed yet
        error, projected = goal_v - v, invariant and now < until
        if projected:
            error = basis.T @ (basis @ (robot.problem(state).mass @ error))
        damping = KD * error[6:]
        torque = np.clip(known + KP * ((goal[7:] if plan else STANCE) - q[7:]) + damping, -STRONGEST, STRONGEST)
        rows.append((q, v, torque, damping, closed, projected))
        data.qfrc_applied[6:] = torque
        mujoco.mj_step(physics, data, round(STEP / physics.opt.timestep))
        mujoco.mj_kinematics(physics, data)
    return rows


plan = land(0.25, 0.0, 0.0)
plain, invariant = (land(0.265, 0.026, -0.017, plan, projects) for projects in (False, True))  # m, rad
peak, projected_peak = (max(np.abs(row[3]).max() for row in rows) for rows in (plain, invariant))
leaves, projected_leaves = (
    max(np.abs(row[2] - planned[2]).max() for row, planned in zip(rows, plan, strict=True))
    for rows in (plain, invariant)
)
if __name__ == "__main__":
    print(
        f"largest feedback of velocities {peak:.1f} N m, projected {projected_peak:.1f}: 1/{peak / projected_peak:.1f}"
    )
    print(f"torques leave the plan's by {leaves:.1f} N m, projected by {projected_leaves:.1f}")
    print(f"errors were projected for {sum(row[5] for row in invariant)} ms")
