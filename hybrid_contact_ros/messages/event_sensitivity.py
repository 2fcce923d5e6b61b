"""``EventSensitivity``: how a small change of the state before a predicted event appears after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybrid_contact_ros.messages.envelope import Envelope
from hybrid_contact_ros.prediction import SensitivityPrediction, WordPrediction

MAX_NUMBERS = 262144
"""Numbers that the saltation matrices of a message may hold together; more words are left out, the least probable."""


def event_sensitivity(envelope: Envelope, event: SensitivityPrediction, compute_time_ns: int) -> Any:
    """The message of one event, computed in ``compute_time_ns``."""
    T, dof = envelope.types, event.velocity_minus.size
    words = event.words[: max(1, MAX_NUMBERS // (2 * dof) ** 2)]
    left_out = sum(word.probability for word in event.words[len(words) :])
    return T.EventSensitivity(
        header=envelope.header(event.stamp_ns),
        kind=int(event.kind),
        contacts=[envelope.names[i] for i in event.contacts],
        closed=[envelope.names[i] for i in event.closed],
        time=envelope.time(event.stamp_ns + round(event.time_to_event * 1e9)),
        time_to_event=float(event.time_to_event),
        dof=dof,
        dimension=2 * dof,
        velocity_names=list(envelope.velocity_names),
        q=T.float64(event.configuration),
        v_minus=T.float64(event.velocity_minus),
        validity=int(event.validity),
        why=event.why,
        time_gradient=_array(envelope, event.time_gradient),
        time_sigma=T.float64(event.time_sigma),
        time_sigma_valid=bool(event.time_sigma_valid),
        parameters=[f"{kind} {envelope.names[i]}" for kind, i in event.parameters],
        words=[_word(envelope, word) for word in words],
        other_probability=float(event.other_probability + left_out),
        probability_valid=bool(event.probability_valid),
        spread=float(event.spread),
        mean=_array(envelope, event.mean),
        covariance=_array(envelope, event.covariance),
        mixture_valid=bool(event.mixture_valid),
        compute_time=envelope.duration(compute_time_ns),
        model_hash=envelope.hash,
    )


def _word(envelope: Envelope, word: WordPrediction) -> Any:
    T = envelope.types
    return T.EventWord(
        text=word.text,
        struck=T.uint64(word.struck),
        closed=T.uint64(word.closed),
        probability=float(word.probability),
        validity=int(word.validity),
        why=word.why,
        rank=int(word.rank),
        v_plus=_array(envelope, word.velocity),
        saltation=_array(envelope, word.saltation),
        v_plus_gradient=_array(envelope, word.velocity_gradient),
        parameter_matrix=_array(envelope, word.parameter_matrix),
        v_plus_covariance=_array(envelope, word.velocity_covariance),
    )


def _array(envelope: Envelope, values: Any) -> Any:
    """Numbers, row by row; none where there is no array."""
    return envelope.types.float64(np.zeros(0) if values is None else np.asarray(values, np.float64).reshape(-1))
