"""The set that the estimator answers with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.codes import EventKind, Status
from hybrid_contact_ros.config import ImpactConfig
from hybrid_contact_ros.estimation.impact import ImpactRequest, impact_steps, landing_of
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.landing_clusters import impacting_contacts
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.impacts.steps import without_pauses
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState


def foot(restitution: float) -> ContactProblem:
    """A body of 30 kg that lands on the two ends of a foot of 5 g m²: height, slip, and the foot's pitch."""
    rows = np.array([[[1.0, 0.0, x], [0.0, 1.0, 0.0]] for x in (-0.1, 0.15)])
    return ContactProblem(
        np.diag([30.0, 30.0, 0.005]), [-0.6, 0.1, 0.5], rows[:, 0], rows[:, 1:], [0.7, 0.7], [restitution] * 2
    )


def predict_impact(problem: ContactProblem, request: ImpactRequest, config: ImpactConfig):
    """The set for the requested contacts of a problem at the instant of impact, at once."""
    landing = landing_of(problem.select(request.corners), request.law, config)
    rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
    return without_pauses(impact_steps(landing, problem.mass, rows, problem.velocity, request))


def request(law: str, samples: int) -> ImpactRequest:
    both = np.arange(2)
    return ImpactRequest(
        stamp_ns=0, time_to_impact=0.0, contacts=both, corners=both, law=law, samples=samples, seed=0, deadline_ns=None
    )


@pytest.mark.parametrize(("law", "restitution"), [("inelastic", 0.0), ("stronge", 0.3)])
def test_samples_end_where_a_contact_alone_meets_little_of_the_robot(law, restitution):
    """In steps of the impulse that stops a corner of a light foot alone they took 73 increments and 160."""
    config, problem = ImpactConfig(law=law, max_steps=70), foot(restitution)
    found = predict_impact(problem, request(law, 64), config)
    assert found.status == Status.SOLVED and len(found.velocities) == 64
    assert (found.velocities @ problem.normal_jacobian.T >= -1e-8).all()


def test_step_is_bounded_where_contacts_jam():
    """A wedge between two walls: impulses at once are as large as rounding lets them be."""
    rows = np.array([[[0.0, 1.0], [1.0, 0.0]], [[1e-7, -1.0], [1.0, 0.0]]])
    problem = ContactProblem(np.eye(2), [1.0, -1.0], rows[:, 0], rows[:, 1:], [1.0, 1.0])
    found = predict_impact(problem, request("inelastic", 16), ImpactConfig())
    assert np.isfinite(found.velocities).all() and len(found.velocities) == 16


contact = st.tuples(
    st.sampled_from(list(EventKind)), st.sampled_from([0.0, 0.05, np.nextafter(0.05, 1.0), 0.2, np.nan])
)


@given(contacts=st.lists(contact, max_size=4), closed=st.integers(0, 1))
def test_an_impact_is_ahead_exactly_where_contacts_take_part_in_one(contacts, closed):
    m = len(contacts)
    kinds = np.array([kind for kind, _ in contacts], np.uint8)
    times = np.array([time for _, time in contacts]).reshape(m, 1).repeat(3, axis=1)
    stands = np.full(m, closed, np.uint8)
    state = RobotState(1, np.zeros(7), np.zeros(6))
    moment = Moment(
        state=state,
        closed=stands,
        slipping=np.zeros_like(stands),
        acceleration=np.zeros(6),
        backed=kinds,
        event_times=times,
        gap=np.zeros(m),
        gap_velocity=np.zeros(m),
    )
    found, when = impacting_contacts(ImpactConfig(horizon=0.05), stands, kinds, times)
    assert (ImpactAhead.of(moment, 0.05) is None) == (when == np.inf)
    assert found.size == 0 or when <= 0.05 or np.isnan(when)
