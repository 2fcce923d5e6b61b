"""Bad input of the sensitivity functions: a sentence that says what was wrong, never an index error or endless work."""

import re

import numpy as np
import pytest

from helpers.robot_systems import ball as free_ball
from hybrid_contact_ros import (
    ContactProblem,
    bouligand_derivative,
    order_outcomes,
    saltation_matrix,
    salted_update,
    simulate,
    variational_flow,
)
from hybrid_contact_ros.sensitivity.angles import coupled_pairs
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.force_events import liftoff_saltation, slip_saltation
from hybrid_contact_ros.sensitivity.local_event import LocalEvent
from hybrid_contact_ros.sensitivity.orders import order_sensitive_pairs
from hybrid_contact_ros.sensitivity.saltation import Validity, saltation
from hybrid_contact_ros.sensitivity.slip_end import stick_saltation
from hybrid_contact_ros.sensitivity.touchdown import touchdown_saltation
from hybrid_contact_ros.sensitivity.words import touchdown_words
from hybrid_contact_ros.stability.chatter import chatter
from hybrid_contact_ros.systems.painleve_rod import painleve_rod

AT, FALLING = [0.0, 1.0, np.pi / 2], [0.0, -1.0, 0.0]
KINDS = ("touchdown", "liftoff", "slip", "stick", "reversal")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("q", "v", "contacts", "modes"),
    [
        ([0.0, np.nan, 0.0], FALLING, 0, {}),
        (AT, [0.0, np.inf, 0.0], 0, {}),
        (AT, [0.0, -1.0], 0, {}),
        (AT, FALLING, 5, {}),
        (AT, FALLING, -1, {}),
        (AT, FALLING, 0.5, {}),
        (AT, FALLING, "a", {}),
        (AT, FALLING, 0, {"before": [7]}),
        (AT, FALLING, 0, {"after": [7]}),
    ],
)
def test_a_saltation_matrix_refuses_what_is_no_state_contact_or_mode(kind, q, v, contacts, modes):
    with pytest.raises(ValueError, match=r"."):
        saltation_matrix(painleve_rod(friction=0.5), q, v, kind, contacts, **modes)


def test_a_numpy_integer_is_a_contact():
    found = saltation_matrix(painleve_rod(friction=0.5), AT, FALLING, "touchdown", np.int64(0))
    assert found.contacts == {0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"controls": lambda *_: np.full((3, 1), np.nan)},
        {"controls": lambda *_: np.zeros(3)},
        {"controls": lambda *_: np.zeros((7, 2))},
        {"rtol": 0.0},
        {"rtol": np.nan},
        {"atol": -1.0},
    ],
)
def test_a_flow_refuses_tolerances_and_controls_that_have_no_end(wrong):
    execution = simulate(painleve_rod(friction=1.0), q=[0.36, 1.03, 1.2], v=[0.2, 0.1, 0.3], t_final=0.1)
    with pytest.raises(ValueError, match=r"needed"):
        variational_flow(execution, **wrong)


def test_a_flow_names_what_a_touchdown_loses():
    execution = simulate(painleve_rod(friction=1.0), q=[0.36, 1.03, 1.2], v=[0.2, 0.1, 0.3], t_final=0.3)
    (touchdown, *_) = variational_flow(execution).saltations
    assert len(touchdown.lost) == len(touchdown.required()) - touchdown.rank() == 3


def bar():
    """It falls flat on its ends, both of which touch."""
    ends = np.array([[1.0, 0.5], [1.0, -0.5]])
    return ContactProblem(np.eye(2), np.array([-1.0, 0.0]), ends, np.zeros((2, 1, 2)), np.zeros(2))


class Bar:
    """A plane bar without forces, by its height and its angle; its ends may touch the ground."""

    contacts = 2

    def __init__(self, mass=1.0):
        self.mass = mass

    def problem(self, q, v):
        ends = np.array([[1.0, 0.5], [1.0, -0.5]])
        none = np.zeros(2)
        given = np.asarray(v, dtype=float)
        return ContactProblem(np.diag([1.0, self.mass]), given, ends, np.zeros((2, 1, 2)), none, gap=ends @ q)


FALLING_BAR = Bar()
HELD = ContactMode(frozenset({0}))
ROD = painleve_rod(friction=0.5)
ONES = np.ones(1)


def held(**given):
    return LocalEvent(ROD, np.array(AT), np.array(FALLING), 0, HELD, **given)


