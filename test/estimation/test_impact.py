"""The set that the estimator answers with."""

import numpy as np
import pytest

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.config import ImpactConfig
from hybrid_contact_ros.estimation.impact import predict_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem


def foot(restitution: float) -> ContactProblem:
    """A body of 30 kg that lands on the two ends of a foot of 5 g m²: height, slip, and the foot's pitch."""
    rows = np.array([[[1.0, 0.0, x], [0.0, 1.0, 0.0]] for x in (-0.1, 0.15)])
    return ContactProblem(
        np.diag([30.0, 30.0, 0.005]), [-0.6, 0.1, 0.5], rows[:, 0], rows[:, 1:], [0.7, 0.7], [restitution] * 2
    )


@pytest.mark.parametrize(("law", "restitution"), [("inelastic", 0.0), ("stronge", 0.3)])
def test_samples_end_where_a_contact_alone_meets_little_of_the_robot(law, restitution):
    """In steps of the impulse that stops a corner of a light foot alone they took 73 increments and 160."""
    config, problem = ImpactConfig(law=law, max_steps=70), foot(restitution)
    found = predict_impact(0, 0.0, problem, np.arange(2), np.arange(2), config, law, 64, 0, None)
    assert found.status == Status.SOLVED and len(found.velocities) == 64
    assert (found.velocities @ problem.normal_jacobian.T >= -1e-8).all()


def test_step_is_bounded_where_contacts_jam():
    """A wedge between two walls: impulses at once are as large as rounding lets them be."""
    rows = np.array([[[0.0, 1.0], [1.0, 0.0]], [[1e-7, -1.0], [1.0, 0.0]]])
    problem = ContactProblem(np.eye(2), [1.0, -1.0], rows[:, 0], rows[:, 1:], [1.0, 1.0])
    found = predict_impact(0, 0.0, problem, np.arange(2), np.arange(2), ImpactConfig(), "inelastic", 16, 0, None)
    assert np.isfinite(found.velocities).all() and len(found.velocities) == 16
