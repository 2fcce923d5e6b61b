"""How what a state says by forces, rates and gaps is weighed against each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.belief import SHARE, Belief, evidence
from hybrid_contact_ros.kernels.estimation import belief_likelihoods as likelihoods
from hybrid_contact_ros.kernels.estimation.landed_forces import force_memory

OFTEN = (100.0, 200.0, 333.0, 500.0, 1000.0)  # states a second


def after(seconds: float, often: float, **state) -> float:
    """Belief in one contact that has stood, and is as ``state`` says for so long."""
    belief = Belief(1)
    for _ in range(10):
        belief.step(dt=1.0 / often, stood=1)
    for _ in range(round(seconds * often)):
        found = belief.step(dt=1.0 / often, **state)
    return float(found[0, 0])


@pytest.mark.parametrize("often", OFTEN)
def test_a_foot_that_hovers_without_force_is_open_however_seldom_states_come(often):
    assert after(0.1, often, gap=0.009, rate=0.035, slide=0.01, load=0.0, force=0.0, touching=0) < 0.2


@pytest.mark.parametrize("often", OFTEN)
def test_a_foot_that_stands_under_a_part_of_its_share_is_closed_however_seldom_states_come(often):
    assert after(0.1, often, load=0.3 * SHARE, force=0.3 * SHARE, stood=1) > 0.9


@settings(deadline=None, max_examples=60)
@given(st.floats(0.0, 0.05), st.floats(1e-4, 0.05), st.floats(1e-4, 0.05))
def test_two_kinds_of_evidence_weigh_against_each_other_as_at_a_thousand_states_a_second(dt, one, other):
    def weight(correlation, dt=dt):
        return likelihoods.effective(dt, False, correlation)

    assert weight(one) * one == pytest.approx(weight(other) * other)
    assert weight(one) >= weight(one, 0.5 * dt)


@pytest.mark.parametrize("often", OFTEN)
@pytest.mark.parametrize("rises", [0.2, 0.45, 1.0])  # m/s
def test_a_foot_that_has_just_left_and_rises_straight_does_not_stand_again_while_its_force_fades(often, rises):
    belief = Belief(1)
    for _ in range(10):
        belief.step(dt=1.0 / often, stood=1)
    for k in range(round(0.02 * often)):
        time = (k + 1) / often
        found = belief.step(
            dt=1.0 / often, gap=rises * time, rate=rises, load=0.0, touching=0, force=0.6 * SHARE * np.exp(-time / 0.01)
        )
        if time > 0.004:
            assert found[0, 0] < 0.4


def test_a_foot_that_sinks_straight_may_do_so_in_the_ground():
    def closed(rate):
        out = np.zeros(3)
        state = evidence(1, rate=rate, touching=0)
        likelihoods.single_likelihoods(0, Belief(1).settings, state, np.zeros(1), force_memory(1), out)
        return out[1] - out[0]

    assert closed(-0.3) > closed(0.3) + 1.0


@pytest.mark.parametrize("often", OFTEN)
@pytest.mark.parametrize("without", [{"trusted": False, "observed": False}, {"weight": 0.1}, {"observed": False}])
def test_a_foot_that_stood_and_rises_straight_leaves_where_no_force_that_counts_is_observed(often, without):
    belief = Belief(1)
    for _ in range(30):
        belief.step(dt=1.0 / often, stood=1, touching=0, **without)
    for k in range(round(0.03 * often)):
        found = belief.step(dt=1.0 / often, stood=1, touching=0, gap=0.2 * (k + 1) / often, rate=0.2, **without)
    assert found[0, 0] < 0.2


def test_a_foot_that_stood_and_presses_stands_on_while_it_seems_to_rise_straight():
    assert after(0.03, 1000.0, stood=1, gap=0.003, rate=0.1) > 0.9


@pytest.mark.parametrize("pull", [0.3, 1.2, 4.0])  # shares of the weight
def test_a_pull_is_hardly_more_evidence_of_a_contact_than_no_force(pull):
    """A foot that has left, 3 mm up, and seems to be pulled on: by the inertia of drives that no model has."""

    def belief(force: float) -> float:
        return after(0.02, 500.0, gap=0.003, rate=0.1, load=0.0, touching=0, force=force, covariance=np.eye(1) * 1.0)

    assert belief(0.0) < 0.01 and belief(-pull * SHARE) < 0.01
