"""RigidBodyModel against Pinocchio's other algorithms and against finite differences of its kinematics."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from helpers.mechanics_robots import full_kinematics, joint, link, load, random_state, robot
from hybrid_contact_ros.config import Contact, Environment, EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState

SEEDS = range(5)


def sphere_centers(model: RigidBodyModel, q) -> np.ndarray:
    """World centres of the sphere contacts, through Pinocchio's frame placements."""
    data = full_kinematics(model, q)
    table = model._table
    return np.array([data.oMi[int(j)].act(p) for j, p in zip(table.joint, table.point, strict=True)]).reshape(-1, 3)


def at(model: RigidBodyModel, state: RobotState, t: float) -> RobotState:
    """The state after moving for t at constant v, that is with v̇ = 0."""
    return RobotState(0, model.integrate(state.q, t * state.v), state.v)


@pytest.mark.parametrize("seed", SEEDS)
def test_problem_passes_the_validation_of_contact_problem(any_robot, seed):
    p = any_robot.problem(random_state(any_robot, seed))
    checked = ContactProblem(
        **{f.name: getattr(p, f.name) for f in dataclasses.fields(p)},
    )
    assert checked.contacts == any_robot.contacts
    assert checked.nv == any_robot.nv
    assert p.tangent_jacobian.shape == (any_robot.contacts, 2, any_robot.nv)
    for f in dataclasses.fields(p):
        value = getattr(p, f.name)
        assert f.name == "names" or (value.flags.c_contiguous and value.flags.writeable and value.dtype == np.float64)


