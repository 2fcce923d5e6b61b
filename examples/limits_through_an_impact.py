"""An arm strikes a table as fast as it may. Which joint velocities does the impact leave it with?

A quadratic program chooses the joint velocities of a Panda whose tool is to move down at 1.2 m/s. It keeps the URDF's
limits, and knows nothing of the impact: the wrist is thrown to twice its limit, as MuJoCo shows. The impact-aware one
(Wang, Dehio, Tanguy, Kheddar: Impact-aware task-space quadratic-programming control, IJRR 2023) keeps |v| + |Δv| within
the limits, with the largest |Δv| over the predicted set (``joint_jump``), which grows with the speed of the approach.
"""

import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
from scipy.optimize import minimize

from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel, RobotState
from hybrid_contact_ros.demo.physics import add_floor, contact_law, fixed_robot, robot_geom
from hybrid_contact_ros.mechanics.example_data import example_urdf

SPEED, STEP = 1.2, 0.001  # m/s down; s, of the controller
START, FINGERS = np.array([-0.1, 0.2, 0.0, -2.0, 0.4, 2.6, 0.8]), ("panda_finger_joint1", "panda_finger_joint2")  # rad
urdf = example_urdf("panda_description/urdf/panda.urdf").read_text()
tool = {"link": "panda_hand", "points": [0.0, 0.0, 0.11], "radius": 0.02, "friction": 0.5, "restitution": 0.25}
options = {"floating_base": False, "locked_joints": list(FINGERS), "environments": {"ground": {"offset": 0.1}}}
impact = {"deadline": 0.0, "restitution_margin": 0.2}
config = EstimatorConfig.from_mapping({**options, "contacts": {"tool": tool}, "impact": impact})
arm = RigidBodyModel.from_urdf(urdf, config)
estimator = ContactEstimator(arm, config)
limits = {j.get("name"): j.find("limit") for j in ElementTree.fromstring(urdf).iter("joint")}
LIMIT = np.array([float(limits[name].get("velocity")) for name in arm.joint_names])  # rad/s

spec = fixed_robot(urdf, FINGERS, step=1e-4, balanceinertia="false")
add_floor(spec, contact_law(0.5))
spec.geom("floor").pos = [0.0, 0.0, 0.1]
ball = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [0.02, 0, 0], "pos": tool["points"]}
spec.body("panda_hand").add_geom(name="tool", **ball, **robot_geom(contact_law(0.5)))
physics = spec.compile()


def choose(rows, both, guess):
    """The v (7,) whose tool velocity ``rows @ v`` is nearest to the task, while ``both @ v`` (14,) keeps the limits."""
    H, f = rows.T @ rows + 1e-4 * np.eye(7), rows.T @ [-SPEED, 0.0, 0.0]
    kept = {"type": "ineq", "fun": lambda x: np.tile(LIMIT, 2) - both @ x, "jac": lambda x: -both}
    task = {"fun": lambda x: 0.5 * x @ H @ x - f @ x, "jac": lambda x: H @ x - f}
    return minimize(x0=guess, constraints=kept, method="SLSQP", options={"ftol": 1e-10}, **task).x


def strike(aware):
    """Move down until the tool touches. Returns its speed (m/s), and the largest |v| over its limit of each joint."""
    q, v, one, data = START.copy(), np.zeros(7), np.eye(7), mujoco.MjData(physics)
    while (problem := arm.problem(RobotState(0, q, v))).gap[0] > 0.0:
        rows = problem.jacobian()
        v = choose(rows, np.vstack([one, -one]), v)
        for _ in range(3 if aware else 0):  # how the jump grows with the approach depends on the direction of v
            jump = estimator.impact(RobotState(0, q, v), contacts=[0]).joint_jump
            growth = np.outer(jump / (rows[0] @ v), rows[0])  # |Δv| = growth @ v
            v = choose(rows, np.vstack([one + growth, growth - one]), v)
        q = arm.integrate(q, STEP * v)
    data.qpos[:], data.qvel[:], fastest = q, v, np.zeros(7)
    while data.time < 0.01:  # without feedback
        mujoco.mj_forward(physics, data)
        data.qfrc_applied[:] = data.qfrc_bias
        mujoco.mj_step(physics, data)
        fastest = np.maximum(fastest, np.abs(data.qvel))
    return -float(rows[0] @ v), fastest / LIMIT


(speed, thrown), (slower, kept) = strike(aware=False), strike(aware=True)
if __name__ == "__main__":
    print(f"touching at {speed:.2f} m/s throws {arm.joint_names[thrown.argmax()]} to {thrown.max():.2f} of its limit")
    print(f"with the jump in the program it touches at {slower:.2f} m/s, and {kept.max():.2f} of a limit is reached")
