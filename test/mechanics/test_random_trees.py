"""Trees that nobody drew: any shape, joint types, axes, planes and radii, against finite differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from helpers.mechanics_robots import link, random_state, robot
from hybrid_contact_ros.config import Contact, Environment, EstimatorConfig
from hybrid_contact_ros.kernels import warm
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

pytestmark = pytest.mark.usefixtures("rounding")


def random_tree(seed: int) -> RigidBodyModel:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 8))
    parts, kinds, contacts = [link("l0")], [], {}
    for i in range(1, count + 1):
        kind = str(rng.choice(["revolute", "continuous", "prismatic", "fixed"]))
        kinds.append(kind)
        xyz, rpy, axis = (" ".join(f"{x:.6f}" for x in rng.normal(size=3)) for _ in range(3))
        limit = '<limit lower="-3" upper="3" effort="1" velocity="1"/>' if kind in ("revolute", "prismatic") else ""
        parent = int(rng.integers(0, i))
        parts.append(link(f"l{i}", mass=float(rng.uniform(0.1, 3))))
        parts.append(
            f'<joint name="j{i}" type="{kind}"><parent link="l{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}</joint>'
        )
    for c in range(int(rng.integers(1, 5))):
        on = f"l{int(rng.integers(0, count + 1))}"
        contacts[f"c{c}"] = Contact(on, tuple(rng.normal(size=3)), float(rng.uniform(0, 0.3)), environment="wall")
    limits = tuple(f"j{i + 1}" for i, kind in enumerate(kinds) if kind in ("revolute", "prismatic"))
    config = EstimatorConfig(
        floating_base=True,
        contacts=contacts,
        environments={"wall": Environment(tuple(rng.normal(size=3)), float(rng.normal()))},
        joint_limits=limits[:2],
    )
    return RigidBodyModel.from_urdf(robot(*parts), config)


@pytest.mark.parametrize("seed", range(40))
def test_rows_and_drift_are_derivatives_of_the_gap_and_of_the_contact_velocity(seed):
    model = random_tree(seed)
    state, h = random_state(model, seed), 1e-5

    def at(t):
        return model.problem(RobotState(0, model.integrate(state.q, t * state.v), state.v))

    p, later, earlier = at(0.0), at(h), at(-h)
    scale = 1 + np.abs(p.jacobian_drift).max()
    np.testing.assert_allclose(p.normal_jacobian @ state.v, (later.gap - earlier.gap) / (2 * h), atol=1e-7 * scale)
    rate = (later.jacobian() - earlier.jacobian()) @ state.v / (2 * h)
    np.testing.assert_allclose(p.jacobian_drift.ravel(), rate, atol=1e-7 * scale)


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_those_of_pinocchios_frames(seed):
    """A frame put at the touching point: its local-world-aligned Jacobian, row by row."""
    model = random_tree(seed)
    state = random_state(model, seed)
    p = model.problem(state)
    own, data = model.pinocchio_model.copy(), model.pinocchio_model.createData()
    pin.forwardKinematics(own, data, state.q)
    for i, j in enumerate(model._table.joint):
        place = pin.SE3(np.eye(3), data.oMi[int(j)].actInv(model.contact_positions[i]))
        own.addFrame(pin.Frame(f"touch{i}", int(j), 0, place, pin.FrameType.OP_FRAME))
    data = own.createData()
    pin.computeJointJacobians(own, data, state.q)
    pin.updateFramePlacements(own, data)
    for i in range(len(model._table.joint)):
        frame = own.getFrameId(f"touch{i}", pin.FrameType.OP_FRAME)
        jacobian = pin.getFrameJacobian(own, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3]
        np.testing.assert_allclose(p.tangent_jacobian[i], model.contact_tangents[i] @ jacobian, atol=1e-12)
        # The centre differs from the touching point by −r n, across which n · (ω × r n) is nothing.
        np.testing.assert_allclose(p.normal_jacobian[i], model.contact_normals[i] @ jacobian, atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_rate_of_momentum_is_that_of_pinocchios_coriolis_matrix(seed):
    model = random_tree(seed)
    state = random_state(model, seed)
    momentum, rate = model.momentum(state)
    own, data = model.pinocchio_model, model.pinocchio_model.createData()
    coriolis = pin.computeCoriolisMatrix(own, data, state.q, state.v).reshape(model.nv, model.nv)
    gravity = pin.computeGeneralizedGravity(own, data, state.q)
    terms = np.abs(coriolis).T @ np.abs(state.v) + np.abs(gravity)
    np.testing.assert_allclose(rate, coriolis.T @ state.v - gravity, atol=1e-12 * terms.max())
    mass = model.problem(state).mass
    np.testing.assert_allclose(momentum, mass @ state.v, atol=1e-13 * (np.abs(mass) @ np.abs(state.v)).max())


def test_after_the_first_robot_every_other_runs_without_compiling():
    first = random_tree(0)
    first.problem(random_state(first, 0))
    warm.disable_compilation()
    before = warm.signatures()
    for seed in range(10):
        model = random_tree(seed)
        model.problem(random_state(model, seed))
    RigidBodyModel.from_urdf(robot(link("body")), EstimatorConfig()).problem(
        RobotState(0, model.neutral()[:7], np.zeros(6))
    )
    assert warm.signatures() == before


def test_a_state_that_is_not_finite_gives_a_problem_that_is_not_finite_and_harms_no_later_one(go2):
    state = random_state(go2, 1)
    before = go2.problem(state)
    broken = state.q.copy()
    broken[9] = np.nan
    assert np.isnan(go2.problem(RobotState(0, broken, state.v)).gap).any()
    np.testing.assert_array_equal(go2.problem(state).jacobian(), before.jacobian())