TAKE_TOLERANCES = {
    "coupled_pairs": (lambda **given: coupled_pairs(bar(), **given), ("tolerance",)),
    "order_sensitive_pairs": (lambda **given: order_sensitive_pairs(bar(), **given), ("tolerance",)),
    "bouligand_derivative": (
        lambda **given: bouligand_derivative(ROD, AT, FALLING, **given),
        ("tolerance", "resting", "touching"),
    ),
    "saltation_matrix": (lambda **given: saltation_matrix(ROD, AT, FALLING, "touchdown", 0, **given), ("resting",)),
    "touchdown": (lambda **given: touchdown_saltation(ROD, AT, FALLING, 0, **given), ("resting", "touching")),
    "liftoff": (lambda **given: liftoff_saltation(held(**given)), ("resting",)),
    "slip": (lambda **given: slip_saltation(held(**given)), ("resting",)),
    "stick": (lambda **given: stick_saltation(held(**given)), ("resting",)),
}
TAKE_TIMES = ("bouligand_derivative", "saltation_matrix", "touchdown", "liftoff", "slip", "stick")
TAKE_COUNTS = {
    "order_outcomes": (lambda **given: order_outcomes(bar(), [0, 1], **given), ("max_impacts",), 1),
    "order_sensitive_pairs": (lambda **given: order_sensitive_pairs(bar(), **given), ("max_impacts",), 1),
    "touchdown_words": (
        lambda **given: touchdown_words(ROD, AT, FALLING, [0], **given),
        ("max_impacts", "max_words"),
        1,
    ),
    "bouligand_derivative": (lambda **given: bouligand_derivative(ROD, AT, FALLING, **given), ("examined",), 0),
    "selections": (lambda **given: bouligand_derivative(ROD, AT, FALLING).selections(**given), ("most",), 1),
    "chatter": (lambda **given: chatter(ONES, ONES, -ONES, np.eye(1), 0.5 * ONES, **given), ("max_impacts",), 1),
}


@pytest.mark.parametrize("name", TAKE_TOLERANCES)
@pytest.mark.parametrize("wrong", [np.nan, -1e-9, "1", [1.0]])
def test_what_is_no_tolerance_is_refused_by_its_name(name, wrong):
    """A NaN is smaller than nothing: a comparison with it would quietly find that nothing matters."""
    ask, tolerances = TAKE_TOLERANCES[name]
    for tolerance in tolerances:
        with pytest.raises(ValueError, match=f"^{tolerance} must be ≥ 0, got "):
            ask(**{tolerance: wrong})


@pytest.mark.parametrize("name", TAKE_TIMES)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, "1", [1.0]])
def test_what_is_no_time_is_refused_by_its_name(name, wrong):
    with pytest.raises(ValueError, match=r"^time must be a finite number, got "):
        TAKE_TOLERANCES[name][0](time=wrong)


@pytest.mark.parametrize("name", TAKE_COUNTS)
@pytest.mark.parametrize("wrong", [-1, np.nan, 2.5, np.inf, "3", True, None])
def test_what_is_no_count_is_refused_by_its_name(name, wrong):
    ask, names, least = TAKE_COUNTS[name]
    for count in names:
        with pytest.raises(ValueError, match=f"^{count} must be a whole number ≥ {least}, got "):
            ask(**{count: wrong})


def test_orders_refuse_a_closed_contact_that_approaches_and_indices_that_are_none():
    with pytest.raises(ValueError, match=r"contact 1 is closed and approaches at 1 m/s"):
        order_outcomes(bar(), [0], closed=[1])
    for wrong in (None, [0.5], "a"):
        with pytest.raises(ValueError, match=r"contacts"):
            order_outcomes(bar(), wrong)
    assert len(order_outcomes(bar(), [0.0, 1.0]).orders) == 2


def pair():
    """The words of a bar that falls on both of its ends: two orders."""
    return touchdown_words(FALLING_BAR, [0.0, 0.0], [-1.0, 0.0], [0, 1])


ZEROS, ASIDE = np.zeros(4), np.array([0.0, 1e-3, 0.0, 0.0])
"""Deviations of the bar: none, and one that lowers an end."""


@pytest.mark.parametrize(
    ("covariance", "mean", "sentence"),
    [
        (np.full((4, 4), np.nan), ZEROS, "covariance has shape .* finite numbers"),
        (np.diag([np.inf, 1.0, 1.0, 1.0]), ZEROS, "covariance has shape .* finite numbers"),
        (-np.eye(4), ZEROS, "covariance is indefinite"),
        (np.eye(4) + np.eye(4, k=1), ZEROS, "covariance is not symmetric"),
        (1j * np.eye(4), ZEROS, "covariance must be an array of real numbers"),
        (np.eye(4), np.full(4, np.nan), "mean has shape .* finite numbers"),
        (np.eye(4), np.zeros(3), r"mean has shape \(3,\); finite numbers of \(4,\)"),
        (np.zeros((4, 4)), ZEROS, "border of two words"),
    ],
)
def test_words_refuse_a_covariance_and_a_mean_that_a_filter_would(covariance, mean, sentence):
    with pytest.raises(ValueError, match=sentence):
        pair().probabilities(covariance, mean)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_without_doubt_the_word_of_the_mean_is_certain(sign):
    words = pair()
    chances = words.probabilities(np.zeros((4, 4)), sign * ASIDE)
    assert sorted(chances.tolist()) == [0.0, 1.0]
    assert words.words[int(chances.argmax())] is words.word_of(sign * ASIDE)


