"""Joints that mimic another: exact linear constraints on the velocity."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from helpers.mechanics_robots import full_kinematics, joint, link, load, random_state, robot
from hybrid_contact_ros.config import Contact, EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

FOLLOWS = '<mimic joint="{}" multiplier="{}" offset="{}"/>'


def chain(*mimics: str) -> str:
    """Base, then one link after the other; ``mimics`` are those of joints j0, j1, …"""
    parts = [link("base")]
    for i, mimic in enumerate(mimics):
        parts.append(link(f"l{i}", inertia=0.01 * (1 + i)))
        parent = "base" if i == 0 else f"l{i - 1}"
        parts.append(joint(f"j{i}", parent, f"l{i}", more=mimic, axis="0 1 0" if i % 2 else "1 0 0"))
    return robot(*parts)


def make(text: str, floating: bool = False, **more) -> RigidBodyModel:
    return RigidBodyModel.from_urdf(text, EstimatorConfig(floating_base=floating, **more))


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_mass_and_bias_are_those_of_pinocchios_own_mimic_joints(floating, seed):
    text = chain("", FOLLOWS.format("j0", -2, 0.1), "")
    ours = make(text, floating)
    arguments = (text, pin.JointModelFreeFlyer(), True) if floating else (text, True)
    theirs = pin.buildModelFromXML(*arguments)
    assert (ours.nq, ours.nv) == (theirs.nq, theirs.nv)
    state = random_state(ours, seed, effort=False)
    p, data = ours.problem(state), theirs.createData()
    mass = np.triu(pin.crba(theirs, data, state.q))
    np.testing.assert_allclose(np.triu(p.mass), mass, atol=1e-12)
    np.testing.assert_allclose(p.bias_force, pin.nonLinearEffects(theirs, data, state.q, state.v), atol=1e-12)


def test_panda_fingers_close_together():
    arm = load("arm")
    assert (arm.nq, arm.nv, arm.mimic_names) == (8, 8, ("panda_finger_joint2",))
    state = arm.joint_map(arm.joint_names).state(0, [0, -0.5, 0, -2, 0, 1.5, 0.7, 0.03], np.zeros(8))
    data = full_kinematics(arm, state.q)
    model = arm.pinocchio_model
    left, right, hand = (data.oMf[model.getFrameId(f"panda_{n}")] for n in ("leftfinger", "rightfinger", "hand"))
    apart = hand.rotation.T @ (left.translation - right.translation)
    np.testing.assert_allclose(apart, [0, 0.06, 0], atol=1e-12)


def test_a_follower_of_a_follower_follows_the_first():
    model = make(chain("", FOLLOWS.format("j0", 2, 0.1), FOLLOWS.format("j1", -3, 0.2)))
    assert model.joint_names == ("j0",)
    np.testing.assert_allclose(model.coordinates.full_position(np.array([0.5])), [0.5, 1.1, -3.1])
    np.testing.assert_allclose(model.coordinates.full_velocity(np.array([0.5])), [0.5, 1.0, -3.0])


def test_a_limit_of_a_follower_is_a_contact_along_its_leader():
    model = make(chain("", FOLLOWS.format("j0", -2, 0.1)), joint_limits=("j1",))
    p = model.problem(RobotState(0, np.array([0.3]), np.array([1.0])))
    np.testing.assert_allclose(p.gap, [-0.5 + 1, 2 + 0.5])
    np.testing.assert_allclose(p.normal_jacobian, [[-2], [2]])


def test_integrate_keeps_followers_on_their_leader():
    model = make(chain("", FOLLOWS.format("j0", -2, 0.1), ""), floating=True)
    state = random_state(model, 4)
    q = model.integrate(state.q, 0.1 * state.v)
    assert q.shape == (model.nq,)
    np.testing.assert_allclose(q[7:], state.q[7:] + 0.1 * state.v[6:])


def test_joint_map_ignores_what_a_follower_reports():
    model = make(chain("", FOLLOWS.format("j0", -2, 0.1)))
    mapping = model.joint_map(["j1", "j0"])
    assert mapping.ignored == ("j1",)
    state = mapping.state(0, [np.nan, 0.4], [7.0, 0.5], [9.0, 2.0])
    np.testing.assert_array_equal(state.q, [0.4])
    np.testing.assert_array_equal(state.effort, [2.0])


def test_contacts_on_a_follower_move_with_the_leader():
    model = make(chain("", FOLLOWS.format("j0", -2, 0.1)), contacts={"tip": Contact(link="l1", points=(0.1, 0.2, 0.3))})
    q, v, h = np.array([0.3]), np.array([0.7]), 1e-6
    later, earlier = (model.problem(RobotState(0, q + t * v, v)).gap for t in (h, -h))
    np.testing.assert_allclose(
        model.problem(RobotState(0, q, v)).normal_jacobian @ v, (later - earlier) / (2 * h), atol=1e-8
    )


def test_mimic_tags_on_welded_joints_say_nothing():
    text = robot(
        link("base"),
        link("a"),
        link("b"),
        joint("j0", "base", "a"),
        joint("j1", "a", "b", "fixed", FOLLOWS.format("j0", 1, 0)),
    )
    assert make(text).mimic_names == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (chain(FOLLOWS.format("j1", 1, 0), FOLLOWS.format("j0", 1, 0)), "in a circle: j0 → j1 → j0"),
        (chain(FOLLOWS.format("j0", 1, 0)), "in a circle: j0 → j0"),
        (chain("", FOLLOWS.format("elbow", 1, 0)), "mimics 'elbow', which the URDF does not have"),
        (chain("", FOLLOWS.format("j0", "two", 0)), "must be numbers"),
        (
            robot(
                link("base"),
                link("a"),
                link("b"),
                joint("j0", "base", "a", "continuous"),
                joint("j1", "a", "b", "revolute", FOLLOWS.format("j0", 1, 0)),
            ),
            "'j0' is continuous: only revolute and prismatic",
        ),
    ],
)
def test_mimics_that_cannot_be_followed_are_refused(text, says):
    with pytest.raises(ValueError, match=says):
        make(text)
