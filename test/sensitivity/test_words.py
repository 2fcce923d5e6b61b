"""The word-wise affine map of nearly simultaneous touchdowns, held against executions."""

import numpy as np
import pytest

from helpers.straight_systems import Flat, Standing, box, touchdowns
from hybrid_contact_ros.sensitivity.orders import order_outcomes
from hybrid_contact_ros.sensitivity.words import touchdown_words
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

CASES = [(0, 2, 3, 0.0, 0.0), (1, 2, 4, 0.3, 0.0), (2, 3, 5, 0.3, 0.0), (3, 3, 4, 0.0, 0.4)]


@pytest.mark.parametrize("case", CASES)
def test_the_map_misses_executions_by_the_square_of_the_deviation(case):
    system = Flat(*case)
    m, nv = case[1], case[2]
    words = touchdown_words(system, np.zeros(nv), system.v, range(m))
    assert words.complete
    rng, ratios = np.random.default_rng(7), []
    for _ in range(6):
        x = rng.normal(size=2 * nv)
        errors = []
        for size in (1e-3, 1e-4):
            time = 40.0 * size
            run, word = system.run(size * x, time), words.word_of(size * x)
            if touchdowns(run) != tuple(step.struck for step in word.chain):
                break  # near the boundary of a cone, or a last touchdown that is later than the execution
            _, after = words.after(size * x)
            errors.append(np.abs(run.v[-1] - word.acceleration * time - after).max())
        if len(errors) == 2:
            assert errors[0] < 1e-3  # the deviation; without the matrix it is missed by as much
            ratios.append(errors[1] / max(errors[0], 1e-7))
    assert len(ratios) >= 3
    assert np.median(ratios) < 0.05  # 0.01 is second order, 0.1 first


def test_probabilities_are_those_of_executions_as_the_covariance_goes_to_zero():
    system = Flat(2, 3, 5, 0.3)
    words = touchdown_words(system, np.zeros(5), system.v, range(3))
    root = np.diag(np.random.default_rng(3).uniform(0.3, 1.0, 10))
    mean = 0.3 * root @ np.ones(10)
    expected = words.probabilities(root @ root.T, mean)
    assert expected.sum() == pytest.approx(1.0, abs=1e-7)
    shares = []
    for size, count in ((1e-2, 40), (1e-4, 250)):
        rng = np.random.default_rng(11)
        found, same = np.zeros(len(words.words)), 0
        for _ in range(count):
            x = size * (mean + root @ rng.normal(size=10))
            word = words.word_of(x)
            seen = touchdowns(system.run(x, 60.0 * size))
            same += seen == tuple(step.struck for step in word.chain)
            found += [seen == tuple(step.struck for step in each.chain) for each in words.words]
        shares.append(same / count)
    assert min(shares) > 0.98
    spread = np.sqrt(expected * (1.0 - expected) / count)
    assert (np.abs(found / count - expected) < 4.0 * spread + 0.01).all()


def test_cones_cover_everything_once_and_words_are_the_orders_of_two_contacts():
    system = Flat(2, 3, 5, 0.3)
    words = touchdown_words(system, np.zeros(5), system.v, range(3))
    rng = np.random.default_rng(1)
    for _ in range(200):
        x = rng.normal(size=10)
        inside = [(word.cone @ x >= 0.0).all() for word in words.words]
        assert sum(inside) == 1
        assert words.words[inside.index(True)] is words.word_of(x)
    pair = Flat(1, 2, 4, 0.3)
    two = touchdown_words(pair, np.zeros(4), pair.v, range(2))
    orders = order_outcomes(pair.problem(np.zeros(4), pair.v), range(2)).orders
    assert {word.word for word in two.words} == {outcome.word for outcome in orders}
    for word in two.words:
        same = next(outcome for outcome in orders if outcome.word == word.word)
        np.testing.assert_allclose(word.velocity, same.velocity, atol=1e-6)


def test_moving_all_touchdowns_in_time_changes_no_word_and_maps_motion_to_motion():
    """S F⁻ = F⁺: a state that is later by dt arrives later by dt."""
    system = Flat(2, 3, 5, 0.3)
    words = touchdown_words(system, np.zeros(5), system.v, range(3))
    along = np.r_[system.v, system.falling]
    for word in words.words:
        np.testing.assert_allclose(word.matrix @ along, np.r_[word.velocity, word.acceleration], atol=1e-5)
        np.testing.assert_allclose(word.cone @ along, 0.0, atol=1e-9)


def test_the_corner_is_reached_by_the_least_kinetic_change():
    words = touchdown_words(box(), [0.0, 0.11, 0.02], [0.1, -1.0, 0.0], [0, 1])
    np.testing.assert_allclose(words.q, [0.0, 0.1, 0.0], atol=1e-6)
    inertia = (0.4**2 + 0.2**2) / 12.0
    assert words.moved == pytest.approx(np.hypot(0.01, 0.02 * np.sqrt(inertia)), rel=1e-2)


