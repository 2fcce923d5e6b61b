"""Motion under commanded drives: against closed forms and small explicit steps; commands that go on as they did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.drive_commands import CommandCourse, Obedience, followed
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.commands import JointCommand
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

MS = 1_000_000
NONE = np.zeros(0, dtype=np.intp)


def link(name: str, mass: float) -> str:
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(name: str, parent: str, child: str, kind: str, axis: str, effort: float) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
        f'<limit lower="-3" upper="3" effort="{effort}" velocity="50"/></joint>'
    )


def slider(effort: float = 100.0) -> RigidBodyModel:
    """A cart of 2 kg on a level rail; gravity does nothing to it."""
    rail = joint("x", "rail", "cart", "prismatic", "1 0 0", effort)
    urdf = f'<robot name="slider">{link("rail", 1)}{link("cart", 2)}{rail}</robot>'
    return RigidBodyModel.from_urdf(urdf, EstimatorConfig(floating_base=False, allow_no_contacts=True))


def leg() -> tuple[RigidBodyModel, EstimatorConfig]:
    """A body on one leg that is driven along its length."""
    knee = joint("knee", "body", "foot", "prismatic", "0 0 1", 200)
    urdf = f'<robot name="leg">{link("body", 4)}{link("foot", 1)}{knee}</robot>'
    config = EstimatorConfig.from_mapping({"contacts": {"foot": {"link": "foot"}}, "impact": {"deadline": 0.0}})
    return RigidBodyModel.from_urdf(urdf, config), config


def command(stamp: int = 0, position=0.0, velocity=0.0, effort=0.0, stiffness=0.0, damping=0.0, nv: int = 1):
    """Of the last coordinate."""
    arrays = [np.r_[np.zeros(nv - 1), x] for x in (position, velocity, effort, stiffness, damping)]
    return JointCommand(stamp, *arrays, np.arange(nv) == nv - 1)


def ahead(*commands: JointCommand):
    course = CommandCourse()
    for one in commands:
        course.add(one)
    return course.ahead()


def test_the_torque_is_that_of_the_law_within_the_limits_and_turns_the_short_way():
    turn = joint("wheel", "rail", "rim", "continuous", "0 1 0", 5.0).replace('lower="-3" upper="3"', "")
    model = RigidBodyModel.from_urdf(
        f'<robot name="w">{link("rail", 1)}{link("rim", 2)}{turn}</robot>',
        EstimatorConfig(floating_base=False, allow_no_contacts=True),
    )
    q = np.array([np.cos(3.0), np.sin(3.0)])
    told = command(position=-3.0, velocity=0.5, effort=0.25, stiffness=4.0, damping=2.0)
    expected = 0.25 + 4.0 * (2.0 * np.pi - 6.0) + 2.0 * (0.5 - 1.0)
    assert model.drives.torque(told, q, np.ones(1), None) == pytest.approx([expected])
    assert model.drives.torque(replace(told, effort=np.full(1, 9.0)), q, np.ones(1), None).tolist() == [5.0]
    unknown = replace(told, known=np.zeros(1, dtype=bool))
    assert model.drives.torque(unknown, q, np.ones(1), np.full(1, 1.5)).tolist() == [1.5]


def test_a_damped_spring_moves_as_its_closed_form():
    """m ẍ = −k x − d ẋ with m = 2, d = 8, k = 26: x = e^{−2t} (cos 3t + ⅔ sin 3t) from x = 1 at rest."""
    model, t = slider(), 0.02
    reached = followed(
        model, RobotState(0, np.ones(1), np.zeros(1)), ahead(command(stiffness=26.0, damping=8.0)), NONE, t, 3.0
    )
    v = -np.exp(-2.0 * t) * 13.0 / 3.0 * np.sin(3.0 * t)
    assert reached.v == pytest.approx([v], rel=0.03)
    assert reached.effort == pytest.approx(-26.0 * reached.q - 8.0 * reached.v)


def test_a_drive_at_its_limit_gives_its_limit():
    model = slider(effort=3.0)
    reached = followed(model, RobotState(0, np.ones(1), np.zeros(1)), ahead(command(stiffness=1e3)), NONE, 0.02, 3.0)
    assert reached.v == pytest.approx([-3.0 / 2.0 * 0.02]) and reached.effort.tolist() == [-3.0]


def test_a_torque_that_is_commanded_goes_on_from_the_measured_one():
    """Its drive gives 4 N already, though 3 N were commanded when this was known; damping acts on from there."""
    model = slider()
    state = RobotState(0, np.zeros(1), np.ones(1), np.full(1, 4.0))
    reached = followed(model, state, ahead(command(effort=3.0, damping=2.0)), NONE, 0.02, 3.0)
    slowing = 1.0 - np.exp(-0.02)  # m v̇ = 4 − d (v − 1) with m = d = 2, from v = 1
    assert reached.v == pytest.approx([1.0 + 2.0 * slowing], rel=1e-3)
    assert reached.effort == pytest.approx(4.0 - 2.0 * (reached.v - 1.0))


def test_stiff_gains_do_not_oscillate():
    """Explicit steps of 2.5 ms with d dt / m = 12 would grow 11-fold each."""
    model = slider(effort=1e6)
    reached = followed(model, RobotState(0, np.zeros(1), np.ones(1)), ahead(command(damping=1e4)), NONE, 0.02, 3.0)
    assert 0.0 <= reached.v[0] < 1e-3


def test_a_command_of_which_nothing_is_known_is_none():
    told = replace(command(stiffness=100.0), known=np.zeros(1, dtype=bool))
    course = CommandCourse()
    course.add(told)
    assert course.ahead() is None


def test_a_standing_robot_stays_and_what_it_pushes_off_with_lifts_it():
    model, _ = leg()
    closed = np.zeros(1, dtype=np.intp)
    q = np.r_[0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, -0.5]
    state = RobotState(0, q, np.zeros(7))
    for push, acceleration in ((4 * 9.81, 0.0), (4 * 9.81 + 20.0, 5.0)):  # the foot is pushed down
        told = command(effort=-push, nv=7)
        reached = followed(model, state, ahead(told), closed, 0.02, 3.0)
        assert reached.v[2] == pytest.approx(acceleration * 0.02, abs=1e-6)
        assert reached.v[6] == pytest.approx(-acceleration * 0.02, abs=1e-6)


def steady(count: int, slope: float, bend: float = 0.0) -> list[JointCommand]:
    t = np.arange(count) * 1e-3
    return [command(k * MS, position=slope * x + bend * x * x, stiffness=10.0) for k, x in enumerate(t)]


def test_a_course_of_commands_is_followed():
    found = ahead(*steady(9, 2.0))
    assert found.position_rate == pytest.approx([2.0]) and found.seen == pytest.approx(0.008)
    assert found.after(0.01, 1.0).position == pytest.approx([0.008 * 2.0 + 0.02])
    assert found.after(0.01, 0.005).position == pytest.approx([0.008 * 2.0 + 0.01])


def test_a_step_of_the_command_is_no_course():
    stepped = [replace(one, position=np.full(1, float(k > 6))) for k, one in enumerate(steady(9, 0.0))]
    assert ahead(*stepped).position_rate.tolist() == [0.0]


def test_a_velocity_that_is_commanded_with_a_position_is_its_course():
    assert ahead(command(velocity=3.0, stiffness=1.0)).position_rate.tolist() == [3.0]


def test_a_pause_or_a_state_without_command_starts_the_course_anew():
    course = CommandCourse()
    for one in [*steady(9, 2.0), command(50 * MS, position=0.7, stiffness=10.0)]:
        course.add(one)
    assert course.ahead().position_rate.tolist() == [0.0]
    course.add(None)
    assert course.ahead() is None


def test_a_command_that_does_not_explain_the_effort_is_not_used_and_the_joint_is_named():
    model, config = leg()
    for factor, names in ((1.0, ()), (3.0, ("knee",))):  # the drive has a third of the gain that is told
        estimator = ContactEstimator(model, config)
        for k in range(20):
            state = falling(k * MS, 0.5, command(k * MS, position=-0.5 + 0.1 * factor, stiffness=200.0, nv=7))
            effort = np.r_[np.zeros(6), 20.0 + 0.1 * k]
            estimator.update(replace(state, effort=effort))
        assert estimator.disobeyed == names


def test_a_drive_that_is_believed_again_obeys():
    found = Obedience(np.full(1, 100.0))
    for k in range(600):
        found.add(k * MS, np.full(1, 20.0), np.full(1, 20.0 if k >= 50 else 60.0))
        assert k != 49 or found.disobeyed.all()
    assert not found.disobeyed.any()


def test_a_drive_is_believed_that_is_off_by_less_than_five_percent_of_its_limit_whatever_the_base_has():
    found = Obedience(np.array([np.inf, 100.0]))
    for k in range(100):
        found.add(k * MS, np.array([0.0, 2.0]), np.array([0.0, 6.0]))
    assert not found.disobeyed.any()


def falling(stamp: int, height: float, told: JointCommand | None) -> RobotState:
    q = np.r_[0.0, 0.0, height + 0.5, 0.0, 0.0, 0.0, 1.0, -0.5]
    v = np.r_[0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0]
    return RobotState(stamp, q, v, np.zeros(7), command=told)


def test_the_set_of_a_landing_begins_with_the_velocity_that_the_command_makes():
    """The foot is pulled in with 50 N from now on, though its drive did nothing so far."""
    model, config = leg()
    plain, told = ContactEstimator(model, config), ContactEstimator(model, config)
    before = plain.update(falling(0, 0.01, None))
    after = told.update(falling(0, 0.01, command(effort=50.0, stiffness=1e-9, nv=7)))
    assert before.mode.gap.tobytes() == after.mode.gap.tobytes()
    when = after.impact.time_to_impact
    reduced = 4.0 * 1.0 / 5.0
    assert after.impact.velocity_minus[6] - before.impact.velocity_minus[6] == pytest.approx(50.0 / reduced * when)


def test_a_command_of_which_nothing_is_known_changes_no_bit_of_a_set():
    model, config = leg()
    nothing = replace(command(nv=7), known=np.zeros(7, dtype=bool))
    one, other = (ContactEstimator(model, config).update(falling(0, 0.01, told)).impact for told in (None, nothing))
    assert one.velocities.tobytes() == other.velocities.tobytes()
    assert one.generators.tobytes() == other.generators.tobytes()
