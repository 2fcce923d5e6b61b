"""Scores of sets by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.impacts.convex_set import ConvexSet
from hybrid_contact_ros.scoring.containment import SetScore, set_score, smallest_ball, summary


def test_a_set_is_scored_in_the_kinetic_norm_over_its_jump():
    """M = diag(4, 1), jump 2: along the first axis lengths are twice the coordinates."""
    found = ConvexSet(np.zeros((1, 2)), np.array([[0.5, 0.0], [0.0, 1.0]]), 0.2, np.diag([4.0, 1.0]), 2.0)
    score = set_score(found, np.zeros(2), np.array([2.0, 0.5]))
    assert score.distance == pytest.approx((2.0 * 1.5 - 0.2) / 2.0)
    assert score.nominal_distance == pytest.approx(np.hypot(4.0, 0.5) / 2.0)
    assert score.radius == pytest.approx((np.sqrt(2.0) + 0.2) / 2.0)
    assert score.half_width == pytest.approx((1.0 + 0.2) / 2.0)
    assert set_score(found, np.zeros(2), np.array([0.4, -0.9])).distance == 0.0


def test_a_set_without_a_jump_is_refused():
    still = ConvexSet(np.zeros((1, 2)), np.zeros((0, 2)), 0.0, np.eye(2), 0.0)
    with pytest.raises(ValueError, match="does not jump"):
        set_score(still, np.zeros(2), np.zeros(2))


def test_the_smallest_ball_holds_as_many_and_a_smaller_one_does_not():
    rng = np.random.default_rng(0)
    far = rng.gamma(2.0, 0.1, 200)
    scores = [SetScore(max(0.0, x - 0.3), x, 0.2, 0.05) for x in far]
    for tolerance in (0.0, 0.05, 0.1):
        share = np.mean([score.distance <= tolerance for score in scores])
        ball = smallest_ball(scores, tolerance)
        assert np.mean(far <= ball + tolerance + 1e-12) >= share > np.mean(far <= ball + tolerance - 1e-9)
    assert smallest_ball([SetScore(1.0, 1.0, 0.1, 0.1)], 0.05) == 0.0


def test_a_summary_counts_shares_and_takes_medians():
    scores = [SetScore(0.0, 0.3, 0.1, 0.01), SetScore(0.04, 0.5, 0.2, 0.02), SetScore(0.2, 0.9, 0.4, 0.06)]
    found = summary(scores)
    assert (found.count, found.inside, found.within_5, found.within_10) == (3, 1 / 3, 2 / 3, 2 / 3)
    assert (found.radius, found.half_width) == (0.2, 0.02)
    assert found.ball_5 == pytest.approx(0.45) and found.ball_10 == pytest.approx(0.4)
