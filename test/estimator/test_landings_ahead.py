"""Sets of landings whose feet touch one after the other."""

import numpy as np
import pytest

from helpers.bodies import NO_DEADLINE, block, same_bits
from helpers.landing_blocks import EFFORT, KNOWN, SURE, TILT, falling, held
from hybrid_contact_ros.codes import LandingPhase
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.impacts.steps import without_pauses
from hybrid_contact_ros.mechanics.state import RobotState


def published(state: RobotState, **more):
    thing = block(**{**NO_DEADLINE, **KNOWN, **more})
    thing.update(state)
    return thing.next_impact()


def hurried(thing, sets):
    """The set as the node makes it: its first sample is finished, however long a busy machine takes for it."""
    return without_pauses(sets.ahead(thing.impact_ahead(), sampled=True))


def test_edges_that_are_told_apart_are_landings_of_their_own():
    found = published(falling(0.01), activation=SURE)
    assert found.contacts.tolist() == [2, 3] and found.after_each == ()
    assert found.time_to_impact == pytest.approx(0.00954, abs=1e-4) and found.order_probability == pytest.approx(0.5)
    assert found.earliest <= found.time_to_impact <= found.latest
    assert found.phase == LandingPhase.BEFORE


def test_edges_that_are_not_told_apart_are_a_cluster_with_a_set_after_the_first():
    unsure = SURE | {"gap_sigma": 0.004}
    found = published(falling(0.01), activation=unsure)
    assert found.contacts.tolist() == [0, 1, 2, 3] and found.phase == LandingPhase.BEFORE
    first = found.after_each[0]
    assert first.contacts.tolist() == [2, 3] and first.phase == LandingPhase.INCOMPLETE
    assert first.stamp_ns == found.stamp_ns and first.time_to_impact == found.time_to_impact
    alone = published(falling(0.01), activation=unsure, landing={"each_foot": False})
    assert alone.after_each == () and same_bits(alone.velocities, found.velocities)


def test_in_a_hurry_a_cluster_is_a_prefix_and_goes_without_the_sets_after_its_first_feet():
    unsure = SURE | {"gap_sigma": 0.004}
    whole = published(falling(0.01), activation=unsure)
    thing = block(**KNOWN, activation=unsure, impact={"deadline": 1e-6, "samples": 32})
    sets = ImpactSets(thing.model, thing.config)
    for k in range(3):  # the first lays out its arrays, the second tells what they cost
        thing.update(falling(0.01 - 1e-5 * k, k))
        hurried(thing, sets)
    thing.reset()
    thing.update(falling(0.01))
    found = hurried(thing, sets)
    assert found.truncated and found.after_each == ()
    count = len(found.velocities)
    assert 0 < count < len(whole.velocities) and same_bits(found.velocities, whole.velocities[:count])
    ample = published(falling(0.01), activation=unsure, impact={"deadline": 10.0, "samples": 32})
    assert same_bits(ample.velocities, whole.velocities)
    assert same_bits(ample.after_each[0].velocities, whole.after_each[0].velocities)


def test_a_cluster_holds_what_both_ends_of_its_times_lead_to():
    """The edge that lands first turns the block; what the other then meets depends on when it lands."""
    flat = {"duration_min": 0.001, "duration_max": 0.004, "spread": 0.0}
    found = published(falling(0.01), activation=SURE | {"gap_sigma": 0.004}, landing=flat)
    at_once = {"deadline": 0.0, "samples": 32, "window": 0.0}
    sure = published(falling(0.01), activation=SURE, landing=flat, impact=at_once)
    assert len(found.generators) > len(sure.generators)
    assert (found.lower <= found.velocities.min(axis=0)).all() and (found.upper >= found.velocities.max(axis=0)).all()


def test_without_landings_all_touch_at_once_and_v_minus_is_extrapolated_by_the_acceleration():
    off = {"duration_min": 0.0, "duration_max": 0.0, "course": 0.0, "spread": 0.0, "drive_max": 0.0, "slip": 0.0}
    off |= {"rebound_min": 0.0, "rebound_max": 0.0, "settling": 0.0, "bounce": 0.0, "creep": 0.0}
    state = falling(0.01)
    found = published(state, landing=off)
    assert found.contacts.tolist() == [0, 1, 2, 3] and found.after_each == () and found.generators is None
    gravity = 9.81 * np.array([np.sin(TILT), 0, -np.cos(TILT)])
    np.testing.assert_allclose(found.velocity_minus[:3], state.v[:3] + found.time_to_impact * gravity, rtol=1e-9)


