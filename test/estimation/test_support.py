"""An arm at rest above a table touches nothing, however still it is; legs on test stands and floating robots stand."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.config_engine import ActivationConfig
from hybrid_contact_ros.estimation.support import shared_weight, stands, suited, weight
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

ARMS = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0", [0.0, -1.2, 1.9, -2.27, -1.57, 0.0]),
    "xarm": ("xarm_description/urdf/xarm7.urdf", "link_eef", [0.0, 0.2, 0.0, 1.4, 0.0, 1.2, 0.0]),
}
LEG = """<robot name="leg">
  <link name="base"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="body"><inertial><mass value="2"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="foot"><inertial><mass value="0.3"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="body"/><axis xyz="{axis}"/>
    <limit lower="-9" upper="9" effort="0" velocity="9"/></joint>
  <joint name="knee" type="revolute"><parent link="body"/><child link="foot"/><origin xyz="0 0 -0.3"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="20" velocity="9"/></joint>
</robot>"""


def estimator(name, offset, **config):
    """Of an arm above a table at the height ``offset`` (m)."""
    urdf, tip, _ = ARMS[name]
    contact = {"link": tip, "radius": 0.01, "friction": 0.3, "environment": "table"}
    given = {"floating_base": False, "environments": {"table": {"offset": offset}}, "contacts": {"tip": contact}}
    chosen = EstimatorConfig.from_mapping({**given, **config})
    return ContactEstimator(RigidBodyModel.from_urdf(example_urdf(urdf), chosen), chosen)


def height(name, q):
    return float(estimator(name, 0.0).model.problem(RobotState(0, q, np.zeros(q.size))).gap[0])


def arm(name, gap, presses=0.0, seconds=0.4, before=(), wrong=0.0, **config):
    """The mode of an arm that rests ``gap`` (m) above a table for some time, and presses with a force (N).

    ``before``: (q, v, a) of states that come first, in the air. ``wrong``: part by which efforts are too large and too
    small, joint by joint.
    """
    tip, q = ARMS[name][1], np.array(ARMS[name][2])
    engine = estimator(name, height(name, q) - gap, **config)
    robot = engine.model.pinocchio_model
    data = robot.createData()
    J = pinocchio.computeFrameJacobian(robot, data, q, robot.getFrameId(tip), pinocchio.LOCAL_WORLD_ALIGNED)[2]
    scale = 1.0 + wrong * (-1.0) ** np.arange(q.size)
    still = (q, np.zeros(q.size), np.zeros(q.size))
    for k, (at, v, a) in enumerate([*before, *[still] * round(seconds / 0.002)]):
        effort = pinocchio.rnea(robot, data, at, v, a) - (presses * J if k >= len(before) else 0.0)
        mode = engine.update(RobotState(1 + k * 2_000_000, at, v, scale * effort)).mode
    return mode


def waved(name, seconds=8.0):
    """Motion of all joints in the air, which ends at rest where it began: (q, v, a) every 2 ms."""
    q = np.array(ARMS[name][2])
    lift = np.zeros(q.size)
    lift[1] = -0.3
    w = 2.0 * np.pi / seconds * np.arange(2, 2 + q.size)
    for t in np.arange(0.0, seconds, 0.002):
        s, c = np.sin(w * t), np.cos(w * t)
        e, de = np.sin(np.pi * t / seconds) ** 2, np.pi / seconds * np.sin(2.0 * np.pi * t / seconds)
        dde = 2.0 * (np.pi / seconds) ** 2 * np.cos(2.0 * np.pi * t / seconds)
        x, dx, ddx = lift + 0.15 * s, 0.15 * w * c, -0.15 * w * w * s
        yield q + e * x, de * x + e * dx, dde * x + 2.0 * de * dx + e * ddx


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("gap", [0.005, 0.04, 0.3])
def test_an_arm_that_rests_above_a_table_touches_nothing(name, gap):
    mode = arm(name, gap)
    assert not mode.closed[0]
    assert mode.probability[0] < 0.3
    assert not mode.probability_valid  # calibrated on robots that stand
    assert mode.gap[0] == pytest.approx(gap)  # no ground is learned where the tip rests


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("force", [10.0, 60.0])
def test_an_arm_that_presses_a_little_is_in_contact(name, force):
    mode = arm(name, 0.0, force)
    assert mode.closed[0]
    assert mode.force_estimate[0, 2] == pytest.approx(force, rel=0.05)


@pytest.mark.parametrize("name", ARMS)
def test_wrong_efforts_of_an_arm_are_found_while_it_moves_in_the_air(name):
    """Errors of 10 % look like forces of some newtons. What moves 1 cm and more above the table touches nothing."""
    before = list(waved(name))
    hovers = arm(name, 0.002, before=before, wrong=0.1)
    presses = arm(name, 0.0, 3.0, before=before, wrong=0.1)
    assert not hovers.closed[0] and presses.closed[0]
    assert presses.force_estimate[0, 2] == pytest.approx(3.0, abs=0.5)


def test_what_bears_the_weight_of_a_robot_decides_what_a_contact_bears(root):
    contacts = {"foot": {"link": "foot"}}
    fixed = EstimatorConfig.from_mapping({"floating_base": False, "contacts": contacts})
    upright, level = (RigidBodyModel.from_urdf(LEG.format(axis=axis), fixed) for axis in ("0 0 1", "1 0 0"))
    floating = EstimatorConfig.from_mapping({"contacts": contacts})
    free = RigidBodyModel.from_urdf(LEG.format(axis="0 0 1"), floating)
    assert stands(upright) and stands(free) and not stands(level)
    assert shared_weight(upright) == weight(upright) == pytest.approx(9.81 * 2.3)
    assert shared_weight(level) < 0.1 * weight(level)


def test_a_gap_that_was_chosen_for_opening_stays_as_it_is():
    config = EstimatorConfig.from_mapping({"floating_base": False, "contacts": {"foot": {"link": "foot"}}})
    model = RigidBodyModel.from_urdf(LEG.format(axis="1 0 0"), config)
    assert suited(model, config).activation.gap_off == pytest.approx(0.004)
    assert suited(model, replace(config, activation=ActivationConfig(gap_off=0.02))).activation.gap_off == 0.02
