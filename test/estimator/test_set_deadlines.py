"""Sets of many contacts of one body keep to their deadline by leaving cases out, and say so."""

import numpy as np
import pytest

from hybrid_contact_ros import ContactEstimator, EstimatorConfig, Parts, RigidBodyModel, RobotState
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.estimation.landing_clusters import Cluster, LandingChain
from hybrid_contact_ros.impacts.landing_set import AT_ONCE

BOX = """<robot name="box"><link name="box"><inertial><mass value="5"/>
<inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def impact(points, deadline):
    """The set of a box that falls, slightly tilted, on a ring of points."""
    angles = 2.0 * np.pi * np.arange(points) / points
    ring = [float(x) for a in angles for x in (0.1 * np.cos(a), 0.08 * np.sin(a), -0.05)]
    contact = {"link": "box", "points": ring, "friction": 0.6}
    config = EstimatorConfig.from_mapping({"contacts": {"box": contact}, "impact": {"deadline": deadline}})
    estimator = ContactEstimator(RigidBodyModel.from_urdf(BOX, config), config)
    q = np.array([0.0, 0.0, 0.053, 0.01, 0.005, 0.0, 1.0])
    q[3:] /= np.linalg.norm(q[3:])
    v = np.array([0.3, 0.1, -0.7, 0.2, 0.1, 0.0])
    estimator.update(RobotState(0, q, v, np.zeros(6)), Parts.MODE)
    return estimator.next_impact()


@pytest.mark.parametrize("points", [16, 24])
def test_a_set_whose_time_is_over_at_once_has_fewer_cases_and_says_so(points):
    whole, cut = impact(points, 0.0), impact(points, 1e-9)
    assert not whole.truncated and cut.truncated
    assert cut.status in (Status.DEADLINE, Status.INACCURATE)
    assert 1 <= len(cut.velocities) < 64 < len(whole.velocities)
    # What is left is of the whole set, and of use: bounds hold all that it has, and some draws.
    tolerance = 0.01 * whole.jump
    for velocity in cut.velocities:
        away = whole.velocities - velocity
        assert np.sqrt(np.einsum("ki,ij,kj->k", away, whole.mass, away)).min() < 0.3 * whole.jump + tolerance
    assert np.isfinite(cut.lower).all() and (cut.lower <= cut.upper).all()
    assert (cut.lower <= whole.velocities.min(axis=0) + tolerance).all()
    assert (cut.upper >= whole.velocities.max(axis=0) - tolerance).all()
    np.testing.assert_allclose(cut.nominal, whole.nominal)


def test_of_few_contacts_no_case_is_left_out():
    whole, cut = impact(4, 0.0), impact(4, 1e-9)
    assert whole.generators.shape[1] == cut.generators.shape[1]
    first = len(whole.velocities) - 256
    assert first > 5
    np.testing.assert_array_equal(cut.velocities[:first], whole.velocities[:first])


def test_touches_that_may_be_hours_apart_are_followed_for_a_tenth_of_a_second():
    """Odometries that state a covariance of 1e6 or more, for one that they do not know, are common."""
    config = EstimatorConfig.from_mapping({}).landing
    chain = LandingChain(config, np.full(2, 0.5), np.zeros(2), 2, 3, np.zeros(3, dtype=np.bool_))
    rows = np.tile(np.eye(3)[[2, 0, 1]], (2, 1))
    rows[3:] *= 0.5
    given = np.eye(3), np.array([0.0, 0.0, 9.81]), rows, np.array([0.1, 0.0, -1.0])
    found = [chain.shifts(*given, Cluster(np.array([[0.0, late]]), 0.0, late, 1.0))[0] for late in (0.1, 1e7)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(("cases", "left"), [(0, 0), (1, 1), (3, 3)])
def test_the_chain_of_touches_asks_for_the_time_between_cases(cases, left):
    """``cases`` calls are allowed; of six cases the first call has two."""
    m, n = AT_ONCE + 1, 3
    config = EstimatorConfig.from_mapping({}).landing
    chain = LandingChain(config, np.full(m, 0.5), np.zeros(m), 2, n, np.zeros(n, dtype=np.bool_))
    rows = np.tile(np.eye(n)[[2, 0, 1]], (m, 1))
    rng, asked = np.random.default_rng(1), []

    def late():
        asked.append(None)
        return len(asked) > cases

    cluster = Cluster(np.sort(rng.uniform(0.0, 0.004, (4, m)), axis=1), 0.0, 0.004, 1.0)
    v = np.array([0.1, 0.0, -1.0])
    given = np.eye(n), np.array([0.0, 0.0, 9.81]), rows, v, cluster
    every, never_cut = chain.shifts(*given)
    some, cut = chain.shifts(*given, late)
    assert not never_cut and cut
    assert len(some) <= max(left, 1) <= len(every)
    if left:
        np.testing.assert_allclose(some, every[: len(some)], atol=1e-3)
    else:
        assert not some.any()
