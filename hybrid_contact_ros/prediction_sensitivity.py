"""How the outcome of a predicted event changes with the state before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind, EventValidity

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WordPrediction:
    """One way in which a predicted event may go; of touchdowns it is a sequence of impacts.

    States are x = (δq, v) (2 nv,). Matrices are None where the word has none, and ``why`` says so then.

    Attributes:
        text: the impacts in turn. struck, closed: bit masks of the contacts that strike in each impact, and of those
            that are closed after it; empty for an event without an impact.
        probability: NaN without a covariance of the state. validity: :class:`EventValidity`. why: in words.
        rank: of ``saltation``. velocity: v⁺ (nv,). saltation: Ξ (2 nv, 2 nv).
        velocity_gradient: ∂v⁺/∂x (nv, 2 nv), right after the last impact. parameter_matrix: ∂x⁺/∂p (2 nv, p).
        velocity_covariance: of v⁺ (nv, nv), if this word were the only one.
    """

    text: str
    struck: tuple[int, ...]
    closed: tuple[int, ...]
    probability: float
    validity: EventValidity
    why: str
    rank: int = 0
    velocity: Array | None = None
    saltation: Array | None = None
    velocity_gradient: Array | None = None
    parameter_matrix: Array | None = None
    velocity_covariance: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SensitivityPrediction:
    """How a small change of the state before a predicted event appears after it.

    ``EventSensitivity.msg`` has units and meanings.

    Attributes:
        kind: :class:`EventKind`; a TOUCHDOWN may be a cluster. contacts, closed: indices. time_to_event: s.
        configuration, velocity_minus: q (nq,) and v⁻ (nv,), of which maps are taken; contacts of a cluster touch there.
        validity: :class:`EventValidity`. why: in words. Unless it is VALID or CUT there are no words.
        time_gradient: ∂τ/∂x (k, 2 nv) of each contact, or None. time_sigma: (k,) s, NaN without a covariance.
            time_sigma_valid: whether these are calibrated for the covariance of the state.
        parameters: names of the columns of ``WordPrediction.parameter_matrix``.
        words: the most probable first. other_probability: of those that were left out. probability_valid: whether
            probabilities are calibrated for the covariance of the state. spread: s, of touchdowns, for which maps hold.
        mean: (2 nv,), covariance: (2 nv, 2 nv), of (δq⁺ from ``configuration``, v⁺) over all words with a map, or None.
            mixture_valid: whether these are calibrated for the covariance of the state, and every word is in them.
    """

    stamp_ns: int
    kind: EventKind
    contacts: tuple[int, ...]
    closed: tuple[int, ...]
    time_to_event: float
    configuration: Array
    velocity_minus: Array
    validity: EventValidity
    why: str
    time_gradient: Array | None
    time_sigma: Array
    time_sigma_valid: bool
    parameters: tuple[tuple[str, int], ...] = ()
    words: tuple[WordPrediction, ...] = ()
    other_probability: float = 0.0
    probability_valid: bool = False
    spread: float = float("nan")
    mean: Array | None = None
    covariance: Array | None = None
    mixture_valid: bool = False
