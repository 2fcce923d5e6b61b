"""The rollout: the sequence of modes and events that the hybrid model goes through next."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import steps
from helpers.bodies import arm
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.mechanics.problem import ContactProblem

TOUCHDOWN, LIFTOFF, SLIP, STICK = EventKind.TOUCHDOWN, EventKind.LIFTOFF, EventKind.SLIP, EventKind.STICK
G = 9.81


def follow(problem, closed=(), horizon=1.0, events=16, kind=None, times=None, activation=None):
    config = replace(PredictionConfig(), rollout=horizon, rollout_events=events)
    return steps.follow(problem, closed, config, activation, kind, times)


def points(mass=1.0, heights=(0.1,), velocity=(0.0, 0.0), restitution=0.0, friction=0.5):
    """Independent masses in the plane, each over the ground: contacts that do not feel each other."""
    m = len(heights)
    normal, tangent = np.zeros((m, 2 * m)), np.zeros((m, 1, 2 * m))
    normal[np.arange(m), 2 * np.arange(m) + 1] = 1.0
    tangent[np.arange(m), 0, 2 * np.arange(m)] = 1.0
    return ContactProblem(
        mass * np.eye(2 * m),
        np.tile(velocity, m),
        normal,
        tangent,
        np.full(m, friction),
        np.full(m, restitution),
        heights,
        np.tile([0.0, mass * G], m),
    )


def test_masses_land_in_the_order_of_their_heights_at_the_times_of_free_fall():
    found = follow(points(heights=(0.3, 0.1, 0.2)))
    assert found.contact.tolist() == [1, 2, 0]
    assert found.kind.tolist() == [TOUCHDOWN] * 3
    np.testing.assert_allclose(found.times[:, 0], np.sqrt(2 * np.array([0.1, 0.2, 0.3]) / G), rtol=1e-12)
    assert found.mode.tolist() == [0b010, 0b110, 0b111]


def test_a_ball_bounces_at_the_times_of_the_geometric_series():
    e = 0.5
    found = follow(points(heights=(0.1,), restitution=e), horizon=1.0, events=7)
    fall = np.sqrt(2 * 0.1 / G)
    landings = [fall]
    for k in range(1, 4):
        landings.append(landings[-1] + 2 * fall * e**k)
    assert found.kind.tolist() == [TOUCHDOWN, LIFTOFF] * 3 + [TOUCHDOWN]
    np.testing.assert_allclose(found.times[::2, 0], landings, rtol=1e-9)


def test_a_sliding_mass_sticks_when_friction_has_stopped_it():
    found = follow(points(heights=(0.0,), velocity=(0.6, 0.0), friction=0.4), closed=[0])
    assert (found.contact.tolist(), found.kind.tolist(), found.mode.tolist()) == ([0], [STICK], [1])
    assert found.times[0, 0] == pytest.approx(0.6 / (0.4 * G))


def test_landing_takes_speed_away_by_friction_before_the_mass_sticks():
    """At the impact friction takes μ times the normal impulse, then μ g until the mass rests."""
    mu, fall = 0.2, np.sqrt(2 * 0.05 / G)
    found = follow(points(heights=(0.05,), velocity=(0.5, 0.0), friction=mu))
    assert found.kind.tolist() == [TOUCHDOWN, STICK]
    assert found.times[1, 0] - fall == pytest.approx((0.5 - mu * G * fall) / (mu * G), rel=1e-9)


def rod(height=0.2, half=0.5, inertia=1 / 12):
    """A rod in the plane, nearly level, 1 kg (uniform: I = L² / 12): its left end stands, the right one is higher."""
    normal = np.array([[0.0, 1.0, -half], [0.0, 1.0, half]])
    return ContactProblem(
        np.diag([1.0, 1.0, inertia]),
        np.zeros(3),
        normal,
        np.array([[[1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]]),
        [0.5, 0.5],
        None,
        [0.0, height],
        [0.0, G, 0.0],
    )


def test_the_landing_of_one_end_lifts_the_other_where_the_constraints_form_an_acute_angle():
    """G_AB = 1/m − l²/I is positive for a dumbbell with I > m l², whose standing end leaves, negative for a rod."""
    heavy_ends = 1.0
    found = follow(rod(inertia=heavy_ends), closed=[0], events=3)
    assert found.contact.tolist() == [1, 0, 0]
    assert found.kind.tolist() == [TOUCHDOWN, LIFTOFF, TOUCHDOWN]
    assert found.mode.tolist() == [0b11, 0b10, 0b11]
    tip = G * 0.5 / (heavy_ends + 0.25)  # acceleration of the end, 1 m from the standing one
    assert found.times[0, 0] == pytest.approx(np.sqrt(2 * 0.2 / tip), rel=1e-6)
    assert found.times[1, 0] == found.times[0, 0]
    uniform = follow(rod(), closed=[0], events=3)
    assert (uniform.contact.tolist(), uniform.mode.tolist()) == ([1], [0b11])
    assert uniform.times[0, 0] == pytest.approx(np.sqrt(2 * 0.2 / (1.5 * G)), rel=1e-6)


def test_a_liftoff_foretold_by_its_load_is_taken_over_with_its_bounds_and_hands_its_load_on():
    found = follow(
        rod(height=0.0),
        closed=[0, 1],
        kind=[EventKind.NONE, LIFTOFF],
        times=[[np.nan] * 3, [0.02, 0.01, np.inf]],
    )
    assert (found.contact.tolist(), found.kind.tolist(), found.mode.tolist()) == ([1], [LIFTOFF], [0b01])
    assert found.times[0].tolist() == [0.02, 0.01, np.inf]


def test_first_touchdown_has_the_predictors_bounds_and_later_ones_wider_ones():
    fall = np.sqrt(2 * 0.1 / G)
    found = follow(
        points(heights=(0.1, 0.2)), kind=[TOUCHDOWN, 0], times=[[fall, fall - 0.01, fall + 0.02], [np.nan] * 3]
    )
    np.testing.assert_allclose(found.times[0], [fall, fall - 0.01, fall + 0.02])
    assert found.times[1, 1] < found.times[1, 0] < found.times[1, 2]


def test_what_an_impact_causes_has_the_bounds_of_the_impact():
    for heights in ((0.02,), (0.02, 0.05)):
        found = follow(points(heights=heights, velocity=(0.0, -0.5), restitution=0.5))
        hits = np.flatnonzero(np.array(found.kind) == TOUCHDOWN)
        assert hits.size
        for hit in hits:
            if hit + 1 < len(found.kind) and found.kind[hit + 1] == LIFTOFF:
                np.testing.assert_array_equal(found.times[hit + 1], found.times[hit])


def test_bounds_hold_the_truth_of_states_with_the_configured_noise():
    """95 % of normal errors lie within two standard deviations."""
    rng = np.random.default_rng(0)
    noise = replace(ActivationConfig(), gap_sigma=0.003, velocity_sigma=0.05, acceleration_sigma=0.0)
    truth = np.sqrt(2 * 0.1 / G)
    inside = 0
    for _ in range(400):
        seen = points(heights=(0.1 + 0.003 * rng.normal(),), velocity=(0.0, 0.05 * rng.normal()))
        low, high = follow(seen, activation=noise).times[0, 1:]
        inside += low <= truth <= high
    assert 0.92 <= inside / 400 <= 0.98


def test_nothing_is_foretold_without_effort_or_beyond_the_horizon_or_the_arrays():
    for known in (True, False):
        thing, states = arm(effort_known=known)
        near = replace(states[0], q=np.array([-0.49]))
        assert (thing.update(near).mode.sequence.kind.size > 0) == known
    assert follow(points(heights=(0.1,)), horizon=0.1).kind.size == 0
    assert follow(points(heights=(0.1,)), horizon=0.0).kind.size == 0
    assert follow(points(heights=(0.1,), restitution=0.9), horizon=1.0, events=3).kind.size == 3


def test_chatter_fills_the_arrays_and_no_more():
    found = follow(points(heights=(0.01, 0.01, 0.01), restitution=0.8), horizon=1.0, events=64)
    assert found.kind.size == 64
    assert (np.diff(found.times[:, 0]) >= 0.0).all()


def test_random_bodies_give_ordered_events_and_consistent_modes():
    rng = np.random.default_rng(5)
    for _ in range(200):
        m = int(rng.integers(1, 5))
        nv = int(rng.integers(3, 9))
        root = rng.normal(size=(nv, nv))
        problem = ContactProblem(
            root @ root.T + 0.1 * np.eye(nv),
            rng.normal(size=nv),
            rng.normal(size=(m, nv)),
            rng.normal(size=(m, 2, nv)),
            rng.uniform(0, 1, m),
            rng.choice([0.0, 0.3], m),
            np.maximum(rng.normal(0.02, 0.03, m), 0.0),
            5 * rng.normal(size=nv),
            rng.normal(size=(m, 3)),
        )
        closed = np.flatnonzero((problem.gap == 0.0) & (problem.normal_jacobian @ problem.velocity <= 0.0))
        found = follow(problem, closed=closed, horizon=0.3)
        assert np.isfinite(found.times[:, 0]).all()
        assert (np.diff(found.times[:, 0]) >= -1e-15).all()
        assert (found.times[:, 1] <= found.times[:, 0]).all() and (found.times[:, 0] <= found.times[:, 2]).all()
        for contact, kind, mask in zip(found.contact, found.kind, found.mode, strict=True):
            is_closed = bool(mask >> contact & 1)
            assert is_closed == (kind in (TOUCHDOWN, STICK))
