"""The demo's robot: MuJoCo is not ours, what it is made to do is."""

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not there: ./run setup installs it")

import mujoco

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.go2_model import FOOT_RADIUS
from hybrid_contact_ros.demo.go2_simulation import Go2Simulation
from hybrid_contact_ros.demo.ground_truth import LOADED, UNLOADED
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState


@pytest.fixture(scope="module", params=[0, 1, 2])
def scenario(request):
    """The whole 20 s at 500 Hz: rows of (time, tilt, base position, feet closed), and the simulation afterwards."""
    simulation = Go2Simulation(500.0, seed=request.param)
    rows, others, before = [], set(), np.zeros(4, bool)
    for _ in range(10_000):
        simulation.step()
        q, _, _ = simulation.state()
        closed, force, _ = simulation.contacts()
        assert (closed == (force[:, 2] > np.where(before, UNLOADED, LOADED))).all()
        before = closed
        others.update(simulation.others_touching())
        rows.append((simulation.time, simulation.tilt(), *q[:3], *closed))
    return np.array(rows, float), simulation, others


def test_it_stays_upright_on_its_feet_and_trots_forward(scenario):
    rows, _, others = scenario
    assert rows[:, 1].max() < np.radians(25.0)
    assert not others
    trot = rows[:, 0] > 8.0
    assert rows[-1, 2] - rows[trot][0, 2] > 0.3
    share = rows[trot, 5:].mean(axis=0)
    assert ((share > 0.3) & (share < 0.8)).all()


def test_it_drops_and_hops(scenario):
    rows, simulation, _ = scenario
    assert not rows[0, 5:].any()
    assert len(simulation.impacts) == 3
    assert simulation.impacts[0].time < 0.3
    for impact, begin in zip(simulation.impacts[1:], simulation.scenario.hops, strict=True):
        assert begin + 0.6 < impact.time < begin + 1.5


def test_the_engine_predicts_its_impacts_although_it_does_not_know_them(scenario, root):
    _, simulation, _ = scenario
    config = EstimatorConfig.from_file(root / "config" / "go2.yaml")
    model = RigidBodyModel.from_urdf(simulation.urdf_text, config)
    from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact

    for impact in simulation.impacts:
        whole = model.problem(RobotState(0, impact.q, impact.v_minus))
        rows = [model.contact_names.index(foot) for foot in impact.feet]
        predicted = simultaneous_impact(whole.select(rows)).velocity

        def length(x, mass=whole.mass):
            return np.sqrt(x @ mass @ x)

        assert length(predicted - impact.v_plus) < 0.2 * length(impact.v_plus - impact.v_minus)


def kinetic_energy(model, q, v):
    return 0.5 * v @ model.problem(RobotState(0, q, v)).mass @ v


def test_no_impact_makes_energy(scenario, root):
    _, simulation, _ = scenario
    model = RigidBodyModel.from_urdf(simulation.urdf_text, EstimatorConfig.from_file(root / "config" / "go2.yaml"))
    for impact in simulation.impacts:
        before = kinetic_energy(model, impact.q, impact.v_minus)
        assert 0.5 * before < kinetic_energy(model, impact.q, impact.v_plus) < before


def test_an_impact_is_over_when_no_foot_of_it_approaches(scenario, root):
    """An end that is set by the longest time allowed would leave a foot that still falls."""
    _, simulation, _ = scenario
    model = RigidBodyModel.from_urdf(simulation.urdf_text, EstimatorConfig.from_file(root / "config" / "go2.yaml"))
    for impact in simulation.impacts:
        rows = [model.contact_names.index(foot) for foot in impact.feet]
        normals = model.problem(RobotState(0, impact.q, impact.v_minus)).normal_jacobian[rows]
        assert (normals @ impact.v_plus > 0.1 * (normals @ impact.v_minus)).all()
        assert 0.0 < impact.duration < 0.008


def test_the_forces_of_the_truth_are_the_change_of_momentum():
    """m dv_com/dt = sum of the ground's forces + m g, cycle by cycle, through drop, impact and standing."""
    simulation = Go2Simulation()
    model, data = simulation.model, simulation.data
    mass = float(model.body_subtreemass[0])

    def momentum():
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        return mass * data.subtree_linvel[1].copy()

    last, largest = momentum(), 0.0
    for _ in range(500):
        simulation.step()
        now = momentum()
        force = simulation.contacts()[1].sum(axis=0)
        largest = max(largest, force[2])
        np.testing.assert_allclose((now - last) / 0.002, force + mass * model.opt.gravity, atol=2.0)
        last = now
    assert largest > 10.0 * mass * 9.81 / 2.0


def test_its_feet_touch_where_the_configuration_says(root):
    config = EstimatorConfig.from_file(root / "config" / "go2.yaml")
    simulation = Go2Simulation()
    model = RigidBodyModel.from_urdf(simulation.urdf_text, config)
    assert {contact.radius for contact in config.contacts.values()} == {FOOT_RADIUS}
    while not simulation.impacts:
        simulation.step()
    q, v, _ = simulation.state()
    gaps = model.problem(RobotState(0, q, v)).gap
    closed, _, _ = simulation.contacts()
    assert np.abs(gaps[closed]).max() < 0.0005


def test_the_same_seed_gives_the_same_states():
    first, second = Go2Simulation(seed=5), Go2Simulation(seed=5)
    for _ in range(200):
        first.step()
        second.step()
    np.testing.assert_array_equal(first.state()[0], second.state()[0])


@pytest.mark.parametrize("rate", [0.0, -1.0, 300.0, 2000.0, float("nan")])
def test_a_rate_that_does_not_divide_the_controllers_is_refused(rate):
    with pytest.raises(ValueError, match="rate_hz"):
        Go2Simulation(rate)
