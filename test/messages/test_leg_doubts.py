"""Legs whose names are exchanged, and odometry of which no foot stands still, are told; gaits never are."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.quadruped import CONFIG, URDF, Gait, model, renamed, states, walk
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.leg_motion import LegMotion
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.leg_doubts import LegDoubts

MODEL = model()
BOUND = Gait(duty=0.35, later=(0.0, 0.0, 0.5, 0.5))
PRONK = Gait(duty=0.3, later=(0.0,) * 4, stride=0.6)
WALK = Gait(duty=0.8, later=(0.0, 0.5, 0.75, 0.25), stride=1.0)
STAND = Gait(speed=0.0, duty=1.0)


def said(recording):
    doubts = LegDoubts(MODEL)
    return {words for state in states(MODEL, recording) if (words := doubts.add(state))}


def noisy(r, velocity=0.1, rate=0.05):
    rng = np.random.default_rng(0)
    moved = {"linear": velocity, "angular": rate, "dq": rate}
    seen = {name: getattr(r, name) + s * rng.normal(size=getattr(r, name).shape) for name, s in moved.items()}
    return replace(r, **seen)


def scaled(r, factor):
    return replace(r, position=factor * r.position, linear=factor * r.linear)


def test_feet_that_stand_are_at_rest_and_feet_with_the_joints_of_other_legs_are_where_these_put_them():
    recording = walk(Gait(seconds=1.0))
    motion = LegMotion(MODEL)
    assert motion.legs == tuple(f"{name}_z_link" for name in ("FL", "FR", "RL", "RR"))
    swapped = states(MODEL, renamed(recording, {"FL": "FR", "FR": "RL", "RL": "RR", "RR": "FL"}))
    for state, other, closed in list(zip(states(MODEL, recording), swapped, recording.closed, strict=True))[3::37]:
        world = MODEL.problem(state)  # which is computed in another way
        base = motion.feet(state.q, state.v)
        rotation = MODEL.pinocchio_data.oMi[1].rotation
        feet = base + rotation @ state.v[:3]
        normal = world.normal_jacobian @ state.v
        assert np.allclose(feet[:, 2], normal, atol=1e-9)
        assert np.linalg.norm(feet[closed], axis=1).max(initial=0.0) < 1e-3
        turns = np.stack([motion.feet(other.q, other.v, turn) for turn in range(4)])
        (own,) = [turn for turn in range(4) if motion.source[turn].tolist() == [1, 2, 3, 0]]
        assert np.allclose(turns[own], base, atol=1e-12)


@pytest.mark.parametrize("gait", [Gait(), BOUND, PRONK, WALK, STAND, Gait(hz=60.0), Gait(hz=15.0)])
def test_no_gait_is_doubted(gait):
    assert said(walk(gait)) == set()
    assert said(noisy(walk(gait))) == set()
    assert said(scaled(walk(gait), 1.1)) == set()  # of an odometry that is off by a tenth


@pytest.mark.parametrize("slip", [-0.05, 0.05])
def test_feet_that_slip_by_a_sixth_of_each_step_are_not_doubted(slip):
    assert said(walk(Gait(slip=slip))) == set()
    assert said(noisy(walk(Gait(slip=slip)))) == set()


@pytest.mark.parametrize("speed", [0.3, 1.0, 3.0])
def test_a_robot_that_is_carried_is_not_doubted(speed):
    carried = walk(replace(STAND, speed=speed))
    stiff = replace(carried, q=0.0 * carried.q + carried.q[0], dq=0.0 * carried.dq)
    assert said(stiff) == set() and said(noisy(stiff)) == set()


def test_a_robot_that_hangs_and_moves_its_legs_is_not_doubted():
    trot = walk(Gait(sway=0.0))
    still = replace(trot, position=0.0 * trot.position, linear=0.0 * trot.linear)
    assert said(still) == set() and said(noisy(still)) == set()


@pytest.mark.parametrize("change", [lambda r: r, noisy])
@pytest.mark.parametrize(
    ("names", "told"),
    [
        ({"FL": "RL", "RL": "FL", "FR": "RR", "RR": "FR"}, "FL_z_link and RL_z_link, and of FR_z_link and RR_z_link"),
        ({"FL": "FR", "FR": "FL", "RL": "RR", "RR": "RL"}, "FL_z_link and FR_z_link, and of RL_z_link and RR_z_link"),
        ({"FL": "RR", "RR": "FL"}, "FL_z_link and RR_z_link"),
        ({"FL": "FR", "FR": "RR", "RR": "FL"}, "FL_z_link and FR_z_link and RR_z_link"),
    ],
)
def test_legs_under_the_names_of_others_are_told_by_name(names, told, change):
    (words,) = said(change(renamed(walk(Gait()), names)))
    assert f"are the names of the joints of {told} exchanged?" in words


@pytest.mark.parametrize("factor", [1000.0, 100.0, 0.001])
@pytest.mark.parametrize("change", [lambda r: r, noisy])
def test_odometry_in_another_unit_is_told_with_the_factor(factor, change):
    (words,) = said(scaled(change(walk(Gait())), factor))
    assert f"if the base were {1.0 / factor:.3g} times as fast: is odom in m and m/s?" in words


def test_legs_of_another_length_than_the_models_are_told():
    r = walk(Gait(sway=0.0))
    longer = replace(r, q=1.6 * r.q, dq=1.6 * r.dq)
    (words,) = said(longer)
    assert "if the base were 1.6 times as fast: is the URDF that of the robot" in words


def test_a_base_whose_forward_axis_points_back_is_told():
    r = walk(Gait(sway=0.0))
    (words,) = said(replace(r, linear=-r.linear))
    assert "if the base moved the other way" in words


def test_what_was_told_is_forgotten_after_a_pause():
    doubts = LegDoubts(MODEL)
    wrong = states(MODEL, scaled(walk(Gait()), 1000.0))
    assert [words for state in wrong if (words := doubts.add(state))]
    assert doubts.add(replace(wrong[0], stamp_ns=wrong[-1].stamp_ns + 10**9)) == ""


@pytest.mark.parametrize("contacts", [{}, {"belly": {"link": "base"}}])
def test_a_robot_whose_contacts_are_on_no_leg_is_not_asked(contacts):
    robot = RigidBodyModel.from_urdf(URDF, EstimatorConfig.from_mapping({"contacts": contacts}))
    doubts = LegDoubts(robot)
    assert not any(doubts.add(state) for state in states(robot, scaled(walk(Gait(seconds=4.0)), 1000.0)))


def test_a_contact_on_the_trunk_beside_the_feet_changes_nothing():
    contacts = {"belly": {"link": "base"}, **{name: {"link": each.link} for name, each in CONFIG.contacts.items()}}
    robot = RigidBodyModel.from_urdf(URDF, EstimatorConfig.from_mapping({"contacts": contacts}))
    doubts = LegDoubts(robot)
    assert any(doubts.add(state) for state in states(robot, scaled(walk(Gait()), 1000.0)))
