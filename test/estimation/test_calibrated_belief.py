"""What the belief makes of feet that skim the ground and of noisy velocities, and what is published of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.belief import SHARE, Belief, evidence
from hybrid_contact_ros.kernels.estimation import belief_likelihoods as likelihoods
from hybrid_contact_ros.kernels.estimation.belief_step import calibrated


def skimming(part: float) -> float:
    """Belief in a foot that slides along the ground while it bears this part of its share of the weight."""
    belief = Belief(1, SHARE)
    for _ in range(100):
        found = belief.step(slide=0.25, load=part * SHARE, force=part * SHARE)
    return float(found[0, 0])


def test_a_foot_that_slides_under_little_load_is_less_closed_than_one_that_carries_its_share():
    found = [skimming(part) for part in (0.05, 0.15, 0.5, 1.0)]
    assert found == sorted(found) and found[0] < 0.4 and found[-1] > 0.9


def test_a_foot_that_stands_under_the_same_load_is_closed():
    belief = Belief(1, SHARE)
    for _ in range(100):
        found = belief.step(load=0.15 * SHARE, force=0.15 * SHARE)
    assert found[0, 0] > skimming(0.15) + 0.3


@settings(deadline=None, max_examples=60)
@given(st.floats(-0.05, 0.05), st.floats(0.0, 0.05))
def test_velocities_that_are_noise_say_nothing(rate, slide):
    config = Belief(1).settings

    def says(noise):
        out = np.zeros(3)
        quiet = {"gap_sigmas": 1e6, "load": 0.0, "touching": 0}  # nothing but velocities speaks
        still = evidence(1, rate=0.0, slide=0.0, rate_sigmas=1e200, **quiet)
        likelihoods.single_likelihoods(0, config, still, out)
        nothing = out.copy()
        likelihoods.single_likelihoods(0, config, evidence(1, rate=rate, slide=slide, rate_sigmas=noise, **quiet), out)
        return float(np.abs(out - nothing).max())

    found = [says(noise) for noise in (2.0, 20.0, 200.0)]  # m/s
    assert found == sorted(found, reverse=True) and found[0] < 0.5 and found[-1] < 1e-3


@settings(deadline=None, max_examples=100)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.05, 5.0), st.floats(-3.0, 3.0))
def test_the_published_probability_rises_with_the_belief_and_stays_a_probability(a, b, slope, offset):
    p, q = (calibrated(slope, offset, x) for x in sorted((a, b)))
    assert 0.0 <= p <= q <= 1.0
    assert calibrated(1.0, 0.0, a) == a
    if 1e-6 < a < 1.0 - 1e-6:
        logit = math.log(a) - math.log1p(-a)
        assert calibrated(slope, offset, a) == pytest.approx(1.0 / (1.0 + math.exp(-offset - slope * logit)), rel=1e-9)
