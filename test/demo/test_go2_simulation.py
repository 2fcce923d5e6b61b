"""The demo's robot: MuJoCo is not ours, what it is made to do is."""

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not there: ./run setup installs it")

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.go2_simulation import FOOT_RADIUS, Go2Simulation
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState


@pytest.fixture(scope="module", params=[0, 1, 2])
def scenario(request):
    """The whole 20 s at 500 Hz: rows of (time, tilt, base position, feet closed), and the simulation afterwards."""
    simulation = Go2Simulation(500.0, seed=request.param)
    rows, others = [], set()
    for _ in range(10_000):
        simulation.step()
        q, _, _ = simulation.state()
        closed, force, _ = simulation.contacts()
        assert (force[~closed, 2] <= 1.0).all() and (force[closed, 2] > 1.0).all()
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
        problem = ContactProblem(
            whole.mass,
            whole.velocity,
            whole.normal_jacobian[rows],
            whole.tangent_jacobian[rows],
            whole.friction[rows],
        )
        predicted = simultaneous_impact(problem).velocity

        def length(x, mass=whole.mass):
            return np.sqrt(x @ mass @ x)

        assert length(predicted - impact.v_plus) < 0.2 * length(impact.v_plus - impact.v_minus)


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
