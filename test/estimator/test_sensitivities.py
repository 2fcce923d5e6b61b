"""Sensitivities of predicted events: numbers that are known, what is refused, and that nothing else depends on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.bodies import GRAVITY, NO_DEADLINE, arm, block, body, free, landing, same_bits
from hybrid_contact_ros.codes import EventKind, EventValidity
from hybrid_contact_ros.estimation.event_maps import EventMaps
from hybrid_contact_ros.estimation.events_ahead import Spaced
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.impacts.steps import without_pauses

FAR = {"prediction": {"horizon": 1.0}, "sensitivity": {"horizon": 1.0}}
ASKED = Parts.MODE | Parts.SENSITIVITY
COVARIANCE = np.stack((np.diag([1e-6] * 3 + [1e-6] * 3), np.diag([1e-4] * 3 + [1e-4] * 3)))


def known(state, covariance=COVARIANCE):
    return replace(state, base_covariance=covariance)


def finite(event):
    """No matrix holds a number that is none, and what is refused says why."""
    for word in event.words:
        assert (word.validity == EventValidity.VALID) == (word.saltation is not None) == (word.why == "")
        for name in ("velocity", "saltation", "velocity_gradient", "parameter_matrix", "velocity_covariance"):
            array = getattr(word, name)
            assert array is None or np.isfinite(array).all()
    if event.validity == EventValidity.VALID:
        assert event.words and np.isfinite(event.time_gradient).all()
    else:
        assert event.why
    return event


def only(prediction):
    (event,) = prediction.sensitivity
    return finite(event)


def test_no_other_output_depends_on_sensitivities_to_the_bit():
    """Updates that ask for them, that do not, and in turns."""
    everything, plain, mixed = (block(**NO_DEADLINE, sensitivity={"horizon": 0.1}) for _ in range(3))
    told = 0
    for i, state in enumerate(map(known, landing())):
        full, bare = everything.update(state, Parts.ALL | Parts.SENSITIVITY), plain.update(state)
        other = mixed.update(state, Parts.ALL | Parts.SENSITIVITY if i % 3 else Parts.ALL)
        told += len(full.sensitivity)
        assert bare.sensitivity == () and same_bits(replace(full, sensitivity=()), bare)
        assert same_bits(replace(other, sensitivity=()), bare)
        for event in full.sensitivity:
            finite(event)
    assert told > 20


def test_all_parts_are_the_four_that_they_were():
    assert int(Parts.ALL) == 15 and not Parts.ALL & Parts.SENSITIVITY


def test_they_are_the_same_by_another_model_of_the_robot_and_by_the_copy_of_a_state():
    """As the thread of a node computes them."""
    thing = block(sensitivity={"horizon": 0.1})
    other = block(sensitivity={"horizon": 0.1})
    maps = EventMaps(other.model, other.config)
    for state in map(known, landing()[:60:5]):
        answer = thing.update(state, ASKED)
        assert same_bits(answer.sensitivity, without_pauses(maps.ahead(thing.events_ahead())))


@pytest.mark.parametrize("height, speed", [(0.02, -0.5), (0.05, -1.0)])
def test_a_ball_that_stops_has_the_time_and_the_matrix_of_free_fall(height, speed):
    ball = body([0, 0, 0], contact={"radius": 0.1, "friction": 0.0}, **FAR)
    event = only(ball.update(known(free(0, height + 0.1, (0, 0, speed))), ASKED))
    arrival = np.sqrt(speed**2 + 2 * GRAVITY * height)
    assert (event.kind, event.contacts, event.closed) == (EventKind.TOUCHDOWN, (0,), ())
    assert event.time_to_event == pytest.approx((speed + arrival) / GRAVITY, rel=1e-6)
    assert event.configuration[2] == pytest.approx(0.1, abs=1e-9)
    expected = np.zeros(12)
    expected[2] = 1.0 / arrival
    np.testing.assert_allclose(event.time_gradient, [expected], atol=1e-9)
    (word,) = event.words
    assert (word.text, word.struck, word.closed, word.probability) == (
        "0→{0}",
        (1,),
        (1,),
        pytest.approx(1.0, abs=1e-4),
    )
    matrix = np.eye(12)
    matrix[2, 2] = matrix[8, 8] = 0.0
    # A body that is tilted, with the same velocity in its own axes, drifts, and the ground leaves it that.
    matrix[6, 4], matrix[7, 3] = -arrival, arrival
    np.testing.assert_allclose(word.saltation, matrix, atol=1e-7)
    assert np.linalg.matrix_rank(word.saltation, tol=1e-6) == 10
    np.testing.assert_allclose(word.velocity, 0.0, atol=1e-12)
    # a height of δ later is δ/v later, and so much faster: neither is left after the impact
    np.testing.assert_allclose(word.velocity_covariance[2], 0.0, atol=1e-12)
    column = event.parameters.index(("height", 0))
    np.testing.assert_allclose(word.parameter_matrix[:, column], np.eye(12)[2], atol=1e-7)  # on higher ground


def test_the_sigma_of_a_touchdown_is_that_of_predictions_of_drawn_states():
    ball = body([0, 0, 0], contact={"radius": 0.1}, **FAR)
    height, speed, P = 0.05, -0.8, np.array([[4e-6, -1e-5], [-1e-5, 1e-3]])
    covariance = np.zeros((2, 6, 6))
    covariance[0, 2, 2], covariance[1, 2, 2] = P[0, 0], P[1, 1]
    covariance[0] += 1e-12 * np.eye(6)
    event = only(ball.update(known(free(0, height + 0.1, (0, 0, speed)), covariance), ASKED))
    assert event.time_sigma_valid and event.probability_valid and event.mixture_valid
    rng = np.random.default_rng(0)
    z, w = height + np.sqrt(P[0, 0]) * rng.normal(size=100_000), speed + np.sqrt(P[1, 1]) * rng.normal(size=100_000)
    times = (w + np.sqrt(w**2 + 2 * GRAVITY * z)) / GRAVITY
    assert event.time_sigma == pytest.approx([times.std()], rel=0.02)


def test_without_a_covariance_probabilities_and_sigmas_are_nan_and_said_to_be_invalid():
    ball = body([0, 0, 0], contact={"radius": 0.1}, **FAR)
    event = only(ball.update(free(0, 0.15, (0, 0, -1.0)), ASKED))
    assert event.validity == EventValidity.VALID and event.words[0].saltation is not None
    assert np.isnan(event.time_sigma).all() and np.isnan(event.words[0].probability)
    assert not (event.time_sigma_valid or event.probability_valid or event.mixture_valid)
    assert event.mean is None and event.covariance is None and event.words[0].velocity_covariance is None


def test_the_orders_of_two_edges_are_equally_likely_for_a_level_block_and_not_for_a_tilted_one():
    """Its tilt has a standard deviation of 1 mrad: with 1 mrad the first edge is first with 84 %."""
    edges = body([-0.05, 0, -0.05, 0.05, 0, -0.05], **FAR)
    for tilt, expected in ((0.0, 0.5), (1e-3, 0.1587)):
        state = known(free(0, 0.08, (0, 0, -1.0)))
        state = replace(state, q=np.array([0, 0, 0.08, 0, np.sin(tilt / 2), 0, np.cos(tilt / 2)]))
        covariance = 1e-12 * np.stack((np.eye(6), np.eye(6)))
        covariance[0, 4, 4] = 1e-6
        event = only(edges.update(replace(state, base_covariance=covariance), ASKED))
        chance = {word.struck[0]: 0.0 for word in event.words}
        for word in event.words:
            chance[word.struck[0]] += word.probability
        assert event.contacts == (0, 1) and sum(chance.values()) + event.other_probability == pytest.approx(
            1.0, abs=1e-4
        )
        assert chance[1] == pytest.approx(expected, abs=0.02)  # a positive tilt about y lowers the second one
        edges.reset()


def test_words_that_are_not_listed_are_in_the_other_probability():
    edges = body(
        [-0.05, 0, -0.05, 0.05, 0, -0.05], prediction={"horizon": 1.0}, sensitivity={"horizon": 1.0, "words": 1}
    )
    event = only(edges.update(known(free(0, 0.08, (0, 0, -1.0))), ASKED))
    assert len(event.words) == 1 and event.words[0].probability >= 0.5 - 0.02
    assert event.words[0].probability + event.other_probability == pytest.approx(1.0)


def test_a_liftoff_changes_nothing_where_efforts_do_not_switch():
    thing = block(activation={"force_on": 1.0}, sensitivity={"horizon": 0.1})
    seen = 0
    for i in range(95):
        answer = thing.update(known(free(i * 1_000_000, 0.05, force=(0, 0, 0.2 * i))), ASKED)
        for event in map(finite, answer.sensitivity):
            assert event.kind == EventKind.LIFTOFF and event.closed == (0, 1, 2, 3)
            if event.validity == EventValidity.VALID:
                (word,) = event.words
                np.testing.assert_array_equal(word.saltation, np.eye(12))
                assert word.rank == 12 and event.spread == np.inf and event.time_sigma_valid
                seen += 1
    assert seen > 20


def sliding(thing, height, states=40, mu=0.5):
    """The sticks that are foretold of a body that slides to rest."""
    found = []
    for i in range(states):
        speed = 0.3 - mu * GRAVITY * 1e-3 * i
        answer = thing.update(known(free(i * 1_000_000, height, (speed, 0, 0))), ASKED)
        found += [finite(e) for e in answer.sensitivity if e.kind == EventKind.STICK]
    return found


SLIPS = {"activation": {"slip_on": 0.02, "slip_off": 0.01}, "sensitivity": {"horizon": 0.1}}


def test_the_end_of_a_slip_in_space_loses_both_directions_and_comes_by_its_deceleration():
    found = sliding(body([0, 0, 0], **SLIPS), 0.0)
    assert len(found) > 5
    for event in found:
        assert event.validity == EventValidity.VALID and event.contacts == (0,)
        assert event.time_gradient[0, 6] == pytest.approx(1.0 / (0.5 * GRAVITY), rel=1e-6)
        assert event.words[0].rank == 10 and not event.words[0].saltation[6:8].round(5).any()


def test_slips_of_a_block_that_end_together_are_refused_because_a_turn_would_end_them_in_order():
    found = sliding(block(**SLIPS), 0.05)
    assert len(found) > 5
    assert all(e.validity == EventValidity.SIMULTANEOUS and e.contacts == (0, 1, 2, 3) for e in found)


def test_a_rod_that_falls_on_its_joint_limit_stops_there():
    thing, states = arm()
    fast = replace(states[0], q=np.array([-0.48]), v=np.array([-1.0]))
    event = only(thing.update(fast, ASKED))
    (word,) = event.words
    arrival = np.sqrt(1.0 + 2 * GRAVITY * 0.02)
    assert event.validity == EventValidity.VALID and event.configuration == pytest.approx([-0.5])
    np.testing.assert_allclose(event.time_gradient, [[1.0 / arrival, 0.0]], atol=1e-9)
    np.testing.assert_allclose(word.saltation, 0.0, atol=1e-7)
    assert event.probability_valid  # a fixed base needs no odometry
    expected = np.hypot(0.001, 0.05 * event.time_to_event) / arrival  # of the configured noise of a joint
    assert event.time_sigma == pytest.approx([expected], rel=1e-6)


# ------------------------------------------------------------------ bad input


def test_a_state_without_effort_says_why_there_is_nothing():
    thing, states = arm(effort_known=False)
    fast = replace(states[0], q=np.array([-0.48]), v=np.array([-0.5]))
    event = only(thing.update(fast, ASKED))
    assert event.validity == EventValidity.UNEXPLAINED and "effort" in event.why and not event.words


def test_more_touchdowns_together_than_are_followed_are_cut():
    angles = np.linspace(0.0, 2 * np.pi, 6, endpoint=False)
    points = np.stack((0.1 * np.cos(angles), 0.1 * np.sin(angles), np.full(6, -0.05)), axis=1).reshape(-1)
    event = only(body(points, **FAR).update(known(free(0, 0.08, (0, 0, -1.0))), ASKED))
    assert event.validity == EventValidity.CUT and not event.words and len(event.contacts) == 6


def test_a_contact_deep_in_its_surface_is_penetrating():
    thing = body([0, 0, 0], contact={"radius": 0.1}, **FAR)
    thing.update(known(free(0, 0.2, (0, 0, -1.0))), ASKED)
    ahead = thing.events_ahead()
    deep = replace(ahead, state=replace(ahead.state, q=np.array([0, 0, 0.05, 0, 0, 0, 1.0])))
    (event,) = without_pauses(EventMaps(thing.model, thing.config).ahead(deep))
    assert finite(event).validity == EventValidity.PENETRATING and "0.05 m" in event.why


def test_a_contact_that_does_not_approach_any_more_has_no_touchdown():
    thing = body([0, 0, 0], contact={"radius": 0.1}, **FAR)
    thing.update(known(free(0, 0.12, (0, 0, -1.0))), ASKED)
    ahead = thing.events_ahead()
    for speed in (1.0, GRAVITY * float(ahead.event_times[0, 0])):  # it leaves; it has just no speed at the event
        state = replace(ahead.state, v=np.array([0, 0, speed, 0, 0, 0]))
        (event,) = without_pauses(EventMaps(thing.model, thing.config).ahead(replace(ahead, state=state)))
        assert finite(event).validity in (EventValidity.NOT_TOUCHING, EventValidity.GRAZING) and not event.words


def test_numbers_that_are_not_finite_are_singular():
    thing = body([0, 0, 0], contact={"radius": 0.1}, **FAR)
    thing.update(known(free(0, 0.12, (0, 0, -1.0))), ASKED)
    ahead = thing.events_ahead()
    (event,) = without_pauses(
        EventMaps(thing.model, thing.config).ahead(replace(ahead, acceleration=np.full(6, np.inf)))
    )
    assert finite(event).validity == EventValidity.SINGULAR


def test_a_horizon_of_zero_switches_them_off():
    thing = body([0, 0, 0], contact={"radius": 0.1}, prediction={"horizon": 1.0}, sensitivity={"horizon": 0.0})
    assert thing.update(known(free(0, 0.12, (0, 0, -1.0))), ASKED).sensitivity == () and thing.events_ahead() is None


def test_states_are_let_through_an_interval_apart_and_after_the_clock_was_set_back():
    spaced = Spaced(0.01)
    assert [spaced.due(t * 1_000_000) for t in (0, 5, 9, 10, 15, 25, 3, 4)] == [
        True,
        False,
        False,
        True,
        False,
        True,
        True,
        False,
    ]
    spaced.reset()
    assert spaced.due(4_500_000) and all(Spaced(0.0).due(t) for t in (1, 1, 2))
