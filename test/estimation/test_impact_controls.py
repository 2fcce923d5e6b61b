"""What is told of a set for controllers."""

from dataclasses import replace

import numpy as np

from helpers.bodies import NO_DEADLINE, block, free
from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.estimation.impact_controls import other_terms, with_controls
from hybrid_contact_ros.impacts.invariant_basis import OtherTerms


def edge_landing():
    """The set of a block that lands on an edge, and M, J, b there."""
    thing, state = block(**NO_DEADLINE), free(0, 0.05, (0.4, 0.1, -1.0))
    problem = thing.model.problem(state)
    return (
        thing.impact(state, contacts=[0, 1]),
        problem.mass,
        problem.jacobian().reshape(4, 3, 6)[:2],
        problem.bias_force,
    )


def test_an_uncertain_velocity_widens_set_and_jumps_and_is_nothing_that_the_impact_changes():
    found, mass, rows, bias = edge_landing()
    spread = np.random.default_rng(0).normal(size=(4, 6))
    sure = with_controls(found, mass, rows, bias, OtherTerms(0.004))
    unsure = with_controls(found, mass, rows, bias, OtherTerms(0.004), spread)
    np.testing.assert_array_equal(unsure.basis_change, sure.basis_change)
    np.testing.assert_allclose(unsure.joint_jump, sure.joint_jump + np.abs(spread).sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(unsure.generators[-4:], spread)
    assert (unsure.upper > sure.upper).all()


def test_without_outcomes_there_is_a_basis_alone_and_with_a_singular_mass_nothing():
    found, mass, rows, bias = edge_landing()
    bare = replace(found, basis=None, basis_change=None, joint_jump=None)
    empty = with_controls(replace(bare, velocities=np.empty((0, 6))), mass, rows, bias, OtherTerms())
    assert empty.basis.shape == (1, 6) and empty.basis_change is None and empty.joint_jump is None
    assert with_controls(bare, 0.0 * mass, rows, bias, OtherTerms()).basis is None


def test_a_duration_counts_only_where_the_forces_are_known_that_act_meanwhile():
    config = LandingConfig(duration_max=0.004, drive_max=0.002, drive_own=0.001)
    assert other_terms(config, True, lasting=True) == OtherTerms(0.004, 0.002, 0.001, 6)
    assert other_terms(config, False, lasting=False) == OtherTerms(0.0, 0.002, 0.001, 0)
