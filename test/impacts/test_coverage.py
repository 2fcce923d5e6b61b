"""What a set of samples says of the draws that it does not have."""

from itertools import combinations

import numpy as np
import pytest

from hybrid_contact_ros.impacts.coverage import RADIUS, comparisons, coverage_bound, lower_confidence_bound
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.kernels.impacts.coverage import BLOCK, near_count
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact


def terminated(count: int) -> np.ndarray:
    info = np.zeros((count, 7))
    info[:, 1] = 1.0
    return info


def counted(fraction, kept, limit, info, jumps):
    return near_count(fraction, kept, limit, info, jumps, np.empty(jumps.shape[::-1]), np.empty(BLOCK))


def covered(info, jumps):
    """The bound of samples, and ε."""
    hits, trials, radius = counted(RADIUS, *comparisons(len(jumps)), info, jumps)
    return coverage_bound(hits, trials), radius


def test_clopper_pearson_bound():
    assert lower_confidence_bound(0, 10) == 0.0
    assert lower_confidence_bound(10, 10) == pytest.approx(0.05**0.1)
    assert lower_confidence_bound(8, 10) == pytest.approx(0.49309, abs=1e-5)  # table value, one-sided 95 %
    with pytest.raises(ValueError, match="hits"):
        lower_confidence_bound(3, 2)
    with pytest.raises(ValueError, match="confidence"):
        lower_confidence_bound(1, 2, 1.0)


@pytest.mark.parametrize("kept", [1, 3, 6])
def test_hits_are_the_mean_over_all_choices_of_the_others(kept):
    rng = np.random.default_rng(kept)
    jumps, info = rng.normal(size=(7, 2)), terminated(7)
    info[2, 1] = 0.0
    used = info[:, 1] > 0.0
    radius = 0.4 * np.linalg.norm(jumps[used], axis=1).max()
    near = (np.linalg.norm(jumps[:, None] - jumps, axis=2) <= radius) & used & used[:, None]
    expected = sum(
        np.mean([near[i, list(chosen)].any() for chosen in combinations([j for j in range(7) if j != i], kept)])
        for i in range(7)
    )
    hits, trials, epsilon = counted(0.4, kept, 1 << 20, info, jumps)
    assert (hits, trials, epsilon) == (pytest.approx(expected), 7, pytest.approx(radius))


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.5])
def test_of_many_samples_up_to_eight_neighbours_are_counted_wherever_they_stand(fraction):
    rng = np.random.default_rng(8)
    count, kept = 3 * BLOCK + 5, 100
    jumps, info = rng.normal(size=(count, 3)), terminated(count)
    info[rng.random(count) < 0.1, 1] = 0.0
    used = info[:, 1] > 0.0
    radius = fraction * np.linalg.norm(jumps[used], axis=1).max()
    near = (np.linalg.norm(jumps[:, None] - jumps, axis=2) <= radius) & used & used[:, None]
    neighbours = np.minimum(near.sum(axis=1) - used, 8)
    chance = [1.0 - np.prod([(count - 1 - d - kept) / (count - 1 - d) for d in range(n)]) for n in neighbours[used]]
    hits, trials, _ = counted(fraction, kept, 1 << 30, info, jumps)
    assert (hits, trials) == (pytest.approx(sum(chance)), count)


def test_comparisons_are_limited():
    jumps = 100.0 + np.arange(50.0)[:, None] ** 2
    assert counted(1e-6, 30, 490, terminated(50), jumps)[:2] == (0.0, 10)
    assert counted(1e-6, 30, 491, terminated(50), jumps)[:2] == (0.0, 11)


def test_nothing_is_said_of_one_sample_or_of_none_that_terminated():
    assert covered(terminated(1), np.ones((1, 3))) == (0.0, pytest.approx(0.05 * 3**0.5))
    assert covered(np.zeros((9, 7)), np.ones((9, 3)))[0] == 0.0


@pytest.mark.parametrize("count", [3, 10, 30, 100])
def test_coverage_holds_where_outcomes_are_few_or_many_or_rare(count):
    """Outcomes at points apart, each with a probability: then the missing part is known exactly."""
    rng = np.random.default_rng(count)
    even = [np.full(k, 1.0 / k) for k in (max(count // 5, 2), count // 3 + 1, count, 4 * count)]
    rare = [np.r_[1 - part, np.full(k, part / k)] for part in (0.1, 0.6) for k in (2, count // 5 + 1, 3 * count)]
    for chances in even + rare:
        failed = 0
        for _ in range(400):
            which = rng.choice(chances.size, count, p=chances)
            bound, _ = covered(terminated(count), np.eye(chances.size)[which])
            failed += bound > chances[np.unique(which)].sum() + 1e-12
        assert failed <= 35  # 5 % of 400 is 20; 36 or more has a probability of 0.05 %


@pytest.mark.parametrize("example", [rocking_block_impact(), compass_gait_impact()], ids=["block", "compass gait"])
def test_coverage_holds_for_fresh_draws_more_often_than_its_confidence(example):
    problem = example.problem
    factor = np.linalg.cholesky(problem.mass)
    fresh = post_impact_set(problem, example.step, 4000, example.max_steps, seed=999).velocities @ factor
    held, tight = 0, 0
    for seed in range(60):
        result = post_impact_set(problem, example.step, 40, example.max_steps, seed=seed)
        near = np.zeros(4000, dtype=bool)
        for velocity in result.velocities @ factor:
            near |= np.linalg.norm(fresh - velocity, axis=1) <= result.coverage_radius
        held += near.mean() >= result.coverage
        tight += near.mean() - result.coverage < 0.25
    assert held >= 54  # 95 % of 60 is 57; 53 or fewer has probability below 3 %
    assert tight >= 45  # of the compass gait's sets four fifths are (165 and 158 of 200, by either way of sampling)
