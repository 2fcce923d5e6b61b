"""Post-impact sets that are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import NO_DEADLINE, block, body, free, same_bits
from hybrid_contact_ros.codes import Status


def test_the_impact_of_a_named_state_keeps_separating_outcomes_only_and_is_a_prefix_under_a_deadline():
    thing = block(**NO_DEADLINE)
    state = free(0, 0.5, (0.4, 0, -1.0))
    full = thing.impact(state, contacts=range(4), samples=256, seed=3)
    problem = thing.model.problem(state)
    assert full.terminated and full.status == Status.SOLVED and full.velocities.shape == (256, 6)
    assert (full.velocities @ problem.normal_jacobian.T > -1e-6).all()
    assert (full.velocities >= full.lower - 1e-9).all() and (full.velocities <= full.upper + 1e-9).all()
    assert full.kinetic_energy_max <= full.kinetic_energy_minus
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
    thing = body([0, 0, 0], contact={"radius": 0.1, "restitution": 0.5, "friction": 0.0}, impact={"deadline": 0.0})
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
    )
    found = thing.impact(free(0, 0.1, (1.0, 0, -2.0)), contacts=[0], samples=256)
    up = found.velocities[:, 2]
    assert up.min() == pytest.approx(0.8, abs=1e-6) and up.max() == pytest.approx(1.2, abs=1e-6)
    assert (found.velocities >= found.lower).all() and (found.velocities <= found.upper).all()


def test_an_unknown_impact_law_is_refused_by_name():
    with pytest.raises(ValueError, match=r"impact\.law is 'elastic'; one of inelastic, stronge, poisson"):
        block(impact={"law": "elastic"})
