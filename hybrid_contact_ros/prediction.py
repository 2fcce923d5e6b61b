"""What the estimator answers for one state: contact mode, stability flags, and the set after an impact.

Plain arrays along the contacts, in the order of the configuration, so that the live node and the replay can be
compared to the bit. The ROS messages (``hybrid_contact_msgs``) carry the same fields and values.
"""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.prediction_impact import ImpactPrediction
from hybrid_contact_ros.prediction_mode import ModePrediction, ModeSequence
from hybrid_contact_ros.prediction_sensitivity import SensitivityPrediction, WordPrediction
from hybrid_contact_ros.prediction_stability import StabilityPrediction

__all__ = [
    "Event",
    "ImpactPrediction",
    "ModePrediction",
    "ModeSequence",
    "Prediction",
    "SensitivityPrediction",
    "StabilityPrediction",
    "WordPrediction",
]


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Something that a contact did, as the contact mode shows (``detected``), or something that it will do.

    Times are integer nanoseconds; ``contact`` is an index. ``confidence`` is a calibrated probability only where
    ``confidence_valid`` says so.
    """

    stamp_ns: int
    contact: int
    kind: EventKind
    detected: bool
    time_ns: int
    earliest_ns: int
    latest_ns: int
    confidence: float
    confidence_valid: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """The whole answer of a :class:`~hybrid_contact_ros.estimator.ContactEstimator` for one state of the robot.

    Attributes:
        mode: which contacts are closed, their forces, and the next event of each contact.
        stability: tri-state flags with their margins, for each contact and for pairs of contacts.
        impact: the velocities that may follow the next impact; None unless an impact is predicted within
            ``impact.horizon`` and asked for by ``Parts.IMPACT``.
        events: what contacts have just done (``detected``) and what they are predicted to do.
        sensitivity: of each event that is predicted within ``sensitivity.horizon``, in order of time; empty unless
            asked for by ``Parts.SENSITIVITY``.
    """

    mode: ModePrediction
    stability: StabilityPrediction
    impact: ImpactPrediction | None
    events: tuple[Event, ...]
    sensitivity: tuple[SensitivityPrediction, ...] = ()