def test_a_foot_that_landed_lately_makes_the_next_landing_incomplete():
    thing = block(**NO_DEADLINE, **KNOWN, activation=SURE)
    for k in range(14):  # the lower edge comes down after 10 ms, and is held there
        thing.update(falling(max(0.01 - 0.001 * k, 0.0), 1_000_000 * k) if k < 11 else held(1_000_000 * k))
    found = thing.next_impact()
    assert found.contacts.tolist() == [0, 1, 2, 3] and found.phase == LandingPhase.INCOMPLETE


def test_equal_streams_give_equal_sets():
    one, two = (published(falling(0.01), activation=SURE | {"gap_sigma": 0.004}) for _ in range(2))
    assert same_bits(one, two)


NOISE = np.array([0.02, 0.02, 0.02, 0.05, 0.05, 0.05])


def after(sigma, covariance=None, reset=False, seed=4):
    """The set after 80 ms of a fall, whose velocities have noise; all but it is exact."""
    rigid = {"slip": 0.0, "creep": 0.0, "rebound_min": 0.0, "rebound_max": 0.0, "drive_max": 0.0}
    thing, rng = block(**NO_DEADLINE, **KNOWN, activation=SURE, landing=rigid), np.random.default_rng(seed)
    for k in range(80):
        state = falling(0.09 - 0.001 * k, k * 1_000_000)
        noisy = state.v + sigma * rng.normal(size=6) if k < 79 else state.v
        if reset and k == 79:
            thing.reset()
        thing.update(RobotState(state.stamp_ns, state.q, noisy, EFFORT, covariance))
    return thing.next_impact()


def spread(found):
    """Length of the last generator: the turn about the edge that lands is all that the landing leaves of an error."""
    assert found.contacts.tolist() == [2, 3]
    return max((np.sqrt(g @ found.mass @ g) for g in found.generators[-1:]), default=0.0)


def test_noise_that_nobody_states_widens_the_set_as_it_would_if_it_were_stated():
    stated = np.array([np.eye(6) * 1e-12, np.diag(NOISE**2)])
    exact, alone, told = after(0.0 * NOISE), after(NOISE), after(NOISE, stated)
    assert spread(exact) < 1e-3 * spread(told)
    assert spread(alone) == pytest.approx(spread(told), rel=0.3)
    assert same_bits(after(NOISE), alone)


def test_what_is_stated_is_believed_and_a_reset_or_a_single_state_has_learned_nothing():
    stated = np.array([np.eye(6) * 1e-12, np.eye(6) * 1e-12])
    alone = spread(after(NOISE))
    assert spread(after(NOISE, stated)) < 0.01 * alone
    assert spread(after(NOISE, reset=True)) < 0.01 * alone


@pytest.mark.parametrize("stated", [False, True])
def test_noise_in_positions_widens_the_times_of_touches_where_nobody_states_it(stated):
    """The touch of a gap with noise of σ moves by σ over the speed of approach, to both sides."""
    sigma, rng, covariance = 0.002, np.random.default_rng(2), np.zeros((2, 6, 6)) if stated else None
    exact, noisy = (block(**NO_DEADLINE, **KNOWN, activation=SURE) for _ in range(2))
    for k in range(80):
        state = falling(0.09 - 0.001 * k, k * 1_000_000)
        q = state.q.copy()
        q[2] += sigma * rng.normal() if k < 79 else 0.0
        exact.update(RobotState(state.stamp_ns, state.q, state.v, EFFORT, covariance))
        noisy.update(RobotState(state.stamp_ns, q, state.v, EFFORT, covariance))
    one, other = exact.next_impact(), noisy.next_impact()
    width, wider = one.latest - one.earliest, other.latest - other.earliest
    if stated:
        assert wider == pytest.approx(width, rel=0.1)
    else:
        assert 0.6 * 4.0 * sigma < wider < 1.5 * 4.0 * sigma  # two standard deviations to both sides, at 1 m/s
        assert width < 0.002