def test_with_a_contact_closed_and_curved_constraints_the_map_holds():
    # A box on its left corner comes down on the right one and, with the same motion, on a wall's ledge beside it.
    corners = [
        Corner("left", -0.2, -0.1, (0.0, 1.0)),
        Corner("right", 0.2, -0.1, (0.0, 1.0)),
        Corner("upper", 0.2, 0.1, (-1.0, 0.0), -0.2),
    ]
    system = PlanarBox(0.4, 0.2, 1.0, 0.0, corners)
    pivot, rate = np.array([0.0, 0.1, 0.0]), np.array([0.1, -0.2, -1.0])
    words = touchdown_words(system, pivot, rate, [1, 2], closed=[0])
    assert len(words.words) == 2
    assert words.probabilities(np.eye(6)).sum() == pytest.approx(1.0, abs=1e-9)
    for word in words.words:
        assert np.abs(word.velocity[1:]).max() < 1e-6 or word.velocity[0] != words.v[0]


def test_refusals():
    system = Flat(1, 2, 4, 0.3)
    with pytest.raises(ValueError, match="do not approach"):
        touchdown_words(system, np.zeros(4), -system.v, [0, 1])
    with pytest.raises(ValueError, match="one set each"):
        touchdown_words(system, np.zeros(4), system.v, [0, 1], closed=[1])
    with pytest.raises(ValueError, match="one set each"):
        touchdown_words(system, np.zeros(4), system.v, [])
    words = touchdown_words(system, np.zeros(4), system.v, [0, 1])
    with pytest.raises(ValueError, match="covariance"):
        words.probabilities(np.eye(4))


def test_a_cut_word_says_so_and_still_has_its_probability():
    system = Flat(3, 3, 4, 0.0, 0.4)
    words = touchdown_words(system, np.zeros(4), system.v, range(3), max_impacts=3)
    cut = [word for word in words.words if word.why]
    assert cut and not words.complete
    assert all(word.matrix is None and "cap" in word.why for word in cut)
    assert words.probabilities(np.eye(8)).sum() == pytest.approx(1.0, abs=1e-6)
    inside = next(x for x in np.random.default_rng(0).normal(size=(100, 8)) if words.word_of(x).why)
    with pytest.raises(ValueError, match="no map"):
        words.after(inside)


@pytest.mark.parametrize(
    ("seed", "friction", "foot"),
    [(1, 0.0, "stays"), (6, 0.3, "stays"), (4, 0.3, "leaves"), (14, 0.3, "returns"), (26, 0.3, "returns")],
)
def test_a_foot_that_stands_while_others_land(seed, friction, foot):
    system = Standing(seed, 3, 6, friction)
    words = touchdown_words(system, np.zeros(6), system.v, [1, 2], closed=[0])
    assert words.complete and len(words.words) >= 2
    impacts = [step for word in words.words for step in word.chain]
    found = {"stays": all(0 in step.rests for step in impacts), "returns": any(0 in step.struck for step in impacts)}
    assert found == {"stays": foot == "stays", "returns": foot == "returns"}
    rng, ratios, same = np.random.default_rng(7), [], 0
    for _ in range(20):
        x = (rng.normal(size=(2, 6)) @ system.hold).ravel()
        errors = []
        for size in (1e-3, 1e-4):
            time = 40.0 * size
            run, word = system.run(size * x, time), words.word_of(size * x)
            seen, expected = touchdowns(run), tuple(step.struck for step in word.chain)
            same += seen == expected[: len(seen)]
            if seen != expected:
                continue  # a last touchdown that is later than the execution
            _, after = words.after(size * x)
            errors.append(np.abs(run.v[-1] - word.acceleration * time - after).max())
        if len(errors) == 2:
            assert errors[0] < 1e-3
            ratios.append(errors[1] / max(errors[0], 1e-7))
    assert same >= 38 and len(ratios) >= 8  # others are near the boundary of a cone
    assert np.median(ratios) < 0.05


def test_of_four_contacts_probabilities_add_to_one_and_are_the_shares_of_their_cones():
    system = Flat(5, 4, 6, 0.3)
    words = touchdown_words(system, np.zeros(6), system.v, range(4))
    rng = np.random.default_rng(8)
    root = np.diag(rng.uniform(0.3, 1.0, 12))
    mean = 0.2 * root @ np.ones(12)
    expected = words.probabilities(root @ root.T, mean)
    assert expected.sum() == pytest.approx(1.0, abs=1e-4)
    count = 40_000
    x = mean + rng.normal(size=(count, 12)) @ root
    inside = np.array([(x @ word.cone.T >= 0.0).all(axis=1).sum() for word in words.words])
    assert inside.sum() == count
    spread = np.sqrt(expected * (1.0 - expected) / count)
    assert (np.abs(inside / count - expected) < 5.0 * spread + 1e-4).all()
