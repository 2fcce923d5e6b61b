"""One replay in progress: the messages of a recording through the engine, and what the engine says of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.typestore import message_types
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.estimation.events_ahead import Spaced
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.serialized_encoding import SerializedEncoder
from hybrid_contact_ros.monitoring.state_notes import Notes, StateNotes
from hybrid_contact_ros.monitoring.verdict import odd_states
from hybrid_contact_ros.prediction import Prediction
from hybrid_contact_ros.results.recorder import Recorder
from hybrid_contact_ros.scoring.scoreboard import Scoreboard
from hybrid_contact_ros.scoring.series import Series

OUTPUTS = {
    "/contact_mode": "hybrid_contact_msgs/msg/ContactMode",
    "/constraint_stability": "hybrid_contact_msgs/msg/ConstraintStability",
    "/impact_set": "hybrid_contact_msgs/msg/PostImpactVelocitySet",
    "/contact_events": "hybrid_contact_msgs/msg/ContactEvent",
}
"""Topics that a replay writes, and their types: those of the live suite."""
SENSITIVITY = {"/event_sensitivity": "hybrid_contact_msgs/msg/EventSensitivity"}
"""The same of what it writes where that is asked for."""


class Session:
    """What a live node holds, and the counts of one replay.

    Args:
        estimator, intake: the engine and its inputs, as of a live node.
        on_prediction: called with each state and its prediction.
        scored: whether a truth will be told to ``board``.
        sensitivity: whether ``event_sensitivity`` is wanted, for states that are ``sensitivity.interval`` apart.
        recorder: makes the tables of a result file.
    """

    def __init__(
        self,
        estimator: ContactEstimator,
        intake: Intake,
        on_prediction: Callable[[RobotState, Prediction], None] | None,
        scored: bool,
        sensitivity: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        model = estimator.model
        self.estimator, self.intake, self.on_prediction = estimator, intake, on_prediction
        self.encoder = SerializedEncoder(message_types(), model)
        self._spaced = Spaced(estimator.config.sensitivity.interval) if sensitivity else None
        self.board = None
        if scored:
            self.board = Scoreboard(
                model.contact_names,
                model.contact_frames,
                lambda state: model.problem(state).mass,
                observer=None if recorder is None else recorder.observed,
            )
        self.recorder = recorder
        self._faults = intake.faults.copy()
        self._told = Notes()
        self._notes = StateNotes(estimator, estimator.config, self._told)
        self.compute = Series(1, np.int64)
        self._last = self._elapsed = 0  # stamp of the last state, and the time from state to state, ns
        self._set: list[tuple[int, int]] = []  # stamps before and after the clock was set, ns
        self.sets = self.events = 0

    def state(self, state: RobotState, time_ns: int, writer: BagWriter | None) -> None:
        """Answer one state, recorded at ``time_ns``, exactly as a live node answers it."""
        if self.intake.set_back:
            self.estimator.reset()
            if self._last:
                self._set.append((self._last, state.stamp_ns))
        elif self._last:
            self._elapsed += max(0, state.stamp_ns - self._last)
        self._last = state.stamp_ns
        begin = time.perf_counter_ns()
        try:
            prediction = self.estimator.update(state)
            compute_ns = time.perf_counter_ns() - begin
            prediction = self._with_sensitivities(prediction)
        except UnusableStateError as error:  # the state cannot be computed with: the live node counts that and goes on
            self.intake.refuse(str(error))
            return
        self.compute.append(compute_ns)
        self.sets += prediction.impact is not None
        self.events += len(prediction.events)
        self._notes.take(state, prediction.mode)
        if self.board is not None:
            self.board.predicted(state, prediction.mode, prediction.impact)
        if self.recorder is not None:
            age = time_ns - state.stamp_ns
            self.recorder.predicted(state, prediction, compute_ns, age, self.estimator.force_noise)
        if self.on_prediction is not None:
            self.on_prediction(state, prediction)
        if writer is not None:
            self._write(prediction, compute_ns, time_ns, writer)

    def _with_sensitivities(self, prediction: Prediction) -> Prediction:
        """The same with those of the events that are ahead, where a node computes them, too."""
        if self._spaced is None or self.estimator.events_ahead() is None:
            return prediction
        if not self._spaced.due(prediction.mode.stamp_ns):
            return prediction
        return replace(prediction, sensitivity=self.estimator.next_sensitivities())

    def note_faults(self, time_ns: int) -> None:
        """Tell the recorder what was refused or reported of the message recorded at ``time_ns``, which was taken."""
        faults = self.intake.faults
        if self.recorder is None or faults.total() == self._faults.total():
            return
        for reason in (faults - self._faults).elements():
            self.recorder.refused(time_ns, reason)
        self._faults = faults.copy()

    @property
    def warnings(self) -> list[str]:
        """What is odd about the states, as the diagnostics of a live node tell it, and whether their clock was set."""
        limits = self.estimator.config.diagnostics
        odd = odd_states(self._told.noted, len(self.compute.rows), limits)
        return self.intake.contradictions(limits.reported) + odd + self._clock_set()

    def _clock_set(self) -> list[str]:
        if not self._set:
            return []
        before, after = self._set[0]
        often = "once" if len(self._set) == 1 else f"{len(self._set)} times, first"
        return [
            f"the clock of the stamps was set {often} from {before * 1e-9:.3f} s to {after * 1e-9:.3f} s: what came "
            "before and after are streams of their own, and of a clock that was set back the longer one is scored"
        ]

    def counts(self) -> dict[str, Any]:
        """What :class:`~.result.ReplayResult` says of the states, by its attributes."""
        compute = self.compute.rows[:, 0] * 1e-9
        p50, p99 = np.percentile(compute, (50, 99)) if compute.size else (np.nan, np.nan)
        return {
            "contacts": tuple(self.estimator.model.contact_names),
            "states": compute.size,
            "duration": self._elapsed * 1e-9 if compute.size else 0.0,
            "compute_p50": float(p50),
            "compute_p99": float(p99),
            "sets": self.sets,
            "events": self.events,
            "faults": dict(self.intake.faults),
            "last_fault": self.intake.last_fault,
        }

    def _write(self, prediction: Prediction, compute_ns: int, time_ns: int, writer: BagWriter) -> None:
        encoder = self.encoder
        if self.intake.frame_id:  # odometry need not name its frame: the one named last holds, as in a node
            encoder.frame_id = self.intake.frame_id
        age = time_ns - prediction.mode.stamp_ns
        writer.write("/contact_mode", time_ns, encoder.mode(prediction.mode, compute_ns, age))
        writer.write("/constraint_stability", time_ns, encoder.stability(prediction.stability, compute_ns))
        if prediction.impact is not None:
            for found in (*prediction.impact.after_each, prediction.impact):  # as the live node
                writer.write("/impact_set", time_ns, encoder.impact(found, compute_ns))
        for each in prediction.sensitivity:
            writer.write("/event_sensitivity", time_ns, encoder.sensitivity(each, compute_ns))
        for event in prediction.events:
            writer.write("/contact_events", time_ns, encoder.event(event))


@dataclass(slots=True)
class Feed:
    """The messages of a recording, handed to a session in the order in which they were recorded.

    Attributes:
        joint_states, odometry: the topics of the state; ``odometry`` is ``None`` for a fixed base.
        topics: all topics to read. Those that are not of the state are truths.
        beside: topics of what a robot may have or not, to the names that the intake knows them by.
        progress: called about 100 times with the number of messages read, and how many there are.
        read: number of messages read so far.
        unreadable: how many messages of each truth could not be read, and why the last could not.
    """

    reader: BagReader
    joint_states: str
    odometry: str | None
    topics: list[str]
    progress: Callable[[int, int], None] | None
    beside: dict[str, str] = field(default_factory=dict)
    read: int = 0
    unreadable: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        """What a user should know of the truths."""
        return [
            f"{count} messages of {topic} could not be read: {why}" for topic, (count, why) in self.unreadable.items()
        ]

    def through(self, session: Session, writer: BagWriter | None) -> str | None:
        """Feed all messages. The text says what ended the feeding early; ``None`` where nothing did."""
        total = self.reader.count(self.topics)
        every = max(1, total // 100)
        messages = self.reader.messages(self.topics, raw=self.topics)
        while True:
            try:  # around the reading alone: what goes wrong with a message that was read is no damage
                entry = next(messages, None)
            except BagError as error:
                return str(error)
            if entry is None:
                break
            topic, time_ns, data = entry
            self.read += 1
            if self.progress is not None and self.read % every == 0:
                self.progress(self.read, total)
            if topic in self.beside:
                session.intake.side_input(self.beside[topic], data, time_ns)
                session.note_faults(time_ns)
                continue
            if topic not in (self.joint_states, self.odometry):
                self._truth(session, topic, data)
                continue
            take = session.intake.joint_state if topic == self.joint_states else session.intake.odometry
            state = take(data, time_ns)
            if state is not None:
                session.state(state, time_ns, writer)
            session.note_faults(time_ns)
        if self.progress is not None:
            self.progress(total, total)
        return None

    def _truth(self, session: Session, topic: str, data: bytes) -> None:
        assert session.board is not None
        try:
            message = self.reader.deserialize(data, self.reader.topics[topic])
        except BagError as error:
            self.unreadable[topic] = self.unreadable.get(topic, (0, ""))[0] + 1, str(error)
            return
        session.board.truth(message)
