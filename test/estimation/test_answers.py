"""Records whose arrays are made when they are asked for are the records that they stand for."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from helpers.bodies import block, landing, same_bits
from hybrid_contact_ros.estimation.answers import AnsweredMode, blocks
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.prediction import ModePrediction, StabilityPrediction

PARTS = Parts.ALL & ~Parts.IMPACT


@pytest.fixture(scope="module")
def answers():
    estimator = block()
    return [estimator.update(state, PARTS) for state in landing()[:80]]


def plain(record, kind):
    """The record of that kind with the same fields, which has no blocks."""
    return kind(**{each.name: getattr(record, each.name) for each in fields(kind)})


def test_all_fields_are_there_and_have_their_shapes_and_types(answers):
    for answer in answers:
        mode, flags = answer.mode, answer.stability
        m = len(mode.status)
        vectors = {"position", "normal", "tangential_velocity", "force_model", "force_estimate"}
        for record, kind in ((mode, ModePrediction), (flags, StabilityPrediction)):
            assert isinstance(record, kind)
            for each in fields(kind):
                value = getattr(record, each.name)
                if isinstance(value, np.ndarray) and not each.name.startswith("pair_"):
                    assert value.shape == ((m, 3) if each.name in vectors else (m,)), each.name
                    types = {"Codes": np.uint8, "Array": np.float64, "NDArray[np.bool_]": np.bool_}
                    assert value.dtype == types[each.type], each.name
        assert (flags.closed == mode.closed).all()


def test_an_update_does_not_change_the_answers_before_it():
    estimator, other = block(), block()
    states = landing()[:60]
    looked_at_later = [estimator.update(state, PARTS) for state in states]
    for state, late in zip(states, looked_at_later, strict=True):
        assert same_bits(late, other.update(state, PARTS))


def test_copies_have_the_same_fields_and_no_others(answers):
    mode = answers[-1].mode
    for twin in (copy.copy(mode), copy.deepcopy(mode), pickle.loads(pickle.dumps(mode))):
        assert same_bits(plain(twin, ModePrediction), plain(mode, ModePrediction))
    other = replace(mode, gap=mode.gap + 1.0)
    assert (other.gap == mode.gap + 1.0).all() and other.status is mode.status
    for name in ("nothing", "floats_", "constraint_force"):
        with pytest.raises(AttributeError, match=name):
            getattr(mode, name)


def test_what_a_message_is_made_of_is_what_the_fields_say(answers):
    for answer in answers:
        mode = answer.mode
        assert isinstance(mode, AnsweredMode)
        floats, codes = blocks(mode)
        other_floats, other_codes = blocks(plain(mode, ModePrediction))
        known, written = other_floats != 0.0, other_codes != 0
        assert known.any() and written.any()
        assert floats[known].tobytes() == other_floats[known].tobytes()
        assert codes[written].tobytes() == other_codes[written].tobytes()
        changed = replace(mode, gap=mode.gap + 1.0)
        assert not np.array_equal(blocks(changed)[0], floats, equal_nan=True)