@pytest.mark.parametrize("seed", SEEDS)
def test_gap_rate_is_the_normal_row_times_velocity(any_robot, seed):
    state, h = random_state(any_robot, seed), 1e-6
    p = any_robot.problem(state)
    rate = (any_robot.problem(at(any_robot, state, h)).gap - any_robot.problem(at(any_robot, state, -h)).gap) / (2 * h)
    np.testing.assert_allclose(p.normal_jacobian @ state.v, rate, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_drift_is_the_rate_of_contact_velocity_at_constant_velocity(any_robot, seed):
    state, h = random_state(any_robot, seed), 1e-5

    def contact_velocity(t):
        return any_robot.problem(at(any_robot, state, t)).jacobian() @ state.v

    p = any_robot.problem(state)
    rate = (contact_velocity(h) - contact_velocity(-h)) / (2 * h)
    np.testing.assert_allclose(p.jacobian_drift.ravel(), rate, atol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_tangent_rows_are_the_velocity_of_the_material_point_that_touches(any_robot, seed):
    state, h = random_state(any_robot, seed), 1e-6
    p = any_robot.problem(state)
    touching = any_robot.contact_positions
    before, after = (full_kinematics(any_robot, at(any_robot, state, t).q) for t in (-h, h))
    now = full_kinematics(any_robot, state.q)
    for i, j in enumerate(any_robot._table.joint):
        body_point = now.oMi[int(j)].actInv(touching[i])
        velocity = (after.oMi[int(j)].act(body_point) - before.oMi[int(j)].act(body_point)) / (2 * h)
        expected = any_robot.contact_tangents[i] @ velocity
        np.testing.assert_allclose(p.tangent_jacobian[i] @ state.v, expected, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_gaps_and_positions_are_those_of_spheres_on_planes(any_robot, seed):
    state = random_state(any_robot, seed)
    p = any_robot.problem(state)
    centers = sphere_centers(any_robot, state.q)
    k = len(centers)
    table, normals = any_robot._table, any_robot.contact_normals[:k]
    np.testing.assert_allclose(p.gap[:k], np.sum(normals * centers, 1) - table.offset - table.radius, atol=1e-14)
    np.testing.assert_allclose(any_robot.contact_positions[:k], centers - table.radius[:, None] * normals, atol=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_free_acceleration_is_that_of_aba(plain_robot, seed):
    state = random_state(plain_robot, seed)
    p = plain_robot.problem(state)
    model, data = plain_robot.pinocchio_model, plain_robot.pinocchio_model.createData()
    acceleration = pin.aba(model, data, state.q, state.v, state.effort)
    np.testing.assert_allclose(p.mass @ acceleration, -p.bias_force, atol=1e-9 * np.abs(p.bias_force).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_generalised_contact_forces_are_those_of_wrenches_at_the_contact_points(any_robot, seed):
    """M v̇ + h − Jᵀλ is rnea's torque under spatial forces on the bodies: J from another route."""
    state = random_state(any_robot, seed)
    p = any_robot.problem(state)
    rng = np.random.default_rng(seed)
    model, data = any_robot.pinocchio_model, full_kinematics(any_robot, state.q)
    forces = pin.StdVec_Force()
    for _ in range(model.njoints):
        forces.append(pin.Force.Zero())
    k = len(any_robot._table.joint)
    force = rng.normal(size=(k, 3))
    for i, j in enumerate(any_robot._table.joint):
        f = force[i, 0] * any_robot.contact_normals[i] + force[i, 1:] @ any_robot.contact_tangents[i]
        world = pin.Force(f, np.cross(any_robot.contact_positions[i], f))
        forces[int(j)] = forces[int(j)] + data.oMi[int(j)].actInv(world)
    acceleration = rng.normal(size=any_robot.nv)
    coordinates = any_robot.coordinates
    full = (coordinates.full_position(state.q), *map(coordinates.full_velocity, (state.v, acceleration)))
    torque = pin.rnea(model, model.createData(), *full, forces)
    if coordinates.reduction is not None:
        torque = coordinates.reduction.T @ torque
    left = p.mass @ acceleration + p.bias_force + state.effort - p.jacobian()[: 3 * k].T @ force.ravel()
    np.testing.assert_allclose(left, torque, atol=1e-11 * max(1.0, np.abs(torque).max()))


def test_bias_force_without_effort_is_h_alone(go2):
    state = random_state(go2, 3)
    with_effort = go2.problem(state).bias_force
    without = go2.problem(RobotState(0, state.q, state.v)).bias_force
    data = go2.pinocchio_model.createData()
    np.testing.assert_array_equal(without, pin.nonLinearEffects(go2.pinocchio_model, data, state.q, state.v))
    np.testing.assert_allclose(without - with_effort, state.effort, atol=1e-12)


def test_mass_is_that_of_compute_all_terms(plain_robot):
    state = random_state(plain_robot, 1)
    data = plain_robot.pinocchio_model.createData()
    pin.computeAllTerms(plain_robot.pinocchio_model, data, state.q, state.v)
    upper = np.triu(data.M)
    p = plain_robot.problem(state)
    np.testing.assert_allclose(p.mass, upper + np.triu(data.M, 1).T, atol=1e-13)
    np.testing.assert_array_equal(p.mass, p.mass.T)
    assert 0.5 * state.v @ p.mass @ state.v == pytest.approx(data.kinetic_energy, rel=1e-12)


def test_each_call_gives_fresh_arrays_and_the_same_state_the_same_bits(any_robot):
    state, other = random_state(any_robot, 1), random_state(any_robot, 2)
    first = any_robot.problem(state)
    position = any_robot.contact_positions
    copies = {f.name: np.copy(getattr(first, f.name)) for f in dataclasses.fields(first) if f.name != "names"}
    where = position.copy()
    any_robot.problem(other)
    again = any_robot.problem(state)
    for name, copy in copies.items():
        np.testing.assert_array_equal(getattr(first, name), copy)
        np.testing.assert_array_equal(getattr(again, name), copy)
        assert not np.shares_memory(getattr(first, name), getattr(again, name))
    np.testing.assert_array_equal(position, where)
    np.testing.assert_array_equal(any_robot.contact_positions, where)


def test_a_second_model_of_the_same_urdf_gives_the_same_bits():
    one, two = load("go2"), load("go2")
    for seed in SEEDS:
        a, b = one.problem(random_state(one, seed)), two.problem(random_state(two, seed))
        for f in dataclasses.fields(a):
            np.testing.assert_array_equal(getattr(a, f.name), getattr(b, f.name))


def test_strided_read_only_and_integer_states_are_accepted(go2):
    state = random_state(go2, 1)
    wide = np.zeros((go2.nq, 2))
    wide[:, 0] = state.q
    frozen = state.v.copy()
    frozen.flags.writeable = False
    expected = go2.problem(RobotState(0, state.q, state.v))
    got = go2.problem(RobotState(0, wide[:, 0], frozen))
    np.testing.assert_array_equal(got.jacobian(), expected.jacobian())
    assert go2.problem(RobotState(0, go2.neutral().astype(int), np.zeros(go2.nv, dtype=int))).gap.shape == (4,)


def test_states_of_a_wrong_size_are_refused(go2):
    state = random_state(go2, 1)
    for bad in (
        RobotState(0, state.q[:-1], state.v),
        RobotState(0, state.q, state.v[:-1]),
        RobotState(0, state.q, state.v, state.effort[:-1]),
        RobotState(0, state.q, state.v, state.effort[:1]),
    ):
        with pytest.raises(ValueError, match="the model needs"):
            go2.problem(bad)


def test_tilted_plane_normals_are_scaled_to_unit_length_and_tangents_are_right_handed():
    config = EstimatorConfig(
        contacts={"foot": Contact(link="body", points=(0.1, 0.2, 0.3), radius=0.05, environment="slope")},
        environments={"slope": Environment(normal=(3.0, -1.0, 4.0), offset=0.2)},
    )
    model = RigidBodyModel.from_urdf(robot(link("body")), config)
    n, (t1, t2) = model.contact_normals[0], model.contact_tangents[0]
    np.testing.assert_allclose(np.stack([t1, t2, n]) @ np.stack([t1, t2, n]).T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(np.cross(n, t1), t2, atol=1e-15)
    state = random_state(model, 0)
    gap = model.problem(state).gap[0]
    center = sphere_centers(model, state.q)[0]
    assert gap == pytest.approx(np.dot((3, -1, 4), center) / np.sqrt(26) - 0.2 - 0.05)


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0.95, 0.1, 0.1)])
def test_tangents_are_orthonormal_for_every_normal(normal):
    config = EstimatorConfig(
        contacts={"foot": Contact(link="body")}, environments={"ground": Environment(normal=tuple(map(float, normal)))}
    )
    model = RigidBodyModel.from_urdf(robot(link("body")), config)
    frame = np.vstack([model.contact_tangents[0], model.contact_normals])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(frame) == pytest.approx(1)


def test_a_rolling_sphere_does_not_slip():
    config = EstimatorConfig(contacts={"ball": Contact(link="body", radius=0.1)})
    model = RigidBodyModel.from_urdf(robot(link("body")), config)
    q = model.neutral()
    q[2] = 0.1
    v = np.array([0.3, -0.2, 0, 0.2 / 0.1, 0.3 / 0.1, 0.0])  # ω = n × ċ / r
    p = model.problem(RobotState(0, q, v))
    np.testing.assert_allclose(p.jacobian() @ v, 0, atol=1e-16)
    assert p.gap[0] == 0


def test_joint_limits_are_frictionless_contacts_along_one_coordinate():
    text = robot(link("base"), link("a"), link("b"), joint("j1", "base", "a"), joint("j2", "a", "b", "prismatic"))
    model = RigidBodyModel.from_urdf(
        text, EstimatorConfig(floating_base=False, joint_limits=("j2", "j1"), contacts={"tip": Contact(link="b")})
    )
    assert model.contact_names == ("tip", "j2_lower", "j2_upper", "j1_lower", "j1_upper")
    assert model.contact_frames == ("b", "b", "b", "a", "a")
    p = model.problem(RobotState(0, np.array([0.4, -0.1]), np.array([3.0, 5.0])))
    np.testing.assert_allclose(p.gap[1:], [0.9, 2.1, 1.4, 1.6], atol=1e-15)
    np.testing.assert_array_equal(p.normal_jacobian[1:], [[0, 1], [0, -1], [1, 0], [-1, 0]])
    assert not p.tangent_jacobian[1:].any()
    assert not p.jacobian_drift[1:].any()
    assert not p.friction[1:].any()
    assert not model.contact_normals[1:].any()
    origin = full_kinematics(model, np.array([0.4, -0.1])).oMi[2].translation
    np.testing.assert_allclose(model.contact_positions[1], origin, atol=1e-15)


def test_names_follow_the_model():
    text = robot(link("body"), link("leg"), joint("hip", "body", "leg"))
    contacts = {"foot": Contact(link="leg", points=(0, 0, 0.0, 0, 0, 1.0)), "knee": Contact(link="leg")}
    model = RigidBodyModel.from_urdf(text, EstimatorConfig(contacts=contacts))
    assert model.contact_names == ("foot_0", "foot_1", "knee")
    assert model.velocity_names[:2] == ("body_linear_x", "body_linear_y")
    assert model.velocity_names[5:] == ("body_angular_z", "hip")
    assert (model.nq, model.nv, model.contacts) == (8, 7, 3)
    assert model.joint_names == ("hip",)
    assert model.root_link == "body"


def test_a_model_without_contacts_gives_an_empty_problem():
    model = RigidBodyModel.from_urdf(robot(link("body")), EstimatorConfig())
    p = model.problem(random_state(model, 0))
    assert p.jacobian().shape == (0, 6)
    assert p.contacts == 0


def test_continuous_joints_are_cosine_and_sine():
    text = robot(link("base"), link("wheel"), joint("axle", "base", "wheel", "continuous"))
    model = RigidBodyModel.from_urdf(
        text, EstimatorConfig(floating_base=False, contacts={"rim": Contact(link="wheel", points=(0.3, 0.0, 0.1))})
    )
    assert (model.nq, model.nv) == (2, 1)
    state = model.joint_map(["axle"]).state(0, [4.0], [1.5])
    np.testing.assert_allclose(state.q, [np.cos(4), np.sin(4)])
    h = 1e-6
    later, earlier = (model.problem(at(model, state, t)).gap[0] for t in (h, -h))
    assert model.problem(state).normal_jacobian[0] @ state.v == pytest.approx((later - earlier) / (2 * h), abs=1e-8)


def test_welded_links_without_inertia_can_carry_contacts():
    text = robot(link("body"), link("pad", None), joint("weld", "body", "pad", "fixed"))
    model = RigidBodyModel.from_urdf(text, EstimatorConfig(contacts={"pad": Contact(link="pad")}))
    data = full_kinematics(model, model.neutral())
    p = model.problem(RobotState(0, model.neutral(), np.zeros(6)))
    frame = model.pinocchio_model.getFrameId("pad", pin.FrameType.BODY)
    np.testing.assert_allclose(p.gap, data.oMf[frame].translation[2], atol=1e-15)
    assert model.contact_frames == ("pad",)


def test_hash_changes_with_urdf_and_contacts_and_with_nothing_else():
    text, config = robot(link("body")), EstimatorConfig(contacts={"foot": Contact(link="body")})
    base = RigidBodyModel.from_urdf(text, config).hash
    assert 0 <= base < 2**64
    other_horizon = dataclasses.replace(config, prediction=dataclasses.replace(config.prediction, horizon=0.5))
    assert RigidBodyModel.from_urdf(text, other_horizon).hash == base
    assert RigidBodyModel.from_urdf(text + " ", config).hash != base
    for contact in (Contact(link="body", friction=0.5), Contact(link="body", radius=0.1)):
        changed = dataclasses.replace(config, contacts={"foot": contact})
        assert RigidBodyModel.from_urdf(text, changed).hash != base


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_rate_is_coriolis_transpose_v_minus_gravity(any_robot, seed):
    """Ṁ v along v̇ = 0, by finite differences, less h."""
    state, h = random_state(any_robot, seed, effort=False), 1e-5
    p = any_robot.problem(state)
    momentum, rate = any_robot.momentum(state)
    np.testing.assert_allclose(momentum, p.mass @ state.v, atol=1e-12)
    later, earlier = (any_robot.problem(at(any_robot, state, t)).mass @ state.v for t in (h, -h))
    expected = (later - earlier) / (2 * h) - p.bias_force
    np.testing.assert_allclose(rate, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
