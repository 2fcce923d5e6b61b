"""Predictions into the bytes of ROS messages: the same as those of an :class:`~.encoding.Encoder`'s messages.

Messages of one model differ in their numbers, in how long their sequences are, and in few texts. The first message of
each kind that differs in more than numbers is made by the Encoder, and its bytes become a template; after that, numbers
are put into the template.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.envelope import ModelNames
from hybrid_contact_ros.messages.impact_set import landing_arrays, layout_of
from hybrid_contact_ros.messages.templates import (
    EventTemplate,
    ImpactTemplate,
    ModeHead,
    ModeTemplate,
    StabilityTemplate,
)
from hybrid_contact_ros.messages.types import MessageTypes
from hybrid_contact_ros.prediction import (
    Event,
    ImpactPrediction,
    ModePrediction,
    SensitivityPrediction,
    StabilityPrediction,
)

_MOST = 256  # templates; the texts of the messages decide how many there are


class SerializedEncoder:
    """Makes the bytes of messages for one model. Arguments, methods and errors are those of an :class:`Encoder`, but
    for ``reuse``; what the methods return is what ``publish`` of rclpy takes as well as a message."""

    def __init__(self, types: MessageTypes, model: ModelNames, frame_id: str = "world") -> None:
        self._encoder = Encoder(types, model, frame_id)
        self._sequence = 0
        self._templates: dict[Hashable, Any] = {}

    @property
    def frame_id(self) -> str:
        """The world frame that headers name."""
        return self._encoder.frame_id

    @frame_id.setter
    def frame_id(self, name: str) -> None:
        if name != self._encoder.frame_id:
            self._templates.clear()
            self._encoder.frame_id = name

    def mode(self, mode: ModePrediction, compute_time_ns: int = 0, input_age_ns: int = 0) -> bytes:
        """``ContactMode``."""
        key = mode.sequence.contact.size
        template = self._templates.get(key) or self._new(key, lambda: ModeTemplate(self._mode_head(mode), key))
        return template.filled(mode, compute_time_ns, input_age_ns)

    def stability(self, flags: StabilityPrediction, compute_time_ns: int = 0) -> bytes:
        """``ConstraintStability``."""
        key = ("stability", flags.pair_first.size)
        template = self._templates.get(key) or self._new(key, lambda: StabilityTemplate(self._encoder.stability(flags)))
        return template.filled(flags, compute_time_ns)

    def impact(self, impact: ImpactPrediction, compute_time_ns: int = 0) -> bytes:
        """``PostImpactVelocitySet``."""
        arrays = landing_arrays(impact)
        key = layout_of(impact, arrays)
        template = self._templates.get(key) or self._new(key, lambda: ImpactTemplate(self._encoder.impact(impact)))
        return template.filled(impact, arrays, compute_time_ns)

    def sensitivity(self, event: SensitivityPrediction, compute_time_ns: int = 0) -> bytes:
        """``EventSensitivity``. Its layout changes with the words, and it is rare: nothing is prepared for it."""
        return serialize("EventSensitivity", self._encoder.sensitivity(event, compute_time_ns))

    def event(self, event: Event) -> bytes:
        """``ContactEvent``, with the next sequence number."""
        key = ("event", event.contact)
        template = self._templates.get(key) or self._new(key, lambda: EventTemplate(self._encoder.event(event)))
        data = template.filled(event, self._sequence)
        self._sequence += 1
        return data

    def reset(self) -> None:
        """Count events from 0 again."""
        self._sequence = 0

    def _mode_head(self, mode: ModePrediction) -> ModeHead:
        found: ModeHead = self._templates.get("head") or self._new("head", lambda: ModeHead(self._encoder.mode(mode)))
        return found

    def _new(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if len(self._templates) >= _MOST:
            self._templates.clear()
        self._templates[key] = found = make()
        return found
