"""Post-impact velocity sets: Algorithms 1 and 2 of Halm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import KINDS, box, halm_posa_lcp, random_problem
from helpers.clocks import clock_of_work
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.kernels.impacts.increment import increment
from hybrid_contact_ros.kernels.impacts.lemke import lemke
from hybrid_contact_ros.kernels.impacts.residual import increment_residual
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

pytestmark = pytest.mark.usefixtures("rounding")

BLOCK = rocking_block_impact()


def block_set(samples=200, **options):
    return post_impact_set(BLOCK.problem, BLOCK.step, samples, BLOCK.max_steps, **options)


@settings(max_examples=200)
@given(
    st.sampled_from(KINDS),
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 4, 6, 10, 16]),
    st.sampled_from([1e-4, 0.1, 1.0, 100.0]),
)
def test_increment_lcp_is_solved_by_h72_to_h74(kind, seed, directions, size):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind)
    space = ContactSpace(problem, directions)
    m, d = problem.contacts, problem.tangents
    cap = size * rng.uniform(0, 1, m) * (rng.random(m) < 0.9)
    z, after = np.empty(space.w.size), np.empty(space.w.size)
    status, residual, _ = increment(space.g, space.H, space.w, cap, space.c, space.tableau, space.lines, z, after)
    assert status == Status.SOLVED
    assert residual < 1e-9
    impulse = space.impulses(z)
    caps = cap * space.speed / space.scale
    independent = increment_residual(
        directions, space.G, space.u, problem.friction, caps, space.speed, impulse, np.empty(m * (1 + d))
    )
    assert independent < 1e-9
    v = problem.velocity
    change = np.linalg.solve(problem.mass, problem.jacobian().T @ impulse.ravel())
    assert (v + change) @ problem.mass @ (v + change) <= v @ problem.mass @ v * (1 + 1e-9)  # Theorem 7


@pytest.mark.parametrize("kind", KINDS)
def test_lemkes_answer_to_h75_satisfies_the_same_conditions(kind):
    """By residual: where solutions are several, the two may be different."""
    rng = np.random.default_rng(11)
    for _ in range(10):
        problem = random_problem(rng, kind, m=int(rng.integers(1, 4)))
        m, d = problem.contacts, problem.tangents
        space = ContactSpace(problem, 6)
        caps = rng.uniform(0, 1, m) * space.speed / space.scale
        W, w, to_impulse = halm_posa_lcp(problem, caps, 6)
        n, z = len(w), np.empty(len(w))
        status, _ = lemke(2000, W, w, np.empty((n, 2 * n + 2)), np.empty(n, dtype=np.int64), z)
        if status != Status.SOLVED:
            continue  # the oracle itself fails on some degenerate problems
        impulse = np.ascontiguousarray(to_impulse(z))
        residual = increment_residual(
            6, space.G, space.u, problem.friction, caps, space.speed, impulse, np.empty(m * (1 + d))
        )
        assert residual < 1e-6


@settings(max_examples=60)
@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.sampled_from([2, 4, 8]))
def test_samples_dissipate_separate_and_stay_within_bounds(kind, seed, directions):
    problem = random_problem(np.random.default_rng(seed), kind)
    step = impulse_scale(problem) or 1.0
    result = post_impact_set(problem, step, 12, 60, seed=seed, directions=directions)
    assert result.status in (Status.SOLVED, Status.STEP_LIMIT)
    assert result.residual < 1e-9
    v = problem.velocity
    energy = np.einsum("si,ij,sj->s", result.velocities, problem.mass, result.velocities)
    assert (energy <= v @ problem.mass @ v * (1 + 1e-9)).all()
    space = ContactSpace(problem, directions)
    approach = result.velocities[result.terminated] @ problem.normal_jacobian.T
    rounding = 1e-12 * np.abs(problem.normal_jacobian) @ np.abs(result.velocities).max(0)
    assert (approach >= -1.1e-9 * space.speed * space.scale - rounding).all()
    room = 1e-12 * np.sqrt((v @ problem.mass @ v) * np.diag(np.linalg.inv(problem.mass)))  # of the fastest possible
    assert (result.velocities >= result.lower - room).all()
    assert (result.velocities <= result.upper + room).all()
    assert (result.impulses[:, :, 0] >= 0).all()
    push = np.linalg.norm(result.impulses[:, :, 1:], axis=2)
    assert (push <= problem.friction * result.impulses[:, :, 0] * (1 + 1e-12) + 1e-15).all()
    momentum = (result.velocities - v) @ problem.mass
    expected = result.impulses.reshape(12, -1) @ problem.jacobian()
    size = (np.abs(problem.mass) @ np.abs(result.velocities - v).T).max()
    np.testing.assert_allclose(momentum, expected, atol=1e-9 * size)


def test_same_seed_same_bits_and_a_shorter_set_is_a_prefix():
    long, again, short, other = block_set(300), block_set(300), block_set(77), block_set(300, seed=1)
    np.testing.assert_array_equal(long.velocities, again.velocities)
    np.testing.assert_array_equal(long.velocities[:77], short.velocities)
    np.testing.assert_array_equal(long.impulses[:77], short.impulses)
    assert not np.array_equal(long.velocities, other.velocities)


@pytest.fixture
def clock(monkeypatch):
    return clock_of_work(monkeypatch)


def test_a_set_stopped_in_time_is_a_valid_prefix_and_a_later_deadline_gives_more(clock):
    full = block_set(20000)
    whole, sizes = clock.ns, []
    for part in (0.1, 0.3, 0.6):
        begin, deadline = clock.ns, int(part * whole)
        cut = block_set(20000, deadline_ns=deadline)
        n = len(cut.velocities)
        assert cut.status == Status.DEADLINE
        assert clock.ns - begin <= deadline
        np.testing.assert_array_equal(cut.velocities, full.velocities[:n])
        np.testing.assert_array_equal(cut.terminated, full.terminated[:n])
        np.testing.assert_array_equal([cut.lower, cut.upper], [full.lower, full.upper])
        assert n > 0.5 * part * 20000  # and does not waste it
        sizes.append(n)
    assert sizes == sorted(set(sizes)) and sizes[-1] < 20000


SEARCHED = {
    "compass gait, always searched": compass_gait_impact().problem,
    "disks, searched now and then": disk_stacking_impact().problem,
    "box, hardly searched": box(np.random.default_rng(0), 8).with_velocity([0.1, 0.05, -1.0, 0.2, -0.3, 0.1]),
}


@pytest.mark.parametrize("name", SEARCHED)
def test_a_set_stopped_within_a_search_is_a_prefix(name, clock):
    problem = SEARCHED[name]
    step = impulse_scale(problem)
    full = post_impact_set(problem, step, 60, 30, seed=5)
    whole = clock.ns
    for part in (0.03, 0.1, 0.5, 0.9):
        cut = post_impact_set(problem, step, 60, 30, seed=5, deadline_ns=int(part * whole))
        n = len(cut.velocities)
        assert 1 <= n < 60
        assert cut.status in (Status.DEADLINE, full.status)
        np.testing.assert_array_equal(cut.velocities, full.velocities[:n])
        np.testing.assert_array_equal(cut.terminated, full.terminated[:n])


@pytest.mark.parametrize("name", SEARCHED)
def test_threads_do_not_change_the_set(name):
    problem = SEARCHED[name]
    step = impulse_scale(problem)
    one, three = (post_impact_set(problem, step, 40, 30, threads=threads) for threads in (1, 3))
    for field in ("velocities", "impulses", "steps", "terminated", "coverage", "unique", "searched", "several"):
        np.testing.assert_array_equal(getattr(one, field), getattr(three, field))
    with pytest.raises(ValueError, match="threads is 2; it must be 1 or more, and 1 with a deadline"):
        post_impact_set(problem, step, 40, 30, threads=2, deadline_ns=1_000_000)


@pytest.mark.parametrize("law", ["inelastic", "poisson", "stronge"])
def test_where_not_even_one_sample_can_be_finished_in_time_there_is_the_impact_of_all_contacts_at_once(law, clock):
    options = {} if law == "inelastic" else {"law": law, "restitution": 0.4}
    problem = BLOCK.problem
    cut = post_impact_set(problem, 1e-7, 10, 10**7, deadline_ns=100_000, **options)  # millions of increments
    assert cut.status == Status.DEADLINE and len(cut.velocities) == 1 and cut.terminated.all()
    assert cut.residual < 1e-9 and cut.coverage == 0.0
    v = cut.velocities[0]
    assert (problem.normal_jacobian @ v > -1e-8).all()
    assert v @ problem.mass @ v <= problem.velocity @ problem.mass @ problem.velocity
    assert (v >= cut.lower - 1e-12).all() and (v <= cut.upper + 1e-12).all()
    if law == "inelastic":
        np.testing.assert_allclose(v, simultaneous_impact(problem).velocity, atol=1e-9)


@pytest.mark.parametrize("deadline", [None, 0])
def test_a_deadline_of_0_or_none_is_none(deadline):
    np.testing.assert_array_equal(block_set(300, deadline_ns=deadline).velocities, block_set(300).velocities)


def test_deadline_far_away_gives_the_full_set_and_waits_for_nothing(clock):
    full = block_set(64)
    whole = clock.ns
    result = block_set(64, deadline_ns=1000 * whole)
    assert (result.status, len(result.velocities)) == (Status.SOLVED, 64)
    np.testing.assert_array_equal(result.velocities, full.velocities)
    assert clock.ns - whole == whole  # the same work, and nothing twice


def test_block_set_holds_the_outcomes_of_h_figure_9():
    """Rest is the simultaneous outcome; the sequential ones leave A or B at 0.0930 m/s."""
    result = block_set(16384)
    assert result.status == Status.SOLVED
    normal = result.velocities @ BLOCK.problem.normal_jacobian.T
    for corner in ((0.093018385, 0.0), (0.0, 0.093018385)):
        assert np.linalg.norm(normal - corner, axis=1).min() < 5e-3
    assert np.linalg.norm(normal, axis=1).min() < 5e-3


def test_too_few_steps_are_a_status_and_leave_samples_unterminated():
    result = post_impact_set(BLOCK.problem, 1e-3, 20, 3)
    assert result.status == Status.STEP_LIMIT
    assert not result.terminated.any()
    assert (result.steps == 4).all()  # the last one is the ε/(3ψ) step of Algorithm 2
    assert result.coverage == 0.0


@pytest.mark.parametrize("change", ["free", "still", "leaving"])
def test_no_impact_leaves_every_sample_at_the_velocity(change):
    problem = {
        "free": BLOCK.problem.select([]),
        "still": BLOCK.problem.with_velocity(np.zeros(3)),
        "leaving": BLOCK.problem.with_velocity([1.0, 2.0, 0.0]),
    }[change]
    result = post_impact_set(problem, 1.0, 10, 5)
    assert result.status == Status.SOLVED
    assert result.terminated.all()
    assert not result.steps.any()
    np.testing.assert_array_equal(result.velocities, np.tile(problem.velocity, (10, 1)))
    np.testing.assert_array_equal([result.lower, result.upper], [problem.velocity] * 2)
    assert impulse_scale(problem) == 0.0


def test_singular_mass_gives_an_empty_set_with_its_status():
    problem = ContactProblem(np.diag([1.0, 0.0]), [0.0, -1.0], [[0, 1.0]], [[[1.0, 0]]], [0.5])
    result = post_impact_set(problem, 1.0, 10, 5)
    assert result.status == Status.SINGULAR
    assert result.velocities.shape == (0, 2)


def test_impulse_scale_of_a_point_mass_is_its_momentum():
    problem = ContactProblem(3 * np.eye(2), [0.0, -2.0], [[0, 1.0]], [[[1.0, 0]]], [0.5])
    assert impulse_scale(problem) == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 0.0}, "step"),
        ({"step": np.inf}, "step"),
        ({"samples": 2.5}, "samples is 2.5; a whole number"),
        ({"max_steps": 2.5}, "max_steps is 2.5; a whole number"),
        ({"seed": 1.5}, "seed is 1.5; a whole number"),
        ({"directions": 4.5}, "directions is 4.5; an even number"),
        ({"threads": 1.5}, "threads is 1.5"),
        ({"deadline_ns": np.nan}, "deadline_ns is nan"),
        ({"deadline_ns": -1}, "deadline_ns is -1"),
        ({"samples": 0}, "samples"),
        ({"max_steps": 0}, "max_steps"),
        ({"seed": -1}, "seed"),
        ({"directions": 5}, "directions"),
        ({"law": "elastic"}, "law"),
        ({"maximum_impulses": np.ones((2, 3, 4))}, "maximum_impulses"),
        ({"maximum_impulses": -np.ones((4, 5, 2))}, "maximum_impulses"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    arguments = {"step": 1.0, "samples": 4, "max_steps": 5, **options}
    with pytest.raises(ValueError, match=message):
        post_impact_set(BLOCK.problem, **arguments)
