"""``EventSensitivity``: what a message says is what the prediction says, as objects and as bytes, both ways."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.bodies import arm, body, free
from hybrid_contact_ros.bags.typestore import message_types, typestore
from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.event_sensitivity import MAX_NUMBERS
from hybrid_contact_ros.messages.sensitivity_reader import read_event_sensitivity
from hybrid_contact_ros.messages.serialized_encoding import SerializedEncoder
from hybrid_contact_ros.prediction import WordPrediction
from hybrid_contact_ros.sensitivity.saltation import Validity

ROOT = Path(__file__).resolve().parents[2]
MESSAGE = (ROOT / "hybrid_contact_msgs/msg/EventSensitivity.msg").read_text()
FAR = {"prediction": {"horizon": 1.0}, "sensitivity": {"horizon": 1.0}}


def rclpy_types():
    pytest.importorskip("rclpy", reason="needs rclpy")
    from hybrid_contact_ros.ros.message_types import message_types

    return message_types()


@pytest.fixture(params=["rclpy", "rosbags"])
def types(request):
    return rclpy_types() if request.param == "rclpy" else message_types()


@pytest.fixture(scope="module")
def edges():
    """Two edges of a block that land together, with a covariance of the base and without, and what is refused."""
    thing = body([-0.05, 0, -0.05, 0.05, 0, -0.05], **FAR)
    state, rng = free(1_500_000_000, 0.08, (0, 0, -1.0)), np.random.default_rng(0)
    known = np.stack([1e-6 * (a @ a.T + np.eye(6)) for a in rng.normal(size=(2, 6, 6))])
    asked = Parts.MODE | Parts.SENSITIVITY
    found = [thing.update(each, asked).sensitivity for each in (replace(state, base_covariance=known), state)]
    limp, states = arm(effort_known=False)
    refused = limp.update(replace(states[0], q=np.array([-0.48])), asked).sensitivity
    return thing.model, found[0][0], found[1][0], limp.model, refused[0]


def same(array, expected):
    expected = np.zeros(0) if expected is None else np.asarray(expected, float).reshape(-1)
    return np.asarray(array, float).tobytes() == expected.tobytes()


def assert_says(msg, event, names):
    assert (msg.header.stamp.sec, msg.header.stamp.nanosec) == divmod(event.stamp_ns, 10**9)
    assert (msg.kind, msg.validity, msg.why) == (event.kind, event.validity, event.why)
    assert list(msg.contacts) == [names[i] for i in event.contacts]
    assert list(msg.closed) == [names[i] for i in event.closed]
    at = event.stamp_ns + round(1e9 * event.time_to_event)
    assert (msg.time.sec, msg.time.nanosec) == divmod(at, 10**9) and msg.time_to_event == event.time_to_event
    assert (msg.dof, msg.dimension) == (event.velocity_minus.size, 2 * event.velocity_minus.size)
    pairs = [
        (msg.q, event.configuration),
        (msg.v_minus, event.velocity_minus),
        (msg.time_gradient, event.time_gradient),
    ]
    pairs += [(msg.time_sigma, event.time_sigma), (msg.mean, event.mean), (msg.covariance, event.covariance)]
    assert all(same(a, b) for a, b in pairs)
    assert list(msg.parameters) == [f"{kind} {names[i]}" for kind, i in event.parameters]
    flags = (event.time_sigma_valid, event.probability_valid, event.mixture_valid)
    assert (msg.time_sigma_valid, msg.probability_valid, msg.mixture_valid) == flags
    assert msg.other_probability == event.other_probability
    assert msg.spread == event.spread or np.isnan(event.spread)
    assert len(msg.words) == len(event.words)
    for word, given in zip(msg.words, event.words, strict=True):
        assert (word.text, word.validity, word.why, word.rank) == (given.text, given.validity, given.why, given.rank)
        assert (tuple(word.struck), tuple(word.closed)) == (given.struck, given.closed)
        assert word.probability == given.probability or np.isnan(given.probability)
        assert same(word.v_plus, given.velocity) and same(word.saltation, given.saltation)
        assert same(word.v_plus_gradient, given.velocity_gradient)
        assert same(word.parameter_matrix, given.parameter_matrix)
        assert same(word.v_plus_covariance, given.velocity_covariance)


def test_a_message_carries_every_number_to_the_bit(types, edges):
    model, known, unknown, limp, refused = edges
    assert len(known.words) > 1 and known.covariance is not None and unknown.covariance is None and not refused.words
    for of, event in ((model, known), (model, unknown), (limp, refused)):
        msg = Encoder(types, of, "odom").sensitivity(event, 2_000_000_001)
        assert (msg.compute_time.sec, msg.compute_time.nanosec, msg.model_hash) == (2, 1, of.hash)
        assert msg.header.frame_id == "odom" and list(msg.velocity_names) == list(of.velocity_names)
        assert_says(msg, event, of.contact_names)


def test_its_bytes_are_those_of_the_message_and_are_read_back(edges):
    model, known, unknown, limp, refused = edges
    for of, event in ((model, known), (model, unknown), (limp, refused)):
        data = SerializedEncoder(message_types(), of, "odom").sensitivity(event, 7)
        message = Encoder(message_types(), of, "odom").sensitivity(event, 7)
        assert data == serialize("EventSensitivity", message)
        assert_says(
            typestore().deserialize_cdr(data, "hybrid_contact_msgs/msg/EventSensitivity"), event, of.contact_names
        )


def test_a_reader_finds_all_of_it_in_its_shapes(edges):
    model, known, unknown, limp, refused = edges
    for of, event in ((model, known), (model, unknown), (limp, refused)):
        view = read_event_sensitivity(SerializedEncoder(message_types(), of, "odom").sensitivity(event, 7))
        assert (view.stamp_ns, view.frame_id, view.kind) == (event.stamp_ns, "odom", event.kind)
        assert (view.validity, view.why, view.compute_time_ns) == (event.validity, event.why, 7)
        assert view.contacts == tuple(of.contact_names[i] for i in event.contacts) and len(view.words) == len(
            event.words
        )
        assert view.dimension == 2 * view.dof == 2 * of.nv and view.model_hash == of.hash
        assert view.time_ns == event.stamp_ns + round(1e9 * event.time_to_event)
        pairs = [
            (view.covariance, event.covariance),
            (view.mean, event.mean),
            (view.time_gradient, event.time_gradient),
        ]
        for word, given in zip(view.words, event.words, strict=True):
            assert (word.text, word.rank, tuple(word.struck)) == (given.text, given.rank, given.struck)
            pairs += [(word.saltation, given.saltation), (word.v_plus_gradient, given.velocity_gradient)]
            pairs += [(word.parameter_matrix, given.parameter_matrix), (word.v_plus, given.velocity)]
            pairs += [(word.v_plus_covariance, given.velocity_covariance)]
        for array, expected in pairs:
            assert (array is None) == (expected is None)
            assert array is None or (array.shape == expected.shape and np.array_equal(array, expected))
            assert array is None or not array.flags.writeable


def test_what_is_no_such_message_is_refused_by_the_reader(edges):
    model, known, *_ = edges
    data = SerializedEncoder(message_types(), model).sensitivity(known)
    for wrong in (b"", data[: len(data) // 2], b"\0\0" + data[2:]):
        with pytest.raises(ValueError):
            read_event_sensitivity(wrong)
    message = Encoder(message_types(), model).sensitivity(known)
    message.covariance = message.covariance[:-1]
    with pytest.raises(ValueError, match="covariance has"):
        read_event_sensitivity(serialize("EventSensitivity", message))


def test_words_beyond_the_documented_maximum_are_left_out_with_their_probability(edges):
    model, known, *_ = edges
    n = known.velocity_minus.size
    most = MAX_NUMBERS // (2 * n) ** 2
    one = WordPrediction("0→{0}", (1,), (1,), 0.5 / (most + 5), EventValidity.VALID, "", saltation=np.eye(2 * n))
    many = replace(known, words=(one,) * (most + 5), other_probability=0.5)
    msg = Encoder(message_types(), model).sensitivity(many)
    assert len(msg.words) == most
    assert sum(word.probability for word in msg.words) + msg.other_probability == pytest.approx(1.0)


def test_validities_have_the_values_of_the_message_and_the_names_of_saltations():
    constants = dict(re.findall(r"^uint8 (\w+) = (\d+)", MESSAGE, re.MULTILINE))
    assert {name: int(value) for name, value in constants.items()} == {v.name: int(v) for v in EventValidity}
    assert {v.name for v in Validity} <= {v.name for v in EventValidity}
