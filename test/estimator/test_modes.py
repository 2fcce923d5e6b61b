"""Contact modes and their forces in cases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import BALL, GRAVITY, MASS, SLIDER, arm, block, body, free
from hybrid_contact_ros.codes import ContactStatus, EventKind, Flag, Validity
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import Prediction


def test_a_block_at_rest_sticks_and_carries_its_weight():
    answer = block().update(free(0, 0.05))
    assert (answer.mode.status == ContactStatus.STICKING).all() and answer.mode.bitmask == 0b1111
    assert answer.mode.force_model.sum(axis=0) == pytest.approx([0, 0, MASS * GRAVITY], abs=1e-6)
    assert (answer.stability.constraint_stability == Flag.HOLDS).all()
    assert answer.impact is None


def test_a_sliding_block_is_braked_by_friction_and_sticks_when_its_speed_is_gone():
    answer = block().update(free(0, 0.05, (0.3, 0, 0)))
    mode = answer.mode
    assert (mode.status == ContactStatus.SLIPPING).all()
    assert mode.force_model.sum(axis=0) == pytest.approx([-0.5 * MASS * GRAVITY, 0, MASS * GRAVITY], rel=1e-6)
    assert mode.friction_margin == pytest.approx(np.zeros(4), abs=1e-6)
    assert (mode.next_event == EventKind.STICK).all()
    assert mode.time_to_event == pytest.approx(np.full(4, 0.3 / (0.5 * GRAVITY)), rel=1e-6)


def test_a_fixed_base_arm_on_its_joint_limit_is_a_contact():
    thing, states = arm()
    first = thing.update(states[0])
    assert first.mode.next_event.tolist() == [EventKind.TOUCHDOWN, EventKind.NONE]
    expected = (-0.5 + np.sqrt(0.25 + 2 * GRAVITY * 0.1)) / GRAVITY
    assert first.mode.time_to_event[0] == pytest.approx(expected, rel=1e-9)
    for state in states[1:]:
        answer = thing.update(state)
    assert answer.mode.closed.tolist() == [True, False]
    assert answer.stability.constraint_force[0] == pytest.approx(3 * GRAVITY)
    assert answer.mode.validity & Validity.BASE


def test_a_robot_without_contacts_has_empty_answers():
    config = EstimatorConfig.from_mapping({"contacts": {}, "allow_no_contacts": True})
    thing = ContactEstimator(RigidBodyModel.from_urdf(BALL, config), config)
    answer = thing.update(free(0, 1.0))
    assert answer.mode.status.shape == (0,) and answer.mode.bitmask == 0
    assert answer.mode.normal.shape == (0, 3) and answer.stability.closed.shape == (0,)
    assert answer.impact is None and answer.events == ()
    assert answer.mode.validity & Validity.MODE_UNIQUE


def test_twelve_contacts_of_which_most_are_redundant_share_the_weight():
    grid = [x for i in range(4) for j in range(3) for x in (0.05 * (i - 1.5), 0.05 * (j - 1), -0.05)]
    thing = body(grid)
    for i in range(100):
        answer = thing.update(free(i * 1_000_000, 0.05))
    assert answer.mode.closed.all() and answer.mode.residual < 1e-6
    assert answer.mode.force_model[:, 2].sum() == pytest.approx(MASS * GRAVITY, rel=1e-6)
    assert answer.stability.pair_first.size == 66


def test_noise_of_the_configured_size_does_not_make_a_standing_block_chatter():
    thing, rng = block(), np.random.default_rng(4)
    told: list[Prediction] = []
    for i in range(1000):
        height, rates = 0.05 + 0.001 * rng.normal(), 0.02 * rng.normal(size=3)
        told.append(thing.update(free(i * 1_000_000, height, rates), Parts.MODE))
    assert not any(e.detected for t in told for e in t.events)
    assert all((t.mode.status == ContactStatus.STICKING).all() for t in told)


def biped() -> ContactEstimator:
    """16 kg on two soles of four points, with two joints a leg: twelve conditions on ten coordinates."""

    def link(name, mass, inertia):
        moments = f'ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"'
        return f'<link name="{name}"><inertial><mass value="{mass}"/><inertia {moments}/></inertial></link>'

    def joint(name, parent, child, origin, axis):
        return (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{origin}"/><axis xyz="{axis}"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>'
        )

    parts = [link("trunk", 10, 0.1)]
    for side, y in (("left", 0.1), ("right", -0.1)):
        parts += [
            link(f"{side}_leg", 2, 0.02),
            link(f"{side}_foot", 1, 0.01),
            joint(f"{side}_hip", "trunk", f"{side}_leg", f"0 {y} 0", "1 0 0"),
            joint(f"{side}_ankle", f"{side}_leg", f"{side}_foot", "0 0 -0.4", "0 1 0"),
        ]
    sole = [0.1, 0.03, -0.05, 0.1, -0.03, -0.05, -0.06, 0.03, -0.05, -0.06, -0.03, -0.05]
    contacts = {f"{side}_foot": {"link": f"{side}_foot", "points": sole} for side in ("left", "right")}
    config = EstimatorConfig.from_mapping({"contacts": contacts})
    text = f'<robot name="biped">{"".join(parts)}</robot>'
    return ContactEstimator(RigidBodyModel.from_urdf(text, config), config)


def test_a_biped_that_stands_with_noisy_velocities_is_solved_and_carries_its_weight():
    thing, rng = biped(), np.random.default_rng(5)
    q = thing.model.neutral()
    q[2] = 0.45
    for i in range(50):
        velocity = 0.005 * rng.normal(size=thing.model.nv)
        mode = thing.update(RobotState(i * 1_000_000, q, velocity, np.zeros(thing.model.nv)), Parts.MODE).mode
        assert mode.residual < 1e-8
        assert mode.force_model[:, 2].sum() == pytest.approx(16 * GRAVITY, rel=0.01)


def test_a_light_robot_on_a_slider_closes_its_contact_though_it_never_loads_it_by_force_on():
    text = SLIDER.replace('mass value="3"', 'mass value="0.4"')
    config = EstimatorConfig.from_mapping({"floating_base": False, "contacts": {"foot": {"link": "rod"}}})
    thing = ContactEstimator(RigidBodyModel.from_urdf(text, config), config)
    assert config.activation.force_on > 0.4 * GRAVITY
    for i in range(20):
        mode = thing.update(RobotState(i * 1_000_000, np.zeros(1), np.zeros(1), np.zeros(1))).mode
    assert mode.closed.all()
    assert mode.force_model[0, 2] == pytest.approx(0.4 * GRAVITY)
