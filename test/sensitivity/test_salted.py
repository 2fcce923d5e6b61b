"""The salted Kalman filter's step: closed forms, lower rank, mixtures over words, refusals, and runs of simulate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.landing_block import filters
from helpers.robot_systems import example
from helpers.straight_systems import Flat
from hybrid_contact_ros import EventMap, merged_branches, salted_branches, salted_update, simulate, touchdown_words
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.consistency import consistency
from hybrid_contact_ros.sensitivity.saltation import Validity, refusal, saltation
from hybrid_contact_ros.sensitivity.words import TouchdownWords
from hybrid_contact_ros.systems.painleve_rod import painleve_rod
from hybrid_contact_ros.systems.robot import RobotSystem

GRAVITY = 9.81


def bounce(speed=2.0, restitution=0.5, **columns):
    return saltation(
        np.diag([1.0, -restitution]),
        np.array([1.0, 0.0]),
        np.array([-speed, -GRAVITY]),
        np.array([restitution * speed, -GRAVITY]),
        velocity_after=np.array([restitution * speed]),
        kind="touchdown",
        **columns,
    )


def test_a_bouncing_ball_has_the_covariance_of_its_closed_form():
    """Ξ = [[−e, 0], [(1 + e) g / v, −e]] of a ball that arrives at v."""
    e, speed = 0.5, 2.0
    matrix = np.array([[-e, 0.0], [(1.0 + e) * GRAVITY / speed, -e]])
    sigma = np.array([[4e-4, 1e-4], [1e-4, 9e-4]])
    (q, v), covariance = salted_update(([0.0], [-speed]), sigma, bounce(speed, e))
    assert (q[0], v[0]) == (0.0, e * speed)
    np.testing.assert_allclose(covariance, matrix @ sigma @ matrix.T, rtol=1e-12)


def test_doubt_of_the_ground_and_of_restitution_is_added():
    parameters = (("restitution", 0), ("height", 0))
    event = bounce(
        reset_parameters=np.array([[0.0, 0.0], [2.0, 0.0]]),
        guard_parameters=np.array([0.0, -1.0]),
        parameters=parameters,
    )
    noise = np.diag([0.1, 0.02]) ** 2
    _, covariance = salted_update(([0.0], [-2.0]), np.zeros((2, 2)), event, parameter_covariance=noise)
    # v⁺ = e v by ∂e; a ground that is higher by z is a ball that is lower by z, and z higher afterwards.
    by_e, by_height = np.array([0.0, 2.0]), np.array([1.5, -1.5 * GRAVITY / 2.0])
    expected = noise[0, 0] * np.outer(by_e, by_e) + noise[1, 1] * np.outer(by_height, by_height)
    np.testing.assert_allclose(covariance, expected, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(0, 6), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_a_covariance_of_lower_rank_keeps_it_and_gets_no_noise(seed, rank, kept):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(6, kept)) @ rng.normal(size=(kept, 6))
    factor = rng.normal(size=(6, rank)) * 10.0 ** rng.uniform(-3, 1, size=(6, 1))
    event = EventMap(np.zeros((1, 3)), matrix[None])
    _, covariance = salted_update((np.zeros(3), np.zeros(3)), factor @ factor.T, event)
    expected = (matrix @ factor) @ (matrix @ factor).T
    scale = np.linalg.norm(matrix, axis=1) * np.linalg.norm(factor)
    assert (np.abs(covariance - expected) <= 1e-12 * np.outer(scale, scale)).all()
    values = np.linalg.eigvalsh(covariance)
    assert (values[: 6 - min(rank, kept)] <= 1e-12 * scale.max() ** 2).all()
    np.testing.assert_array_equal(covariance, covariance.T)


@pytest.fixture(scope="module", params=[(1, 2, 4, 0.3), (2, 3, 5, 0.3)])
def cluster(request):
    system = Flat(*request.param)
    m, nv = request.param[1:3]
    words = touchdown_words(system, np.zeros(nv), system.v, range(m))
    rng = np.random.default_rng(8)
    root = np.diag(rng.uniform(0.3, 1.0, 2 * nv)) @ rng.normal(size=(2 * nv, 2 * nv)) * 0.02
    return words, root, 0.01 * rng.normal(size=2 * nv)


def test_moments_over_words_are_those_of_the_map_applied_to_draws(cluster):
    words, root, offset = cluster
    nv, count = words.v.size, 200_000
    (q, v), covariance = salted_update((words.q + offset[:nv], words.v + offset[nv:]), root @ root.T, words)
    drawn = offset + np.random.default_rng(2).normal(size=(count, 2 * nv)) @ root.T
    chosen = np.array([(drawn @ word.cone.T).min(axis=1) for word in words.words]).argmax(axis=0)
    after = np.empty_like(drawn)
    for k, word in enumerate(words.words):
        after[chosen == k] = drawn[chosen == k] @ word.matrix.T + np.r_[np.zeros(nv), word.velocity]
    assert len(np.unique(chosen)) == len(words.words)
    seen, claimed = after.mean(axis=0), np.r_[q - words.q, v]
    deviation = np.sqrt(np.diag(covariance))
    assert (np.abs(seen - claimed) < 5.0 * deviation / np.sqrt(count) + 1e-12).all()
    off = np.abs(np.cov(after.T) - covariance) / np.outer(deviation, deviation)
    assert off.max() < 8.0 / np.sqrt(count)
    # Gaussians of whole P with weights would not do: the doubt within a word is smaller than P.
    weights = words.probabilities(root @ root.T, offset)
    wrong = sum(p * w.matrix @ root @ root.T @ w.matrix.T for p, w in zip(weights, words.words, strict=True))
    means = np.array([np.r_[np.zeros(nv), w.velocity] + w.matrix @ offset for w in words.words])
    wrong = wrong + np.cov(means.T, aweights=weights, ddof=0)
    assert (np.abs(wrong - covariance) / np.outer(deviation, deviation)).max() > 40.0 / np.sqrt(count)


def test_branches_have_the_probabilities_of_the_words_and_merge_to_the_update(cluster):
    words, root, offset = cluster
    nv = words.v.size
    mean = words.q + offset[:nv], words.v + offset[nv:]
    branches = salted_branches(mean, root @ root.T, words)
    weights = {b.word: b.probability for b in branches}
    expected = words.probabilities(root @ root.T, offset)
    for word, probability in zip(words.words, expected, strict=True):
        assert weights.get(word.word, 0.0) == pytest.approx(probability, abs=1e-6)
    assert sum(weights.values()) == pytest.approx(1.0, abs=1e-12)
    (q, v), covariance = salted_update(mean, root @ root.T, words)
    whole = merged_branches(branches)
    np.testing.assert_allclose(q, whole.mean[0], atol=1e-12)
    np.testing.assert_allclose(v, whole.mean[1], atol=1e-12)
    np.testing.assert_allclose(covariance, whole.covariance, atol=1e-12)


def test_a_mean_far_from_all_borders_takes_one_word(cluster):
    words, root, _ = cluster
    nv, word = words.v.size, words.words[0]
    inward = np.linalg.lstsq(word.cone, np.ones(len(word.cone)), rcond=None)[0]
    offset = inward / np.linalg.norm(inward)
    small = 1e-4 * root
    (q, v), covariance = salted_update((words.q + offset[:nv], words.v + offset[nv:]), small @ small.T, words)
    np.testing.assert_allclose(np.r_[q - words.q, v - word.velocity], word.matrix @ offset, atol=1e-9)
    expected = word.matrix @ small @ small.T @ word.matrix.T
    np.testing.assert_allclose(covariance, expected, atol=1e-12 * np.abs(expected).max())


def test_parts_of_words_do_what_the_words_do(cluster):
    words, root, offset = cluster
    nv = words.v.size
    parts = EventMap(
        np.array([w.velocity for w in words.words]),
        np.array([w.matrix for w in words.words]),
        tuple(w.cone for w in words.words),
        (words.q, words.v),
    )
    mean = words.q + offset[:nv], words.v + offset[nv:]
    one, other = (salted_update(mean, root @ root.T, event) for event in (words, parts))
    np.testing.assert_array_equal(one.covariance, other.covariance)
    np.testing.assert_array_equal(one.mean[1], other.mean[1])


def test_a_floating_base_is_displaced_in_its_tangent_space():
    model = example("go2", "go2_description/urdf/go2.urdf")
    system = RobotSystem(model)
    rng = np.random.default_rng(3)
    corner = system.integrate(system.neutral(), 0.3 * rng.normal(size=18))
    v = rng.normal(size=18)
    event = EventMap(np.array([v, v]), np.array([np.eye(36)] * 2), (np.eye(36)[:1], -np.eye(36)[:1]), (corner, v))
    step = 0.05 * rng.normal(size=18)
    sigma = np.diag(rng.uniform(0.5, 1.0, 36)) * 1e-4
    mean = system.integrate(corner, step), v + 0.1
    for known in (system, model):  # two words of the same map: nothing changes
        (q, v_after), covariance = salted_update(mean, sigma, event, system=known)
        np.testing.assert_allclose(system.difference(corner, q), step, atol=1e-12)
        np.testing.assert_allclose(v_after, mean[1], atol=1e-12)
        np.testing.assert_allclose(covariance, sigma, atol=1e-10 * sigma.max() + 1e-6 * sigma.max())
    with pytest.raises(ValueError, match="give the system"):
        salted_update(mean, sigma, event)


def test_a_robot_s_difference_undoes_its_displacement():
    system = RobotSystem(example("go2", "go2_description/urdf/go2.urdf"))
    rng = np.random.default_rng(1)
    q = system.integrate(system.neutral(), rng.normal(size=18))
    step = rng.normal(size=18)
    np.testing.assert_allclose(system.difference(q, system.integrate(q, step)), step, atol=1e-12)


def test_nees_of_a_landing_rod_is_that_of_chi_squared_as_the_covariance_goes_to_zero():
    """Rank 3 of 6: what the touchdown leaves is confirmed on the range, and the rest falls with the square."""
    system, q, v, end = painleve_rod(1.0), np.array([0.36, 1.03, 1.2]), np.array([0.2, 0.1, 0.3]), 0.3
    options = {"rtol": 1e-11, "atol": 1e-13}
    execution = simulate(system, q, v, end, **options)
    flow = variational_flow(execution)
    event = execution.events[0]
    before = flow.at(np.nextafter(event.time, 0.0))[0]
    nulls = []
    for size, count in ((1e-3, 12), (1e-4, 40)):
        prior = before @ before.T * size**2
        (q_, v_), sigma = salted_update((event.q, event.velocity_before), prior, flow.saltations[0])
        onward = simulate(system, q_, v_, end, t_start=event.time, mode=event.after, **options)
        after = variational_flow(onward).matrix
        rng = np.random.default_rng(6)
        off = []
        for _ in range(count):
            x = size * rng.normal(size=6)
            run = simulate(system, q + x[:3], v + x[3:], end, **options)
            off.append(np.r_[run.q[-1] - onward.q[-1], run.v[-1] - onward.v[-1]])
        salted = consistency(off, after @ sigma @ after.T)
        assert salted.rank == 3
        gone = np.linalg.eigh(after @ sigma @ after.T)[1][:, :3]
        ignoring = np.sqrt(np.diag(gone.T @ after @ prior @ after.T @ gone))
        assert ignoring.min() > 0.5 * size > 30.0 * np.abs(np.array(off) @ gone).max()  # doubts where nothing is left
        nulls.append(np.abs(salted.null[:12]).max())
    low, high = salted.interval(0.999)
    assert low < salted.ratio < high
    assert nulls[1] < 0.02 * nulls[0]


def test_a_block_that_lands_flat_has_the_covariance_of_both_orders():
    """Its corners' order turns it by ±0.62 rad/s: two far apart parts, which one word alone knows nothing of."""
    found = filters(1e-4, 80)
    assert found.words.rank == 5  # the span of both words, of rank 3 each, and of the jump between them
    error = found.words.nees.std() / np.sqrt(80) / found.words.rank
    assert found.words.ratio == pytest.approx(1.0, abs=4.0 * error)
    assert error < 0.12
    assert np.abs(found.words.null).max() < 1e-6
    assert found.one.ratio > 1e6
    assert found.share == pytest.approx(found.probability, abs=4.0 * np.sqrt(0.25 / 80))


