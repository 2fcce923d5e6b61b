"""``hybrid-contact configure``: the file that it drafts for robots of all kinds, which the check takes as it stands."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import yaml

from helpers.mechanics_robots import joint, link, robot
from hybrid_contact_ros.cli import main
from hybrid_contact_ros.commands.configure import _number
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf

LEGS = {
    "hyq_description/robots/hyq_no_sensors.urdf": ("lf_foot", "lh_foot", "rf_foot", "rh_foot"),
    "solo_description/robots/solo12.urdf": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "go2_description/urdf/go2.urdf": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    "b1_description/urdf/b1.urdf": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    "anymal_b_simple_description/robots/anymal.urdf": ("LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT"),
    "bolt_description/robots/bolt.urdf": ("FL_FOOT", "FR_FOOT"),
    "talos_data/robots/talos_reduced.urdf": ("left_sole_link", "right_sole_link"),
    "romeo_description/urdf/romeo.urdf": ("l_sole", "r_sole"),
    "icub_description/robots/icub.urdf": ("l_sole", "r_sole"),
    "g1_description/urdf/g1_29dof_rev_1_0.urdf": ("left_ankle_roll_link", "right_ankle_roll_link"),
}
ARMS = {
    "ur_description/urdf/ur5_robot.urdf": ["tool0"],
    "panda_description/urdf/panda.urdf": ["panda_hand_tcp"],
    "tiago_description/robots/tiago.urdf": ["arm_tool_link"],
    "tiago_description/robots/tiago_dual.urdf": ["arm_left_tool_link", "arm_right_tool_link"],
    "baxter_description/urdf/baxter.urdf": ["l_gripper_l_finger_tip", "r_gripper_l_finger_tip"],
    "kinova_description/robots/kinova.urdf": ["j2s6s200_link_finger_tip_1"],
    "z1_description/urdf/z1.urdf": ["gripperMover"],
}


def drafted(urdf, tmp_path, *arguments) -> EstimatorConfig:
    """What configure writes, after the check has taken it."""
    out = tmp_path / "robot.yaml"
    assert main(["configure", str(urdf), "--out", str(out), *arguments]) == 0
    assert main(["check", str(urdf), str(out)]) == 0
    return EstimatorConfig.from_file(out)


@pytest.mark.parametrize("robot", LEGS)
def test_a_robot_with_legs_is_drafted_with_its_feet(robot, tmp_path, capsys):
    config = drafted(example_urdf(robot), tmp_path)
    assert "no shape found" not in capsys.readouterr().out
    assert config.floating_base
    assert tuple(contact.link for contact in config.contacts.values()) == LEGS[robot]


@pytest.mark.parametrize("robot", ARMS)
def test_a_robot_with_arms_is_drafted_with_a_tool_of_each_and_a_table(robot, tmp_path, capsys):
    config = drafted(example_urdf(robot), tmp_path)
    assert "wheels" not in capsys.readouterr().err
    assert not config.floating_base and list(config.environments) == ["table"]
    assert [contact.link for contact in config.contacts.values()] == ARMS[robot]


@pytest.mark.parametrize(("trunk", "floats"), [(7.5, True), (1.0, False)])
def test_a_trunk_on_one_leg_hops_and_an_arm_that_hangs_down_does_not(trunk, floats, tmp_path):
    """An arm moves most of its mass, a hopper carries it on its leg."""
    parts = [link("trunk", trunk)]
    for j, parent in enumerate(("trunk", "leg_0", "leg_1")):
        parts += [link(f"leg_{j}", 0.5), joint(f"j{j}", parent, f"leg_{j}", at="0 0 -0.2", turned="0 0 0")]
    (tmp_path / "hopper.urdf").write_text(robot(*parts))
    assert main(["configure", str(tmp_path / "hopper.urdf"), "--out", str(tmp_path / "hopper.yaml")]) == 0
    assert EstimatorConfig.from_file(tmp_path / "hopper.yaml").floating_base == floats


def test_balls_and_soles_have_the_sizes_of_their_shapes(tmp_path):
    (tmp_path / "hyq").mkdir()
    hyq = drafted(example_urdf("hyq_description/robots/hyq_no_sensors.urdf"), tmp_path / "hyq")
    assert all(foot.radius == 0.02175 for foot in hyq.contacts.values())
    talos = drafted(example_urdf("talos_data/robots/talos_reduced.urdf"), tmp_path)
    for sole in talos.contacts.values():
        points = np.reshape(sole.points, (-1, 3))
        np.testing.assert_allclose(np.ptp(points, axis=0), [0.211, 0.124, 0.0], atol=1e-3)


def test_soles_whose_collada_files_have_another_axis_lie_along_the_feet(tmp_path, capsys):
    """The iCub's masses lie in its links only with the up_axis that its files state; TIAGo's lie there without."""
    icub = drafted(example_urdf("icub_description/robots/icub.urdf"), tmp_path)
    out, hint = capsys.readouterr()
    assert "up_axis" in hint and "overlap" not in out
    for name in ("l_sole", "r_sole"):
        points = np.reshape(icub.contacts[name].points, (-1, 3))
        np.testing.assert_allclose(np.ptp(points, axis=0), [0.156, 0.061, 0.0], atol=1e-3)
        assert points[:, 0].mean() > 0.04  # towards the toes
    assert main(["configure", str(example_urdf("tiago_description/robots/tiago.urdf"))]) == 0
    assert "up_axis" not in capsys.readouterr().err


def test_without_its_meshes_a_foot_has_to_be_measured(tmp_path, capsys):
    shutil.copy(example_urdf("talos_data/robots/talos_reduced.urdf"), tmp_path / "talos.urdf")
    assert main(["configure", str(tmp_path / "talos.urdf")]) == 0
    out = capsys.readouterr().out
    assert out.count("no shape found: measure its radius or corners") == 2 and "left_sole_link" in out


def test_links_may_be_named(tmp_path, capsys):
    arm = example_urdf("panda_description/urdf/panda.urdf")
    config = drafted(arm, tmp_path, "--contact", "panda_leftfinger", "panda_rightfinger", "--fixed-base")
    assert list(config.contacts) == ["panda_leftfinger", "panda_rightfinger"]
    assert main(["configure", str(arm), "--contact", "finger"]) == 2
    assert "no link 'finger' in the URDF; it has panda_link0" in capsys.readouterr().err


def test_a_link_whose_name_ros_would_take_apart_gets_another_name(tmp_path):
    config = drafted(example_urdf("allegro_hand_description/urdf/allegro_left_hand.urdf"), tmp_path)
    assert len(config.contacts) == 4, "the tips of three fingers and a thumb"
    for name, contact in config.contacts.items():
        assert "." in contact.link and name == contact.link.replace(".", "_")


def test_a_file_that_is_there_is_not_replaced(tmp_path, capsys):
    out = tmp_path / "mine.yaml"
    out.write_text("mine")
    robot = str(example_urdf("solo_description/robots/solo12.urdf"))
    assert main(["configure", robot, "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err and out.read_text() == "mine"


def test_wheels_are_no_feet_though_their_urdf_gives_them_limits(tmp_path, capsys):
    out = tmp_path / "c.yaml"
    urdf = example_urdf("centauro_description/urdf/centauro.urdf")
    try:
        code = main(["configure", str(urdf), "--out", str(out)])
    except SystemExit as error:
        code = int(error.code or 0)
    said = capsys.readouterr().err
    assert "wheel_1" in said
    assert code != 0 or "wheel" not in out.read_text()


def test_the_ball_at_the_tip_of_an_arm_keeps_its_radius_and_a_link_is_named_once(tmp_path, capsys):
    urdf = str(example_urdf("hyq_description/robots/hyq_no_sensors.urdf"))
    assert main(["configure", urdf, "--fixed-base"]) == 0
    radii = [line for line in capsys.readouterr().out.splitlines() if "radius" in line]
    assert radii and all("radius: 0.0," not in line for line in radii)
    assert main(["configure", urdf, "--contact", "lf_foot", "lf_foot"]) == 2
    assert "names a link twice" in capsys.readouterr().err


def test_a_foot_without_a_shape_is_to_be_measured_and_check_says_so_until_it_is(tmp_path, capsys):
    urdf, out = example_urdf("simple_humanoid_description/urdf/simple_humanoid.urdf"), tmp_path / "robot.yaml"
    drafted(urdf, tmp_path)
    said, hints = capsys.readouterr()
    assert "l_ankle: no shape found: measure its radius or corners, and write them into the file" in hints
    assert "warning: l_ankle, r_ankle: the origin of the link is taken for what touches; no shape found" in said
    out.write_text(out.read_text().replace("l_ankle, friction", "l_ankle, radius: 0.05, friction"))
    assert main(["check", str(urdf), str(out)]) == 0
    assert "warning: r_ankle: the origin" in capsys.readouterr().out
    out.write_text(out.read_text().replace("r_ankle, friction", "r_ankle, points: [0.1, 0.0, -0.1], friction"))
    assert main(["check", str(urdf), str(out)]) == 0
    assert "no shape found" not in capsys.readouterr().out


def test_a_robot_on_wheels_is_refused_and_named_links_are_taken(tmp_path, capsys):
    """Four legs that end in joints without limits: no arm has four such wrists."""
    parts = [link("trunk")]
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        for name, kind, parent, child, at in (
            (f"hip{k}", "revolute", "trunk", f"leg{k}", f"{0.2 * x} {0.2 * y} 0"),
            (f"axle{k}", "continuous", f"leg{k}", f"end{k}", "0 0 -0.5"),
        ):
            parts += [link(child), joint(name, parent, child, kind, at=at, turned="0 0 0")]
    urdf = tmp_path / "rover.urdf"
    urdf.write_text(robot(*parts))
    assert main(["configure", str(urdf)]) == 2
    assert "end in wheels (end0, end1, end2, end3)" in capsys.readouterr().err
    assert main(["configure", str(urdf), "--floating-base", "--contact", "end0", "end1"]) == 0


@pytest.mark.parametrize(("x", "text"), [(-3e-5, "-0.00003"), (0.0, "0.0"), (-1e-9, "0.0"), (0.05, "0.05"), (2, "2.0")])
def test_numbers_are_numbers_to_every_reader_of_yaml(x, text):
    assert _number(x) == text and isinstance(yaml.safe_load(text), float)


def test_wheels_at_the_end_of_the_longest_limbs_are_no_contacts_beside_arms(tmp_path, capsys):
    """Two arms of three joints, which come first in the model, over two legs of four that end in wheels."""
    parts = [link("trunk")]
    for k, y in enumerate((0.2, -0.2)):
        for limb, joints, step in ((f"arm{k}", 3, "0.3 0 0"), (f"leg{k}", 4, "0 0 -0.3")):
            parent = "trunk"
            for j in range(joints):
                kind = "continuous" if limb.startswith("leg") and j == joints - 1 else "revolute"
                at = f"0 {y} 0" if j == 0 else step
                parts += [
                    link(f"{limb}_{j}"),
                    joint(f"{limb}_j{j}", parent, f"{limb}_{j}", kind, at=at, turned="0 0 0"),
                ]
                parent = f"{limb}_{j}"
    (tmp_path / "rover.urdf").write_text(robot(*parts))
    assert main(["configure", str(tmp_path / "rover.urdf")]) == 2
    assert "end in wheels (leg0_3, leg1_3)" in capsys.readouterr().err
