"""The set of a landing: what of the whole model lies in it, its parts, and the old set where all terms are off."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.estimator import go2
from benchmarks.impact_problems import KINDS, random_problem
from benchmarks.landing_draws import extent_ratio, go2_landing, inside, model_draws
from benchmarks.soles import landing as sole_landing
from hybrid_contact_ros import LandingTerms, landing_set, post_impact_set, simultaneous_impact
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.impacts.landing import Landing
from hybrid_contact_ros.impacts.landing_set import MODEL_ERROR, LandingLaw, hits
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