BALL = ([0.0], [-2.0])


@pytest.mark.parametrize(
    ("mean", "covariance", "event", "text"),
    [
        (BALL, np.eye(2), refusal("touchdown", frozenset(), Validity.GRAZING, "a touch"), "grazing.*a touch"),
        (BALL, np.eye(3), bounce(), "shape"),
        (BALL, [[1.0, np.inf], [np.inf, 1.0]], bounce(), "finite"),
        (BALL, [[1.0, 0.5], [0.0, 1.0]], bounce(), "not symmetric"),
        (BALL, [[1.0, 2.0], [2.0, 1.0]], bounce(), "indefinite"),
        (BALL, np.diag([1.0, -1e-3]), bounce(), "indefinite"),
        (([0.0], [np.nan]), np.eye(2), bounce(), "finite"),
        (BALL, np.eye(2), "touchdown", "Saltation, TouchdownWords or an EventMap"),
        (BALL, np.eye(2), EventMap(np.zeros((1, 2)), np.zeros((1, 2, 2))), "shape"),
        (BALL, np.eye(2), EventMap(np.zeros((2, 1)), np.zeros((2, 2, 2))), "cone each"),
        (BALL, np.eye(2), saltation(np.eye(2), np.array([1.0, 0]), -np.ones(2), np.ones(2)), "velocity after"),
    ],
)
def test_what_is_not_valid_is_refused_with_the_reason(mean, covariance, event, text):
    with pytest.raises(ValueError, match=text):
        salted_update(mean, covariance, event)


def test_words_without_a_map_are_refused_where_they_have_a_probability():
    system = Flat(1, 2, 4, 0.3)
    words = touchdown_words(system, np.zeros(4), system.v, range(2), max_impacts=1)
    assert isinstance(words, TouchdownWords) and not words.complete
    with pytest.raises(ValueError, match=r"no map, and a probability of"):
        salted_update((words.q, words.v), np.eye(8), words)


def test_a_border_without_doubt_is_refused_and_a_certain_order_is_taken():
    system = Flat(1, 2, 4, 0.3)
    words = touchdown_words(system, np.zeros(4), system.v, range(2))
    with pytest.raises(ValueError, match="border of two words"):
        salted_update((words.q, words.v), np.zeros((8, 8)), words)
    word = words.words[0]
    q = words.q + 1e-3 * word.cone[0, :4]
    (branch,) = salted_branches((q, words.v), np.zeros((8, 8)), words)
    assert (branch.word, branch.probability) == (word.word, 1.0)
    np.testing.assert_array_equal(branch.covariance, 0.0)
