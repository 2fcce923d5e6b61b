"""What an update remembers: determinism, resets, and inputs that it must refuse without a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import pytest

from helpers.bodies import NO_DEADLINE, block, free, landing, same_bits
from hybrid_contact_ros.codes import Validity
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.sensors import CommandedContacts, ContactForces, ContactReadings
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError


def test_two_runs_over_the_same_states_agree_to_the_bit():
    first, second = block(**NO_DEADLINE), block(**NO_DEADLINE)
    answers = [first.update(s) for s in landing()]
    assert any(a.impact is not None for a in answers)
    assert all(same_bits(a, second.update(s)) for a, s in zip(answers, landing(), strict=True))
    first.reset()
    assert all(same_bits(a, first.update(s)) for a, s in zip(answers, landing(), strict=True))


def test_the_mode_does_not_depend_on_which_other_parts_are_asked_for():
    everything, only, mixed = block(**NO_DEADLINE), block(), block(**NO_DEADLINE)
    for i, state in enumerate(landing()):
        full = everything.update(state, Parts.ALL)
        assert same_bits(full.mode, only.update(state, Parts.MODE | Parts.SEQUENCE).mode)
        asked = (Parts.MODE, Parts.STABILITY, Parts.ALL, Parts.IMPACT)[i % 4]
        other = mixed.update(state, asked | Parts.SEQUENCE)
        assert same_bits(full.mode, other.mode) and same_bits(full.events, other.events)


def test_a_mode_without_its_sequence_says_so_and_is_the_same_else():
    everything, bare = block(**NO_DEADLINE), block(**NO_DEADLINE)
    told = 0
    for state in landing():
        full, mode = everything.update(state).mode, bare.update(state, Parts.MODE).mode
        assert full.validity & Validity.SEQUENCE and not mode.validity & Validity.SEQUENCE
        assert mode.sequence.contact.size == 0
        told += full.sequence.contact.size
        assert same_bits(replace(mode, sequence=full.sequence, validity=full.validity), full)
    assert told


def test_asking_for_an_impact_leaves_no_trace():
    asked, plain = block(**NO_DEADLINE), block(**NO_DEADLINE)
    for state in landing():
        asked.impact(state, contacts=[0, 1, 2, 3])
        assert same_bits(asked.update(state), plain.update(state))


def _bad_states(good: RobotState) -> dict[str, RobotState]:
    nan, huge, zero = good.q.copy(), good.q.copy(), good.q.copy()
    nan[1], huge[2], zero[3:7] = np.nan, np.inf, 0.0
    return {
        "NaN in q": replace(good, q=nan),
        "infinite height": replace(good, q=huge),
        "no quaternion": replace(good, q=zero),
        "short q": replace(good, q=good.q[:-1]),
        "short v": replace(good, v=good.v[:3]),
        "NaN in effort": replace(good, effort=np.full(6, np.nan)),
        "short effort": replace(good, effort=np.zeros(2)),
        "covariance of one matrix": replace(good, base_covariance=np.eye(6)),
        "forces that overflow": replace(good, v=np.full(6, 1e300)),
        "singular mass": good,
    }


@pytest.fixture
def massless(monkeypatch: pytest.MonkeyPatch) -> Callable[[ContactEstimator], AbstractContextManager[None]]:
    """While the context lasts the model of an estimator gives problems whose M is not positive definite."""

    @contextmanager
    def lost(estimator: ContactEstimator) -> Iterator[None]:
        model = estimator.model
        whole = model.evaluate

        def evaluate(state: RobotState) -> bool:
            finite = whole(state)
            model.here.mass[2, :] = model.here.mass[:, 2] = 0.0
            return finite

        with monkeypatch.context() as patch:
            patch.setattr(model, "evaluate", evaluate)
            yield

    return lost


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("later", [-1_000_000, 0, 1_000_000, 10**9], ids=["backward", "equal", "next", "pause"])
@pytest.mark.parametrize("bad", _bad_states(free(0, 0.05)))
def test_a_bad_state_is_refused_and_leaves_no_trace(bad, later, massless):
    """Whatever its stamp would make the estimator forget, and whatever its contacts would do to hysteresis."""
    hit, spared = block(**NO_DEADLINE), block(**NO_DEADLINE)
    for i, state in enumerate(landing()):
        if i in (5, 60, 130):
            slides = free(state.stamp_ns - 2_000_000 + later, 0.05 if i < 100 else 0.5, (3.0, 0.0, 0.2))
            lost = massless(hit) if bad == "singular mass" else nullcontext()
            with lost, pytest.raises(ValueError):
                hit.update(_bad_states(slides)[bad])
            assert same_bits(hit.next_impact(), spared.next_impact())
            if bad != "singular mass":  # whose answer is an empty set and its status
                with pytest.raises(ValueError):
                    hit.impact(_bad_states(slides)[bad])
        assert same_bits(hit.update(state), spared.update(state))


@pytest.mark.parametrize("impact", [{"samples": 0}, {"seed": -1}, {"step": 0.0}, {"max_steps": 0}, {"directions": 3}])
def test_a_configuration_that_no_set_can_be_drawn_with_is_refused_before_the_first_state(impact):
    """Of a configuration made without ``from_mapping``, which would refuse it: at an update it would be too late."""
    thing = block()
    config = replace(thing.config, impact=replace(thing.config.impact, **impact))
    with pytest.raises(ValueError, match=next(iter(impact))):
        ContactEstimator(thing.model, config)


def test_a_backward_stamp_starts_anew():
    used, fresh = block(**NO_DEADLINE), block(**NO_DEADLINE)
    for state in landing(seed=1):
        used.update(RobotState(state.stamp_ns + 10**9, state.q, state.v, state.effort))
    assert all(same_bits(used.update(s), fresh.update(s)) for s in landing())


def test_arrays_of_other_types_and_layouts_are_taken():
    thing, state = block(), free(0, 0.05)
    strided = np.stack([state.q, state.q], axis=1)[:, 0]
    other = RobotState(0, strided, state.v.astype(np.float32), np.zeros(6, dtype=int))
    assert same_bits(thing.update(state).mode, block().update(other).mode)


def test_answers_are_not_overwritten_by_later_ones():
    thing = block(**NO_DEADLINE)
    states = landing()
    early = thing.update(states[0])
    copy = block(**NO_DEADLINE).update(states[0])
    for state in states[1:]:
        thing.update(state)
    assert same_bits(early, copy)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"stamp_ns": 2**62}, "146 years"),
        ({"stamp_ns": -(2**70)}, "146 years"),
        ({"base_covariance": np.full((2, 6, 6), 1e308)}, "not known"),
        ({"v": np.full(6, 1e308)}, "too large"),
        ({"effort": np.full(6, 1e308)}, "too large"),
        ({"stamp_ns": 0.5}, "whole nanoseconds"),
        ({"stamp_ns": None}, "whole nanoseconds"),
        ({"q": None}, "q is None, a numpy array is needed"),
        ({"v": [0.0] * 6}, "v is a list"),
        ({"effort": (0.0,) * 6}, "effort is a tuple"),
        (
            {"contact_reading": ContactReadings(0, np.zeros(9), np.zeros(9), np.ones(9, bool))},
            r"contact_reading\.raw has shape \(9,\), the model's contacts need",
        ),
        (
            {"contact_force": ContactForces(np.zeros(2, int), np.zeros((9, 3)), np.ones(9, bool), np.ones(9, bool))},
            r"contact_force\.stamp_ns has shape \(2,\)",
        ),
        ({"commanded_contacts": CommandedContacts(0, np.zeros(9), np.zeros(9, int))}, "commanded_contacts.wanted"),
    ],
)
def test_what_is_no_state_or_too_large_to_compute_with_is_refused_without_a_warning(change, why):
    estimator, states = block(), landing()[:8]
    for state in states[:-1]:
        estimator.update(state)
    odd = replace(states[-1], **change)
    with pytest.raises(UnusableStateError, match=why):
        estimator.update(odd)
