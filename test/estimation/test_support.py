"""An arm at rest above a table touches nothing, however still it is; legs on test stands and floating robots stand."""

from dataclasses import replace

import pytest

from helpers.arms import ARMS, arm, waved
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.config_engine import ActivationConfig
from hybrid_contact_ros.estimation.support import shared_weight, stands, suited, weight
from hybrid_contact_ros.mechanics.model import RigidBodyModel

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
