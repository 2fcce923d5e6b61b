"""Post-impact sets that are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import NO_DEADLINE, NO_TERMS, block, body, free, same_bits
from helpers.clocks import clock_of_work
from hybrid_contact_ros import convex_set
from hybrid_contact_ros.codes import Status


def test_the_impact_of_a_named_state_keeps_separating_outcomes_only_and_is_a_prefix_under_a_deadline(monkeypatch):
    thing = block(**NO_DEADLINE, **NO_TERMS)
    state = free(0, 0.5, (0.4, 0, -1.0))
    full = thing.impact(state, contacts=range(4), samples=256, seed=3)
    problem = thing.model.problem(state)
    assert full.terminated and full.status == Status.SOLVED and full.velocities.shape == (256, 6)
    assert (full.velocities @ problem.normal_jacobian.T > -1e-6).all()
    assert (full.velocities >= full.lower - 1e-9).all() and (full.velocities <= full.upper + 1e-9).all()
    assert full.kinetic_energy_max <= full.kinetic_energy_minus
    clock_of_work(monkeypatch)
    cut = thing.impact(state, contacts=range(4), samples=256, seed=3, deadline_ns=1)
    n = cut.velocities.shape[0]
    assert cut.truncated and 0 < n < 256 and same_bits(cut.velocities, full.velocities[:n].copy())
    assert thing.impact(state).contacts.size == 0  # half a metre up nothing is within the tolerance
    assert thing.impact(state, gap_tolerance=1.0).contacts.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "arguments", [{"contacts": [4]}, {"samples": 0}, {"seed": -1}, {"deadline_ns": -1}, {"gap_tolerance": np.nan}]
)
def test_an_impact_request_out_of_range_is_refused(arguments):
    with pytest.raises(ValueError):
        block().impact(free(0, 0.05), **arguments)


def test_contacts_with_restitution_bounce_in_the_set_and_leave_nothing_to_compile():
    thing = body(
        [0, 0, 0], contact={"radius": 0.1, "restitution": 0.5, "friction": 0.0}, impact={"deadline": 0.0}, **NO_TERMS
    )
    thing.warm(freeze=True)
    found = thing.impact(free(0, 0.1, (0, 0, -2.0)), contacts=[0], samples=64)
    assert found.law == "poisson"
    np.testing.assert_allclose(found.velocities[:, 2], 1.0, atol=1e-6)
    assert (found.velocities >= found.lower).all() and (found.velocities <= found.upper).all()


def test_margins_of_restitution_and_friction_widen_the_set_and_keep_it_bounded():
    thing = body(
        [0, 0, 0],
        contact={"radius": 0.1, "restitution": 0.5},
        impact={"deadline": 0.0, "restitution_margin": 0.1, "friction_margin": 0.2},
        **NO_TERMS,
    )
    found = thing.impact(free(0, 0.1, (1.0, 0, -2.0)), contacts=[0], samples=256)
    up = found.velocities[:, 2]
    assert up.min() == pytest.approx(0.8, abs=1e-6) and up.max() == pytest.approx(1.2, abs=1e-6)
    assert (found.velocities >= found.lower).all() and (found.velocities <= found.upper).all()


def test_a_landing_comes_with_the_law_first_and_is_a_prefix_under_a_deadline(monkeypatch):
    known = {"impact": NO_DEADLINE["impact"] | {"friction_margin": 0.0}}
    thing = block(**known)
    state = free(0, 0.5, (0.4, 0, -1.0))
    full, plain = (
        one.impact(state, contacts=range(4), samples=64, seed=3) for one in (thing, block(**known, **NO_TERMS))
    )
    law = len(full.velocities) - 64
    assert law > 0 and full.status == Status.SOLVED and len(full.generators) > 0
    moved = plain.velocities + (full.velocities[0] - plain.nominal)
    np.testing.assert_allclose(full.velocities[law:], moved, atol=1e-9)
    assert same_bits(full.nominal, plain.nominal) and full.jump == plain.jump > 0.0
    assert plain.generators is None and plain.margin == 0.0 and plain.quantile_lower is None
    reach = np.abs(full.generators).sum(axis=0)
    assert (full.quantile_lower <= full.velocities.min(axis=0) - reach).all()
    assert (full.quantile_upper >= full.velocities.max(axis=0) + reach).all() and 0.0 < full.quantile_level < 1.0
    assert (full.lower <= full.quantile_lower).all() and (full.upper >= full.quantile_upper).all()
    clock_of_work(monkeypatch)
    cut = thing.impact(state, contacts=range(4), samples=64, seed=3, deadline_ns=1)
    n = len(cut.velocities)
    assert cut.truncated and law < n < law + 64 and same_bits(cut.velocities, full.velocities[:n].copy())
    assert same_bits(cut.generators, full.generators)


def test_the_set_of_a_landing_holds_rebounds_of_its_interval_and_what_the_weight_does_meanwhile():
    terms = NO_TERMS["landing"] | {"duration_max": 0.004, "rebound_max": 0.3}
    thing = body([0, 0, 0], contact={"radius": 0.1, "friction": 0.0}, impact={"deadline": 0.0}, landing=terms)
    found = thing.impact(free(0, 0.1, (0.5, 0, -2.0)), contacts=[0], samples=8)
    region = convex_set(found)
    room = 0.002 * found.jump / np.sqrt(2.0)  # the margin of the model, m/s
    for up, held in ((0.0, True), (0.6, True), (0.6 + 2.0 * room, False), (-2.0 * room, False)):
        assert (region.distance([0.5, 0, up, 0, 0, 0]) == 0.0) == held, up


def test_an_unknown_impact_law_is_refused_by_name():
    with pytest.raises(ValueError, match=r"impact\.law is 'elastic'; one of inelastic, stronge, poisson"):
        block(impact={"law": "elastic"})


def test_a_predicted_impact_says_what_no_impulse_changes_and_how_far_coordinates_jump():
    thing = block(**NO_DEADLINE, **NO_TERMS)
    state = free(0, 0.05, (0.4, 0.1, -1.0))
    edge = thing.impact(state, contacts=[0, 1])
    assert edge.basis.shape == (1, 6) and edge.basis_change.shape == (1,) and edge.joint_jump.shape == (6,)
    problem = thing.model.problem(state)
    momenta = edge.velocities @ problem.mass @ edge.basis.T
    np.testing.assert_allclose(momenta, np.tile(edge.basis @ problem.mass @ state.v, (len(momenta), 1)), atol=1e-9)
    np.testing.assert_allclose(edge.joint_jump, np.abs(edge.velocities - state.v).max(axis=0), rtol=1e-12)
    flat = thing.impact(state, contacts=range(4))  # four corners leave no motion: the basis is empty, and says so
    assert flat.basis.shape == (0, 6) and flat.basis_change.shape == (0,)
    assert thing.impact(state, contacts=[]).basis.shape == (6, 6)


def test_the_set_of_a_landing_leaves_its_invariant_components_within_what_is_said():
    lasting = {"duration_min": 0.001, "duration_max": 0.004, "rebound_max": 0.2, "slip": 0.01}
    thing = block(**NO_DEADLINE, landing=NO_TERMS["landing"] | lasting)
    state = free(0, 0.05, (0.4, 0.1, -1.0))
    edge, problem = thing.impact(state, contacts=[0, 1]), thing.model.problem(state)
    lasts = 0.004 * np.abs(edge.basis @ problem.bias_force)  # the set is linear around its middle, and wider
    assert (edge.basis_change >= lasts * (1 - 1e-9)).all()
    assert (edge.basis_change <= 1.2 * lasts + edge.margin * (1 + 1e-9)).all()
    moved = np.abs((edge.velocities - state.v) @ problem.mass @ edge.basis.T)
    widest = moved + np.abs(edge.generators @ problem.mass @ edge.basis.T).sum(axis=0)
    assert (widest <= edge.basis_change * (1 + 1e-9) + 1e-9).all() and moved.max() > 0.5 * edge.basis_change.max() > 0.0


def test_the_basis_of_the_next_impact_has_the_standing_contacts_too():
    thing = block(**NO_DEADLINE)
    tilt = 0.1  # rad about y: two corners stand, and the block turns down onto the others
    state = free(0, 0.05 * (np.cos(tilt) + np.sin(tilt)))
    q = state.q.copy()
    q[3:7] = [0.0, np.sin(tilt / 2), 0.0, np.cos(tilt / 2)]
    gap = thing.model.problem(type(state)(0, q, state.v, state.effort)).gap
    stands, hangs = np.flatnonzero(gap < 1e-6), np.flatnonzero(gap > 1e-6)
    assert len(stands) == len(hangs) == 2
    rows = thing.model.problem(type(state)(0, q, state.v, state.effort)).jacobian().reshape(4, 3, 6)
    still = np.linalg.svd(rows[stands].reshape(-1, 6))[2][-1]  # the turn about the standing edge
    falling = still * -np.sign(rows[hangs[0], 0] @ still) * 3.0 / np.linalg.norm(still[3:])
    for stamp in range(3):
        found = thing.update(type(state)(stamp * 1_000_000, q, falling, state.effort)).impact
    assert found is not None and found.contacts.tolist() == [0, 1, 2, 3] and found.basis.shape == (0, 6)
    assert thing.impact(type(state)(0, q, falling, state.effort), contacts=hangs).basis.shape == (1, 6)


def test_the_basis_counts_on_contacts_that_land_within_the_window_in_an_impact_of_their_own():
    """Two corners of a tilted block touch 5 ms before the others: no motion is left that no impulse may change."""
    tilt, shapes = 0.05, []
    for window in (0.002, 0.010):
        impact = NO_DEADLINE["impact"] | {"window": window, "horizon": 0.02}
        thing = block(impact=impact, landing={"each_foot": False}, ground={"learn": False})
        state = free(0, 0.05 * (np.cos(tilt) + np.sin(tilt)) + 0.005, (0.0, 0.0, -1.0))
        q = state.q.copy()
        q[3:7] = [0.0, np.sin(tilt / 2), 0.0, np.cos(tilt / 2)]
        fall = np.r_[np.sin(tilt), 0.0, -np.cos(tilt), 0.0, 0.0, 0.0]  # down, in the block's axes
        for stamp in range(3):
            found = thing.update(type(state)(stamp * 1_000_000, q, fall, state.effort)).impact
        assert len(found.contacts) == 2
        shapes.append(found.basis.shape)
    assert shapes == [(1, 6), (0, 6)]
