"""Landings that are no landings, and arguments that nothing can be made of."""

import numpy as np
import pytest

from helpers.bodies import block, free
from hybrid_contact_ros import ContactProblem, ConvexSet, EstimatorConfig, LandingTerms, landing_set
from hybrid_contact_ros.codes import Status

TERMS = LandingTerms(slip=0.01, rebound_max=0.2, duration_max=0.002)


def falls(m=1, v=-1.0):
    rows = np.tile([[0.0, 0.0, 1.0]], (m, 1))
    return ContactProblem(
        2.0 * np.eye(3), [0.2, 0.0, v], rows, np.tile(np.eye(3)[None, :2], (m, 1, 1)), np.full(m, 0.05)
    )


@pytest.mark.parametrize(("m", "v"), [(0, -1.0), (1, 1.0)])
def test_without_a_contact_that_approaches_the_set_is_the_velocity_before(m, v):
    found = landing_set(falls(m, v), TERMS)
    assert found.status == Status.SOLVED
    np.testing.assert_array_equal(found.velocities, [[0.2, 0.0, v]])
    assert found.distance([0.2, 0.0, v]) == 0.0


def test_a_robot_in_the_air_lands_on_nothing_with_the_default_terms():
    thing = block()
    found = thing.impact(free(0, 2.0, (0.4, 0.1, -1.0)))
    assert found.status == Status.SOLVED and not found.contacts.size
    np.testing.assert_array_equal(found.velocities, found.velocity_minus[None])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"directions": 3}, "even number"),
        ({"directions": 0}, "even number"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"samples": 2.5}, "samples"),
    ],
)
def test_arguments_out_of_range_are_named(change, word):
    with pytest.raises(ValueError, match=word):
        landing_set(falls(), TERMS, **change)


@pytest.mark.parametrize("value", ["a", None, True, np.ones(2)])
def test_a_term_that_is_no_number_is_named(value):
    with pytest.raises(ValueError, match=r"landing\.slip is"):
        LandingTerms(slip=value)


def test_a_velocity_whose_square_overflows_is_refused_and_not_called_inside():
    found = ConvexSet(np.zeros((1, 2)), 0.1 * np.eye(2), 0.0, np.eye(2), 1.0)
    assert found.distance([1e90, 0.0]) == pytest.approx(1e90)
    with pytest.raises(ValueError, match="can be squared"):
        found.distance([1e155, 0.0])


@pytest.mark.parametrize(
    ("landing", "words"),
    [
        ({"duration_min": 0.01}, r"landing\.duration_min is 0\.01, which is more than landing\.duration_max, 0\.004"),
        ({"rebound_min": 0.5}, r"landing\.rebound_min"),
        ({"damping_min": 5.0, "damping_max": 1.0}, r"landing\.damping_min"),
        ({"level": 0.95}, "come together"),
        ({"calibration_method": "split"}, "come together"),
        ({"level": 1.0, "calibration_count": 19, "calibration_method": "split"}, r"landing\.level is 1"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused_where_files_are_read(landing, words):
    with pytest.raises(ValueError, match=words):
        EstimatorConfig.from_mapping({"contacts": {"tip": {"link": "finger"}}, "landing": landing})
