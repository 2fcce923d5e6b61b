"""The files in config/ describe the robots that they are for."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from helpers.mechanics_robots import ROBOTS, ROOT, full_kinematics, load, urdf_path
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.state import RobotState

EXPECTED = {
    "go2": (19, 18, 4, True),
    "anymal": (19, 18, 4, True),
    "arm": (8, 8, 11, False),
    "cube": (7, 6, 8, True),
}


@pytest.mark.parametrize("name", sorted(ROBOTS))
def test_sizes(name):
    model = load(name)
    assert (model.nq, model.nv, model.contacts, model.floating_base) == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(ROBOTS))
def test_names_of_contacts_and_environments_are_listed_for_ros(name):
    """ROS parameters have no order and no keys: the lists of names stand beside the mappings."""
    data = yaml.safe_load((ROOT / "config" / ROBOTS[name][0]).read_text())["/**"]["ros__parameters"]
    assert data["contact_names"] == list(data["contacts"])
    assert data["environment_names"] == list(data["environments"])
    EstimatorConfig.from_mapping(data)


@pytest.mark.parametrize("name", sorted(ROBOTS))
def test_every_parameter_file_holds_types_that_ros_accepts(name):
    """Lists are of one type and not empty, and a number that is a double has its point."""

    def check(value):
        if isinstance(value, dict):
            for part in value.values():
                check(part)
        elif isinstance(value, list):
            assert value
            assert len({type(item) for item in value}) == 1
        else:
            assert isinstance(value, bool | float | str | int)

    check(yaml.safe_load((ROOT / "config" / ROBOTS[name][0]).read_text()))


def test_cube_corners_are_in_the_order_of_the_recordings(shared):
    path = shared / "data" / "cube_tosses" / "params.npz"
    if not path.exists():
        pytest.skip("params.npz is not there")
    params, cube = np.load(path), load("cube")
    p = cube.problem(RobotState(0, np.array([0.0, 0, 0, 0, 0, 0, 1]), np.zeros(6)))
    corners = params["corner_body"]
    np.testing.assert_array_equal(np.sign(cube.contact_positions), np.sign(corners))
    low = corners[:, 2] < 0  # the roundings reach to the corners' planes, not to the corners
    np.testing.assert_allclose(p.gap[low], corners[low, 2] - params["ground_z_at_rest"], atol=1e-15)
    np.testing.assert_allclose(np.diag(p.mass)[:3], params["mass"])


def test_anymal_feet_are_the_collision_spheres_of_the_urdf():
    import xml.etree.ElementTree as ElementTree

    tree = ElementTree.parse(urdf_path("anymal"))
    config = EstimatorConfig.from_file(ROOT / "config" / "anymal.yaml")
    for contact in config.contacts.values():
        sphere = tree.find(f"link[@name='{contact.link}']/collision")
        assert float(sphere.find("geometry/sphere").get("radius")) == contact.radius
        assert tuple(map(float, sphere.find("origin").get("xyz").split())) == contact.points


def test_go2_stands_on_four_feet():
    go2 = load("go2")
    joints = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
    q = go2.neutral()
    q[7:] = [joints[name.split("_")[1]] for name in go2.joint_names]
    gap = go2.problem(RobotState(0, q, np.zeros(18))).gap
    np.testing.assert_allclose(gap, gap[0], atol=1e-3)
    assert -0.35 < gap[0] < -0.25


def test_the_arm_reaches_its_table_and_its_limits():
    arm = load("arm")
    assert arm.contact_names[:3] == ("left_fingertip", "right_fingertip", "hand")
    assert arm.contact_names[-2:] == ("panda_finger_joint1_lower", "panda_finger_joint1_upper")
    ready = np.array([0, -np.pi / 4, 0, -3 * np.pi / 4, 0, np.pi / 2, np.pi / 4, 0.02])
    p = arm.problem(RobotState(0, ready, np.zeros(8)))
    tips = [
        full_kinematics(arm, ready).oMf[arm.pinocchio_model.getFrameId(f"panda_{n}finger")] for n in ("left", "right")
    ]
    np.testing.assert_allclose(p.gap[:2], [tip.translation[2] - 0.0545 for tip in tips], atol=1e-6)
    assert p.gap[2] == pytest.approx(0.75 - 0.06 - arm.contact_positions[2, 0] + 0.06, abs=1e-12)
    assert (p.gap[3:] > 0).all()
