"""When the belief closes a contact, by itself and together with what gaps and rates say."""

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.belief_step import decide_closed, decide_together
from hybrid_contact_ros.kernels.estimation.landed_forces import PRESSED, force_memory


@pytest.mark.parametrize(("gap", "rate", "stopped", "closes"), [
    (0.006, -1.0, -1.0, False),  # nothing has stopped it yet, however certain it is that something will
    (0.006, -0.15, 0.01, True),  # an impact has, and the base that comes late has it sink
    (0.006, -0.05, -1.0, True),
    (-0.001, -1.0, -1.0, True),
])  # fmt: skip
def test_a_contact_that_is_believed_closes_unless_it_is_still_arriving(gap, rate, stopped, closes):
    closed, evidence = np.zeros(1, np.uint8), np.zeros(1)
    probability = np.array([[0.99, 0.0]])
    given = np.array([gap]), np.array([rate]), np.array([stopped]), probability, force_memory(1)
    decide_closed(0.6, 0.4, 0.1, *given, closed, evidence)
    assert bool(closed[0]) is closes
    assert evidence[0] == pytest.approx(0.49), "it touched now, though it waits until it is slow"


def test_what_is_believed_to_touch_and_loses_half_of_its_speed_has_met_ground_that_gives_way():
    """From outside: feet that sank in sand were open for 50 ms under 120 N, with a belief of 1."""
    closed, forces, told = np.zeros(1, np.uint8), force_memory(1), []
    for rate, belief in ((-0.3, 0.2), (-0.7, 0.9), (-0.6, 0.99), (-0.4, 1.0), (-0.34, 1.0)):
        given = np.array([0.01]), np.array([rate]), np.full(1, -1.0), np.array([[belief, 0.0]]), forces
        decide_closed(0.6, 0.4, 0.1, *given, closed, np.zeros(1))
        told.append(int(closed[0]))
    assert told == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("presses", [False, True])
def test_what_surely_presses_has_met_the_ground_however_fast_it_sinks_above_where_that_is_expected(presses):
    """From outside: feet that sank by 20 mm, above ground learned lower, were open under all of the weight."""
    closed, forces = np.zeros(1, np.uint8), force_memory(1)
    forces[0, PRESSED] = presses
    given = np.array([0.01]), np.array([-0.4]), np.full(1, -1.0), np.array([[0.99, 0.0]]), forces
    decide_closed(0.6, 0.4, 0.1, *given, closed, np.zeros(1))
    assert bool(closed[0]) is presses


@pytest.mark.parametrize(("rate", "evidence"), [(-1.0, 0.0), (-0.05, 0.08)])
def test_that_an_arriving_contact_may_have_touched_is_no_evidence_before_it_would_close(rate, evidence):
    closed, found = np.zeros(1, np.uint8), np.zeros(1)
    decide_closed(
        0.6,
        0.4,
        0.1,
        np.array([0.006]),
        np.array([rate]),
        np.full(1, -1.0),
        np.array([[0.58, 0.0]]),
        force_memory(1),
        closed,
        found,
    )
    assert not closed[0] and found[0] == pytest.approx(evidence)


@pytest.mark.parametrize(("was", "alone", "gap", "belief", "closes"), [
    (0, 0, 0.012, 0.95, True),  # over the ground that is expected, by less than is known, and as still as what stands
    (0, 0, 0.3, 0.95, False),  # it hangs
    (0, 1, 0.001, 0.1, False),  # gaps and rates alone are not enough against a belief
    (0, 1, 0.001, 0.4, True),
    (1, 0, 0.001, 0.8, True),  # between the thresholds all stays
    (0, 0, 0.001, 0.8, False),
    (1, 0, 0.001, 0.5, False),
])  # fmt: skip
def test_without_forces_belief_and_tracker_decide_together(was, alone, gap, belief, closes):
    closed, evidence = np.full(1, was, np.uint8), np.zeros(1)
    decide_together(
        0.6, 0.4, np.full(1, 0.006), np.zeros(1, np.uint8), np.full(1, alone, np.uint8), np.zeros(1), np.array([gap]),
        np.array([0.003]), np.zeros((1, 3)),
        np.array([[belief, 0.0]]), closed, evidence,
    )  # fmt: skip
    assert bool(closed[0]) is closes
    assert (evidence[0] > 0.0) or was == closes


def test_a_contact_that_does_not_press_by_its_efforts_is_open_whatever_it_looks_like():
    closed, evidence = np.ones(1, np.uint8), np.zeros(1)
    ones = np.ones(1, np.uint8)
    decide_together(
        0.6,
        0.4,
        np.full(1, 0.006),
        ones,
        ones,
        np.zeros(1),
        np.zeros(1),
        np.zeros(1),
        np.zeros((1, 3)),
        np.array([[0.99, 0.0]]),
        closed,
        evidence,
    )
    assert not closed[0] and evidence[0] > 0.0


def test_what_is_still_above_the_ground_hangs_unless_the_base_moves_on_meanwhile():
    gap, sigma, travel = np.full(3, 0.04), np.full(3, 0.003), np.zeros((3, 3))
    travel[1:, 0] = 0.003, 0.03
    closed, evidence, believed = np.zeros(3, np.uint8), np.zeros(3), np.array([[0.97, 0.0]] * 3)
    none = np.zeros(3, np.uint8)
    decide_together(
        0.6, 0.4, np.full(3, 0.006), none, none, np.zeros(3), gap, sigma, travel, believed, closed, evidence
    )
    assert closed.tolist() == [0, 0, 1]