@pytest.mark.parametrize("wrong", [np.full(4, np.nan), np.zeros(3), np.zeros((4, 1)), 0.0, 1j * ASIDE, "a", None])
def test_words_refuse_what_is_no_deviation(wrong):
    for ask in (pair().word_of, pair().after):
        with pytest.raises(ValueError, match=r"^deviation (has shape|must be an array of real numbers)"):
            ask(wrong)


BOUNCE = {
    "reset_gradient": np.diag([1.0, -0.5]),
    "guard_gradient": np.array([1.0, 0.0]),
    "field_before": np.array([-2.0, -9.81]),
    "field_after": np.array([1.0, -9.81]),
}
"""A ball that returns at half of its speed."""


@pytest.mark.parametrize("name", [*BOUNCE, "reset_rate", "velocity_after"])
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [(np.nan, "not finite"), (np.inf, "not finite"), (1j, "must be an array of real numbers"), ("size", "has shape")],
)
def test_the_local_formula_refuses_arrays_by_their_names(name, wrong, sentence):
    right = np.array(BOUNCE.get(name, np.zeros(1 if name == "velocity_after" else 2)))
    array = np.zeros(0) if wrong == "size" else right * 1.0 + wrong
    with pytest.raises(ValueError, match=f"^{name} .*{sentence}"):
        saltation(**BOUNCE | {name: array})


def test_the_local_formula_takes_lists_and_large_numbers_and_still_finds_grazing():
    jump = saltation(**{name: array.tolist() for name, array in BOUNCE.items()})
    np.testing.assert_array_equal(jump.matrix, saltation(**BOUNCE).matrix)
    with np.errstate(over="ignore"):
        assert saltation(**BOUNCE | {"field_after": [1e200, 0.0]}).valid
    assert saltation(**BOUNCE | {"field_before": [0.0, -9.81]}).validity is Validity.GRAZING
    with pytest.raises(ValueError, match=r"^guard_rate must be a finite number"):
        saltation(**BOUNCE, guard_rate=np.nan)


@pytest.mark.parametrize("wrong", [[np.nan, 0.0], [np.inf, 0.0], [1j, 0.0], [0.0], 0.0, "a"])
def test_a_saltation_is_applied_to_finite_perturbations_only(wrong):
    with pytest.raises(ValueError, match=r"^the perturbation "):
        saltation(**BOUNCE).apply(wrong)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"contacts": -1}, "contacts holds -1; contacts are numbered 0..0"),
        ({"before": "ab"}, "before is 'ab'; give the indices of contacts"),
        ({"after": 3}, "after is 3; give a ContactMode"),
        ({"course": 3}, "course is 3; give an ImpactCourse"),
        ({"q": [1j, 1.0, 0.0]}, "q must be an array of real numbers"),
    ],
)
def test_a_saltation_matrix_says_what_is_wrong_with_its_arguments(given, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        saltation_matrix(ROD, **{"q": AT, "v": FALLING, "kind": "touchdown", "contacts": 0} | given)


def test_words_refuse_a_singular_mass_and_states_that_are_none():
    with pytest.raises(ValueError, match=r"^mass is singular; give massless limbs a small inertia"):
        touchdown_words(Bar(mass=0.0), [0.0, 0.0], [-1.0, 0.0], [0, 1])
    with pytest.raises(ValueError, match=r"^q has shape"):
        touchdown_words(FALLING_BAR, [np.nan, 0.0], [-1.0, 0.0], [0, 1])
    body = free_ball()
    q = body.neutral()
    q[3:7] = 0.0
    with pytest.raises(ValueError, match=r"normalise its quaternion"):
        touchdown_words(body, q, -np.eye(6)[2], [0])


@pytest.mark.parametrize("wrong", [([0.0],), [0.0], 1.0, None])
def test_a_filter_step_refuses_a_mean_that_is_not_q_and_v(wrong):
    with pytest.raises(ValueError, match=r"^mean is .*; give \(q, v\)"):
        salted_update(wrong, np.eye(2), saltation(**BOUNCE))
