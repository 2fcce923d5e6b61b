"""The set of a landing: what of the whole model lies in it, its parts, and the old set where all terms are off."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.estimator import go2
from benchmarks.impact_problems import KINDS, random_problem
from benchmarks.landing_draws import extent_ratio, go2_landing, inside, model_draws
from benchmarks.simulated_robots import ROBOTS
from benchmarks.soles import landing as sole_landing
from hybrid_contact_ros import LandingTerms, RobotState, landing_set, post_impact_set, simultaneous_impact
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.impacts.landing import Landing
from hybrid_contact_ros.impacts.landing_model import common_drives, joint_drives, own_drives
from hybrid_contact_ros.impacts.landing_set import MODEL_ERROR, LandingLaw, hits
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.slip_axes import along_slip

DEFAULT = LandingTerms.of(LandingConfig())
FEET = np.arange(4)
NEAR = 0.01  # of the jump: what linearised rebounds and few corners leave outside


@pytest.fixture(scope="module")
def model():
    return go2()


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("corners", [False, True])
def test_95_percent_of_the_whole_model_lies_in_the_set_or_within_1_percent_of_the_jump(model, friction, corners):
    terms, far = replace(DEFAULT, friction=friction), []
    for seed in range(8):
        problem, hitting = go2_landing(model, seed)
        found = landing_set(problem, terms, hitting, samples=64)
        draws = model_draws(problem, terms, hitting, FEET, np.random.default_rng(seed), 20, corners=corners)
        far.append(inside(found, draws))
    far = np.concatenate(far)
    assert np.mean(far <= NEAR) >= (0.95 if not corners else 0.85), np.percentile(far, [50, 90, 95, 100])
    assert far.max() <= 4.0 * NEAR


def test_outcomes_of_all_orders_lie_in_the_set_or_near_it(model):
    far = []
    for seed in range(8):
        problem, hitting = go2_landing(model, seed)
        found = landing_set(problem, DEFAULT, hitting, samples=256)
        draws = model_draws(problem, DEFAULT, hitting, FEET, np.random.default_rng(seed), 256, ordered=True)[::8]
        far.append(inside(found, draws))
    assert np.mean(np.concatenate(far) <= 2.0 * NEAR) >= 0.95


def test_a_sole_rebounds_as_one_and_its_set_holds_the_model():
    problem = sole_landing("Talos", 2, 4, 1)
    weight = 9.81 * problem.mass[:, 2]
    problem = problem.replace(restitution=np.zeros(8), bias_force=weight)
    feet, every = np.repeat([0, 1], 4), np.ones(8, dtype=bool)
    found = landing_set(problem, DEFAULT, every, feet=feet, samples=16)
    draws = model_draws(problem, DEFAULT, every, feet, np.random.default_rng(0), 60)
    assert found.status == Status.SOLVED and np.mean(inside(found, draws) <= NEAR) >= 0.95


def test_quantile_bounds_hold_the_draws_and_are_at_most_twice_as_wide(model):
    shares, ratios = [], []
    for seed in range(8):
        problem, hitting = go2_landing(model, seed)
        found = landing_set(problem, DEFAULT, hitting, samples=64)
        rng = np.random.default_rng(seed)
        draws = [model_draws(problem, DEFAULT, hitting, FEET, rng, 1500, corners=c) for c in (False, True)]
        draws.append(model_draws(problem, DEFAULT, hitting, FEET, rng, 320, ordered=True))
        ratio, held = extent_ratio(found, np.concatenate(draws))
        ratios.append(ratio)
        shares.append(held)
    assert np.mean(shares) >= 0.97  # of coordinates: not one of thousands of draws is outside
    assert np.median(ratios) <= 1.4 and np.mean(np.array(ratios) <= 2.0) >= 0.97


@pytest.mark.parametrize("term", ["slip", "creep", "rebound", "drive_own", "settling", "bounce"])
def test_each_linear_term_makes_generators_and_widens_the_set(model, term):
    problem, hitting = go2_landing(model, 1)  # two feet hit
    some = {"rebound_max": 0.2} if term == "rebound" else {term: 0.1 if term != "drive_own" else 1e-3}
    found = landing_set(problem, LandingTerms(**some), hitting, samples=4)
    plain = landing_set(problem, LandingTerms(), hitting, samples=4)
    count = {"slip": 4, "creep": 2, "rebound": 2, "drive_own": 12, "settling": 6, "bounce": 2}[term]
    # A velocity that is zero, or rounding of it, settles nowhere.
    assert plain.generators is None and (len(found.generators) == count or term == "settling")
    assert 3 < len(found.generators) <= 6 or term != "settling"
    moves = found.generators @ problem.jacobian().T
    standing = np.repeat(~hitting, 3)
    if term != "rebound":  # which moves standing feet that slide
        assert (np.abs(moves[:, standing]).max() > 1e-6) == (term in ("settling", "bounce"))
    if term == "drive_own":
        assert np.abs(moves).max() < 1e-6, "a drive's own k moves what the contacts let move"
    else:
        assert np.abs(moves).max() > 1e-3


def test_a_rebound_and_a_creep_of_one_foot_are_in_the_set_exactly(model):
    problem, hitting = go2_landing(model, 0)  # one foot hits
    law = LandingLaw(DEFAULT, 2, problem.nv, problem.friction, (np.zeros(4),) * 2, np.arange(problem.nv) >= 6)
    terms = replace(DEFAULT, slip=0.0, creep=0.0, settling=0.0, bounce=0.0)
    found = landing_set(problem, terms, hitting, samples=4)
    approach = np.where(hitting, -np.minimum(problem.normal_jacobian @ problem.velocity, 0.0), 0.0)
    for k in (terms.drive_min, terms.drive_max):
        for e in (terms.rebound_min, terms.rebound_max):
            left = np.zeros((4, 3))
            left[:, 0] = e * approach
            middle = 0.5 * (terms.duration_min + terms.duration_max)
            v, *_ = law.solve(
                problem.mass, problem.bias_force, problem.jacobian(), problem.velocity, np.full(1, middle),
                k * (np.arange(problem.nv) >= 6.0)[None], problem.friction[None].copy(), left.reshape(1, -1),
            )  # fmt: skip
            assert found.distance(v[0]) <= 1e-6 * found.jump


def solo_landing(seed):
    """A Solo12 of 2.5 kg that falls on its feet: joints with 0.5 to 3 g m² of inertia."""
    robot = ROBOTS["solo12"]
    model = RigidBodyModel.from_urdf(example_urdf(robot.urdf), robot.configuration())
    rng = np.random.default_rng(seed)
    q, v = model.neutral(), rng.normal(size=model.nv) * 0.3
    q[7:], v[2] = np.tile([0.0, 0.7, -1.4], 4) + 0.1 * rng.normal(size=12), -1.0
    return model.problem(RobotState(0, q, v, np.r_[np.zeros(6), 0.5 * rng.normal(size=12)]))


@pytest.mark.parametrize("seed", range(3))
def test_the_set_of_a_light_robot_ends_with_drives_of_half_its_joints_inertia(seed):
    problem = solo_landing(seed)
    joints = 0.5 * problem.mass.diagonal()[6:]
    sets = [
        landing_set(problem, replace(DEFAULT, drive_max=k), samples=16)
        for k in (0.25 * joints.min(), DEFAULT.drive_max, 10.0 * joints.max())
    ]
    assert joints.max() < DEFAULT.drive_max
    few, default, many = (found.radius for found in sets)
    assert sets[1].velocities.tobytes() == sets[2].velocities.tobytes()
    np.testing.assert_array_equal(sets[1].lower, sets[2].lower)
    np.testing.assert_array_equal(sets[1].upper, sets[2].upper)
    assert few < default == many


def test_draws_of_the_model_of_a_light_robot_lie_near_its_set_and_within_its_bounds():
    """Four feet hit and slide at once, and drives add half of each joint's inertia: the corners of k, μ and s leave out
    more than for a Go2."""
    far = []
    for seed in range(6):
        problem = solo_landing(seed)
        found = landing_set(problem, DEFAULT, samples=64)
        hitting = hits(problem.jacobian(), problem.velocity, 2)
        draws = model_draws(problem, DEFAULT, hitting, FEET, np.random.default_rng(seed), 60)
        assert (draws >= found.lower).all() and (draws <= found.upper).all()
        far.append(inside(found, draws))
    far = np.concatenate(far)
    assert np.mean(far <= NEAR) >= 0.8 and np.mean(far <= 3.0 * NEAR) >= 0.95, np.percentile(far, [50, 90, 95, 100])
    assert far.max() <= 4.5 * NEAR


def test_drives_add_the_common_inertia_to_each_joint_but_no_more_than_half_of_its_own(model):
    mass, driven = np.diag([9.0, 0.03, 0.01, 0.001, 0.5]), np.array([False, True, True, True, False])
    k = np.array([0.0, 0.004, 0.01, 1.0])
    expected = [
        [0, 0, 0, 0, 0],
        [0, 0.004, 0.004, 0.0005, 0],
        [0, 0.01, 0.005, 0.0005, 0],
        [0, 0.015, 0.005, 0.0005, 0],
    ]
    np.testing.assert_array_equal(joint_drives(k, mass, driven), expected)
    some = LandingTerms(drive_min=0.002, drive_max=0.02)
    assert common_drives(some, mass, driven) == (0.002, 0.015)
    assert common_drives(some, mass, np.array([False, False, False, True, False])) == (0.0005, 0.0005)
    own = own_drives(LandingTerms(drive_own=0.004), mass, driven)
    np.testing.assert_array_equal(own, [0, 0.004, 0.004, 0.0005, 0])
    # No joint of a Go2 is as light as that: its landings are what they were without.
    problem, _ = go2_landing(model, 0)
    driven = np.arange(problem.nv) >= 6
    k = np.linspace(DEFAULT.drive_min, DEFAULT.drive_max, 3)
    assert common_drives(DEFAULT, problem.mass, driven) == (DEFAULT.drive_min, DEFAULT.drive_max)
    np.testing.assert_array_equal(joint_drives(k, problem.mass, driven), k[:, None] * driven)


@settings(max_examples=40)
@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_with_all_terms_off_it_is_the_set_of_post_impact_set_to_the_bit(kind, seed):
    problem = along_slip(random_problem(np.random.default_rng(seed), kind))[0]
    found = landing_set(problem, LandingTerms(), samples=12)
    landing = Landing(problem, 4, 1.0, 100, None)
    rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
    landing.prepare(problem.mass, rows, problem.velocity, np.arange(problem.contacts), 0)
    assert found.generators is None and found.margin == 0.0
    if not landing.unit:
        assert found.velocities.tobytes() == problem.velocity.tobytes()
        return
    turned = landing.rows.reshape(rows.shape)
    whole = post_impact_set(
        problem.replace(normal_jacobian=turned[:, 0], tangent_jacobian=turned[:, 1:]), landing.unit, 12, 100
    )
    assert found.velocities.tobytes() == whole.velocities.tobytes()
    assert found.lower.tobytes() == whole.lower.tobytes() and found.coverage == whole.coverage


def test_samples_of_all_orders_come_after_the_law_and_are_moved_by_its_middle(model):
    problem, hitting = go2_landing(model, 3)
    found, plain = (landing_set(problem, terms, hitting, samples=32) for terms in (DEFAULT, LandingTerms()))
    law = found.steps == 0
    assert law[: law.sum()].all() and (~law).sum() == 32
    nominal = simultaneous_impact(along_slip(problem)[0]).velocity
    moved = plain.velocities + (found.velocities[0] - nominal)
    np.testing.assert_allclose(found.velocities[~law], moved, atol=1e-9)
    assert found.margin == pytest.approx(MODEL_ERROR * found.jump)


@settings(max_examples=60)
@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_sets_of_degenerate_problems_are_finite_and_say_what_went_wrong(kind, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind)
    problem = problem.replace(bias_force=rng.normal(size=problem.nv))
    found = landing_set(problem, replace(DEFAULT, friction=0.2, drive_own=1e-3), samples=4)
    assert np.isfinite(found.velocities).all() and np.isfinite(found.residual)
    assert found.status in (Status.SOLVED, Status.INACCURATE, Status.STEP_LIMIT)
    assert found.status != Status.SOLVED or np.isfinite(found.generators).all()


def test_contacts_that_approach_with_a_tenth_of_the_fastest_hit(model):
    problem, hitting = go2_landing(model, 2)
    assert (hits(problem.jacobian(), problem.velocity, 2) == hitting).all()
    still = problem.with_velocity(np.zeros(problem.nv))
    assert not hits(still.jacobian(), still.velocity, 2).any()


@pytest.mark.parametrize(
    "arguments", [{"hitting": [True]}, {"driven": np.ones(18)}, {"feet": [0]}, {"samples": 0}, {"step": 0.0}]
)
def test_an_argument_of_the_wrong_size_or_range_is_refused(model, arguments):
    problem, hitting = go2_landing(model, 2)
    with pytest.raises(ValueError):
        landing_set(problem, DEFAULT, **({"hitting": hitting} | arguments))
