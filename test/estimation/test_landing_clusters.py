"""Touchdowns that follow each other closely, and the landings in their order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.soles import landing as sole_landing
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import ImpactConfig, LandingConfig
from hybrid_contact_ros.estimation import landing_clusters
from hybrid_contact_ros.estimation.landing_clusters import (
    LandingChain,
    after_touches,
    cluster_of,
    impacting_contacts,
)
from hybrid_contact_ros.estimation.velocity_ahead import landing_map
from hybrid_contact_ros.kernels.impacts.landing_law import landing_outcomes, landing_scratch
from hybrid_contact_ros.mechanics.kinetic_norm import kinetic_norm

TOUCHDOWN = int(EventKind.TOUCHDOWN)
bounds = st.tuples(st.floats(0.0, 0.02), st.floats(0.0, 0.002), st.floats(0.0, 0.002))


def times_of(drawn):
    time, before, after = np.array(drawn).reshape(-1, 3).T
    return np.stack([time, time - before, time + after], axis=1)


def touching(drawn, duration):
    times = times_of(drawn)
    kinds, open_ = np.full(len(times), TOUCHDOWN, np.uint8), np.zeros(len(times), np.uint8)
    return times, *impacting_contacts(ImpactConfig(), open_, kinds, times, duration)


@given(st.lists(bounds, min_size=1, max_size=5))
def test_a_touchdown_belongs_to_a_cluster_as_long_as_it_is_not_told_apart_from_those_before(drawn):
    times, found, first = touching(drawn, 0.001)
    order = np.argsort(times[:, 0], kind="stable")
    inside = order[: found.size]
    assert sorted(inside.tolist()) == found.tolist() and first == times[:, 0].min()
    for i, j in pairwise(inside):
        before = times[inside[: inside.tolist().index(j)]]
        assert times[j, 0] - times[i, 0] <= 0.001 or times[j, 1] <= before[:, 2].max()
    if found.size < len(times):
        outside = times[order[found.size]]
        apart = outside[0] - times[inside[-1], 0] > 0.001 and outside[1] > times[inside, 2].max()
        assert apart or outside[0] > first + ImpactConfig().window


def test_without_a_duration_all_within_the_window_touch_at_once():
    _, found, _ = touching([(0.001, 0, 0), (0.0109, 0, 0), (0.0112, 0, 0)], None)
    assert found.tolist() == [0, 1]


@given(st.lists(bounds, min_size=2, max_size=4))
def test_no_touch_of_any_case_comes_after_all_bounds(drawn):
    times = times_of(drawn)
    touch = cluster_of(np.arange(len(times)), np.zeros(len(times), np.uint8), times, 2.0).touch
    assert (touch.min(axis=1) == 0.0).all()
    assert touch.max() <= times[:, 2].max() - times[:, 1].min() + 1e-12


@given(st.lists(bounds, min_size=2, max_size=2))
def test_times_of_all_cases_lie_within_what_the_bounds_allow(drawn):
    """Neighbours of the predicted order are as far apart as their bounds allow, or at once in 0.25 ms."""
    times = times_of(drawn)
    cluster = cluster_of(np.arange(len(times)), np.zeros(len(times), np.uint8), times, 2.0)
    _, early, late = times[np.argsort(times[:, 0], kind="stable")].T
    np.testing.assert_allclose(cluster.touch[0], times[:, 0] - times[:, 0].min(), atol=0.00025 + 1e-12)
    ordered = cluster.touch[:, np.argsort(times[:, 0], kind="stable")]
    gaps = np.diff(ordered, axis=1)
    assert (gaps <= late[1:] - early[:-1] + 0.00025 + 1e-12).all()
    assert (gaps >= early[1:] - late[:-1] - 0.00025 - 1e-12).all()
    assert (cluster.touch.min(axis=1) == 0.0).all()
    assert cluster.earliest == early.min() and cluster.latest == late.min()
    if (late[:-1] > early[1:] + 0.0005).any():
        assert (gaps < 0.0).any(), "both orders of a pair whose bounds overlap"


def test_the_order_of_a_tie_is_even_and_that_of_far_bounds_certain():
    tie = cluster_of(np.arange(2), np.zeros(2, np.uint8), times_of([(0.01, 0.001, 0.001)] * 2), 2.0)
    assert tie.probability == pytest.approx(0.5)
    near = cluster_of(np.arange(2), np.zeros(2, np.uint8), times_of([(0.01, 4e-4, 4e-4), (0.0104, 4e-4, 4e-4)]), 2.0)
    # Φ(0.4 ms / (√2 · 0.2 ms))
    assert near.probability == pytest.approx(0.9213, abs=1e-4)
    far = cluster_of(np.arange(2), np.zeros(2, np.uint8), times_of([(0.01, 1e-4, 1e-4), (0.02, 1e-4, 1e-4)]), 2.0)
    assert far.probability == pytest.approx(1.0)


def test_after_each_foot_those_that_stand_and_those_that_came_before_have_landed():
    times = np.array([[np.nan] * 3, [0.004] * 3, [0.001] * 3, [0.0042] * 3, [0.002] * 3])
    found = after_touches(np.arange(5), np.array([1, 0, 0, 0, 0], np.uint8), times)
    assert [part.tolist() for part in found] == [[0, 2], [0, 2, 4]]  # contacts 1 and 3 touch at once, and last


def two_feet():
    """A rod of 2 kg and 0.1 kg m² on two feet at ±0.3 m, in (x, y, z, pitch); a hand of 0.5 kg m², driven by 10 N m,
    moves with it."""
    mass = np.diag([2.0, 2.0, 2.0, 0.1, 0.5])
    mass[3, 4] = mass[4, 3] = 0.05
    rows = np.zeros((2, 3, 5))
    for i, x in enumerate((0.3, -0.3)):
        rows[i] = [[0, 0, 1, x, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]
    return mass, np.array([0, 0, 19.62, 0, -10.0]), rows.reshape(6, 5), np.array([0.2, 0.0, -1.0, 0.4, 0.3])


def chain_of(**landing):
    """The landings of two feet that have no other terms than these."""
    off = dict.fromkeys(("damping", "duration", "rebound", "drive"), 0.0)
    none = {f"{name}_{end}": value for name, value in off.items() for end in ("min", "max")}
    config = LandingConfig(**{**none, **landing})
    return LandingChain(config, np.array([0.6, 0.6]), np.zeros(2), 2, 5, np.array([0, 0, 0, 0, 1], bool))


def one_law(mass, bias, rows, velocity, seconds, touching):
    scratch = landing_scratch(2, 2, 5)
    scratch.touching[:] = touching
    out = np.empty((1, 5)), np.zeros((1, 6)), np.empty(1)
    landing_outcomes(
        200, 1e-8, 2, mass, bias, rows, velocity, np.full(1, seconds), np.zeros((1, 5)), np.full((1, 2), 0.6),
        np.zeros((1, 6)), *scratch, *out,
    )  # fmt: skip
    return out[0][0]


def test_feet_in_order_are_two_impacts_with_the_motion_on_one_foot_between_them():
    """The reference takes 400 explicit steps for the flow; the chain takes three."""
    mass, bias, rows, v = two_feet()
    cluster = cluster_of(np.arange(2), np.zeros(2, np.uint8), np.array([[0.0] * 3, [0.008] * 3]), 2.0)
    shift = chain_of().shifts(mass, bias, rows, v, cluster)[0]
    expected = one_law(mass, bias, rows, v, 0.0, [1, 0])
    for _ in range(400):
        expected = one_law(mass, bias, rows, expected, 0.008 / 400, [1, 0])
    expected = one_law(mass, bias, rows, expected, 0.0, [1, 1])
    at_once = one_law(mass, bias, rows, v, 0.0, [1, 1])
    np.testing.assert_allclose(shift, [expected - at_once], atol=2e-4 * np.abs(v).max())
    assert np.abs(shift).max() > 0.05, "the time between the touches matters here"


def test_a_drive_holds_its_course_between_touches_with_a_gain_in_its_interval():
    """A hand under 10 N m for 8 ms, not coupled to the feet: D (v − v⁻) + I v̇ = 10, at both ends of D."""
    mass, bias, rows, v = two_feet()
    mass[3, 4] = mass[4, 3] = 0.0
    cluster = cluster_of(np.arange(2), np.zeros(2, np.uint8), np.array([[0.0] * 3, [0.008] * 3]), 2.0)
    shifts = chain_of(damping_min=5.0, damping_max=100.0).shifts(mass, bias, rows, v, cluster)[0]
    exact = [10.0 / gain * (1.0 - np.exp(-gain * 0.008 / 0.5)) for gain in (100.0, 5.0)]
    np.testing.assert_allclose(np.sort(shifts[:, 4]), exact, rtol=0.2)  # implicit steps of 2.7 ms
    assert shifts.shape == (2, 5)


def test_touches_at_once_shift_nothing():
    mass, bias, rows, v = two_feet()
    cluster = cluster_of(np.arange(2), np.zeros(2, np.uint8), np.array([[0.001] * 3, [0.0011] * 3]), 2.0)
    assert not chain_of(damping_max=3.0, duration_max=0.004).shifts(mass, bias, rows, v, cluster)[0].any()


@pytest.mark.parametrize("seed", range(3))
def test_corners_of_soles_that_roll_down_have_the_outcomes_of_many_more_steps_of_splitting(seed, monkeypatch):
    """Two soles of a humanoid, whose corners touch within 2 ms, in an order that bounds may turn round."""
    problem = sole_landing("Talos", 2, 4, seed)
    mass, rows, v = problem.mass, problem.jacobian(), problem.velocity
    driven = np.arange(problem.nv) >= 6
    times = np.random.default_rng(seed).uniform(0.0, 0.002, 8)[:, None] + np.array([0.0, -0.001, 0.001])
    cluster = cluster_of(np.arange(8), np.zeros(8, np.uint8), times, 2.0)

    def shifts():
        chain = LandingChain(LandingConfig(), problem.friction, np.zeros(8), 2, problem.nv, driven)
        return chain.shifts(mass, 9.81 * mass[:, 2], rows, v, cluster)[0]

    found = shifts()
    monkeypatch.setattr(landing_clusters, "_STEPS", 3000)
    monkeypatch.setattr(landing_clusters, "_TOLERANCE", 1e-7)
    exact = shifts()
    assert found.shape == exact.shape and len(found) >= 4
    off = max(kinetic_norm(mass, a - b) for a, b in zip(found, exact, strict=True))
    assert off < 5e-3 * kinetic_norm(mass, v)
    assert max(kinetic_norm(mass, a) for a in found) > 0.05 * kinetic_norm(mass, v)


def test_what_the_map_of_an_error_misses_is_half_of_what_the_law_does_at_both_its_ends():
    """Small errors of v⁻ change v⁺ along the map; one by which the robot rises does not."""
    mass, bias, rows, velocity = two_feet()
    chain = chain_of()
    middle, impulse, usable = chain.outcome(mass, bias, rows, velocity)
    assert usable and (impulse[::3] > 0.0).all()
    direction = np.array([0.0, 0.0, 1.0, 0.0, 0.0]) / np.sqrt(mass[2, 2])
    through = landing_map(mass, rows, np.array([0.6, 0.6]), impulse)
    lifted = -1.5 * velocity[2] / direction[2]
    for size, bends in ((1e-3 * lifted, False), (lifted, True)):
        found = chain.bends(mass, bias, rows, velocity, middle, size * direction, size * through @ direction)
        assert found.shape == (2, 5)
        largest = max(kinetic_norm(mass, one) for one in found)
        assert (largest > 0.05 * size) == bends
        ends = [chain.outcome(mass, bias, rows, velocity + sign * size * direction)[0] for sign in (1.0, -1.0)]
        linear = [middle + sign * size * through @ direction for sign in (1.0, -1.0)]
        np.testing.assert_allclose(found, 0.5 * (np.array(ends) - linear), atol=1e-12)
