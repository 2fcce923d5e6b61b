"""Predictions into ROS messages: one code for live nodes and replay.

Each message has a file of its own, named after its topic; here they come together for one model.
"""

from __future__ import annotations

from typing import Any

from hybrid_contact_ros.messages.constraint_stability import constraint_stability
from hybrid_contact_ros.messages.contact_events import contact_event
from hybrid_contact_ros.messages.contact_mode import contact_mode
from hybrid_contact_ros.messages.envelope import Envelope, ModelNames
from hybrid_contact_ros.messages.event_sensitivity import event_sensitivity
from hybrid_contact_ros.messages.impact_set import impact_set
from hybrid_contact_ros.messages.types import MessageTypes
from hybrid_contact_ros.prediction import (
    Event,
    ImpactPrediction,
    ModePrediction,
    SensitivityPrediction,
    StabilityPrediction,
)


class Encoder:
    """Fills messages for one model.

    Args:
        types: the message classes. model: its names and its hash are read once. frame_id: the world frame; may be
        assigned later (the ``header.frame_id`` of the odometry). reuse: the contacts in a ``ContactMode`` are
        overwritten by the next one. A publisher is done with a message when
            ``publish`` returns, and this halves its time.

    Raises:
        ValueError: the model has more contacts or coordinates than the messages may hold.
    """

    def __init__(self, types: MessageTypes, model: ModelNames, frame_id: str = "world", reuse: bool = False) -> None:
        self._envelope = Envelope(types, model, frame_id)
        self._sequence = 0
        self._reused = self._blank_contacts() if reuse else None

    @property
    def frame_id(self) -> str:
        """The world frame that headers name."""
        return self._envelope.frame_id

    @frame_id.setter
    def frame_id(self, name: str) -> None:
        self._envelope.frame_id = name

    def mode(self, mode: ModePrediction, compute_time_ns: int = 0, input_age_ns: int = 0) -> Any:
        """``ContactMode``; see :func:`~.contact_mode.contact_mode`."""
        blanks = self._blank_contacts() if self._reused is None else self._reused
        return contact_mode(self._envelope, blanks, mode, compute_time_ns, input_age_ns)

    def stability(self, flags: StabilityPrediction, compute_time_ns: int = 0) -> Any:
        """``ConstraintStability``; see :func:`~.constraint_stability.constraint_stability`."""
        return constraint_stability(self._envelope, flags, compute_time_ns)

    def impact(self, impact: ImpactPrediction, compute_time_ns: int = 0) -> Any:
        """``PostImpactVelocitySet``; see :func:`~.impact_set.impact_set`."""
        return impact_set(self._envelope, impact, compute_time_ns)

    def sensitivity(self, event: SensitivityPrediction, compute_time_ns: int = 0) -> Any:
        """``EventSensitivity``; see :func:`~.event_sensitivity.event_sensitivity`."""
        return event_sensitivity(self._envelope, event, compute_time_ns)

    def event(self, event: Event) -> Any:
        """``ContactEvent``, with the next sequence number."""
        message = contact_event(self._envelope, event, self._sequence)
        self._sequence += 1
        return message

    def reset(self) -> None:
        """Count events from 0 again."""
        self._sequence = 0

    def _blank_contacts(self) -> list[Any]:
        return [self._envelope.types.blank_contact() for _ in self._envelope.names]
