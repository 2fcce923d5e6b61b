"""What is wrong with a URDF or a configuration is said, with what to do about it."""

from __future__ import annotations

import pytest

from helpers.mechanics_robots import joint, link, robot
from hybrid_contact_ros.config import Contact, Environment, EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel

BODY = robot(link("body"))
ARM = robot(link("base"), link("arm"), joint("shoulder", "base", "arm"))


def refused(text, says: str, **config) -> None:
    with pytest.raises(ValueError, match=says):
        RigidBodyModel.from_urdf(text, EstimatorConfig(**config))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the robot description is empty"),
        ("/nowhere/robot.urdf", "cannot read the URDF /nowhere/robot.urdf: No such file"),
        ("hello\nworld", "neither URDF text .* nor a path"),
        ("<robot name='r'><link name='a'>", "not valid XML"),
        ('<sdf version="1.9"><model name="r"/></sdf>', "not a URDF: its root element is <sdf>"),
        ('<mujoco model="r"/>', "not a URDF: its root element is <mujoco>"),
        (
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="a"/></robot>',
            "expand it first",
        ),
        ('<robot name="r"/>', "has no links"),
        (robot(link("a"), link("b")), "one root link, it has 2: a, b"),
        (robot(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")), "it has 0: a loop"),
        (
            robot(link("a"), link("b"), joint("j", "a", "b", "floating")),
            "remove it from the URDF and set floating_base",
        ),
        (robot(link("a"), link("b"), joint("j", "a", "b", "planar")), "'j' is of type 'planar'; supported are"),
        (robot(link("a"), link("b"), '<joint name="j" type="fixed"><parent link="a"/></joint>'), "no <child link=…>"),
        (robot(link("a"), link("b"), joint("j", "a", "b"), joint("k", "c", "b")), "Pinocchio cannot read|one root"),
    ],
)
def test_unreadable_descriptions(text, says):
    refused(text, says)


def test_a_binary_file_is_not_a_urdf(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(b"\xff\xfe\x00\x80")
    refused(path, "not a text file")


def test_a_file_and_its_text_make_the_same_model(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(BODY)
    models = [RigidBodyModel.from_urdf(source, EstimatorConfig()) for source in (path, str(path), BODY)]
    assert len({model.hash for model in models}) == 1


def test_leading_blanks_and_a_byte_order_mark_are_forgiven():
    for text in ("\n  " + BODY, "\ufeff" + BODY):
        assert RigidBodyModel.from_urdf(text, EstimatorConfig()).nv == 6


@pytest.mark.parametrize("floating", [True, False])
def test_moving_links_without_inertia_are_named(floating):
    text = robot(
        link("base"), link("arm"), link("hand", None), joint("shoulder", "base", "arm"), joint("wrist", "arm", "hand")
    )
    refused(text, r"joint\(s\) wrist move has inertia: give link\(s\) hand an <inertial>", floating_base=floating)


def test_a_massless_subtree_is_named_whole():
    text = robot(
        link("base"),
        link("arm", None),
        link("hand", None),
        joint("shoulder", "base", "arm"),
        joint("wrist", "arm", "hand"),
    )
    refused(text, r"shoulder, wrist move has inertia: give link\(s\) arm, hand", floating_base=False)


def test_a_floating_robot_without_any_inertia_is_refused():
    refused(robot(link("base", None)), r"give link\(s\) base an <inertial>")


def test_parallel_joints_with_no_inertia_between_them_make_a_singular_mass_matrix():
    text = robot(
        link("base"),
        link("between", None),
        link("arm"),
        joint("first", "base", "between"),
        '<joint name="second" type="revolute"><parent link="between"/><child link="arm"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>',
    )
    refused(
        text,
        "mass matrix is singular in the neutral configuration: moving joint.s. first, second together",
        floating_base=False,
    )


def test_a_massless_link_between_joints_with_inertia_is_fine():
    text = robot(
        link("base"),
        link("between", None),
        link("arm"),
        joint("first", "base", "between"),
        joint("second", "between", "arm", axis="1 0 0"),
    )
    assert RigidBodyModel.from_urdf(text, EstimatorConfig(floating_base=False)).nv == 2


def test_negative_inertia_is_refused():
    refused(robot(link("base"), link("a", -1.0), joint("j", "base", "a")), r"link\(s\) a is not physical")
    refused(robot(link("base", 1.0, -0.1)), r"link\(s\) base is not physical")


def test_a_robot_that_cannot_move_is_refused():
    refused(BODY, "cannot move", floating_base=False)


def test_unknown_links_are_answered_with_the_closest():
    text = robot(
        link("base"), link("FL_foot"), link("FR_foot"), joint("j", "base", "FL_foot"), joint("k", "base", "FR_foot")
    )
    refused(
        text,
        "contacts.f.link: no link 'FL_fot' in the URDF; did you mean FL_foot",
        contacts={"f": Contact(link="FL_fot")},
    )
    refused(text, "did you mean FL_foot", contacts={"f": Contact(link="fl_FOOT")})
    refused(text, "it has base, FL_foot, FR_foot", contacts={"f": Contact(link="xyz")})
    refused(text, "no link 'j'", contacts={"f": Contact(link="j")})


def test_contacts_on_links_that_cannot_move_are_refused():
    refused(ARM, "'base' is welded to the world", floating_base=False, contacts={"f": Contact(link="base")})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sholder", "did you mean shoulder"),
        ("weld", "no moving joint 'weld'"),
        ("axle", "'axle' has no finite position limit"),
        ("stuck", "'stuck' has limits 0 … 0; lower must be below upper"),
    ],
)
def test_joint_limits_that_are_none(name, says):
    text = robot(
        link("base"),
        link("arm"),
        link("wheel"),
        link("pad"),
        link("slide"),
        joint("shoulder", "base", "arm"),
        joint("axle", "arm", "wheel", "continuous"),
        joint("weld", "arm", "pad", "fixed"),
        '<joint name="stuck" type="prismatic"><parent link="arm"/><child link="slide"/><axis xyz="0 0 1"/>'
        '<limit lower="0" upper="0" effort="1" velocity="1"/></joint>',
    )
    refused(text, says, floating_base=False, joint_limits=(name,))


def test_two_contacts_of_one_name_are_refused():
    contacts = {"foot": Contact(link="body", points=(0.0,) * 6), "foot_1": Contact(link="body")}
    refused(BODY, "used twice: foot_1", contacts=contacts)
    refused(ARM, "used twice: shoulder_lower", floating_base=False, joint_limits=("shoulder", "shoulder"))


def test_more_contacts_than_the_bitmask_holds_are_refused():
    refused(BODY, "65 contacts are configured, at most 64", contacts={"f": Contact(link="body", points=(0.0,) * 195)})


def test_an_unknown_environment_is_refused():
    with pytest.raises(ValueError, match="environment is 'floor'; known are ground"):
        RigidBodyModel.from_urdf(
            BODY,
            EstimatorConfig(
                contacts={"f": Contact(link="body", environment="floor")}, environments={"ground": Environment()}
            ),
        )
