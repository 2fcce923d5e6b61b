"""The engine over a recording: the same intake, estimator and encoding as the live nodes, as fast as it goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.prediction import Prediction
from hybrid_contact_ros.replay.bags import BagError, BagReader, BagWriter, check_output
from hybrid_contact_ros.replay.messages import message_types
from hybrid_contact_ros.replay.streams import Streams
from hybrid_contact_ros.scoring.scoreboard import Scoreboard, Scores, Series

TRUTH = ("hybrid_contact_msgs/msg/ContactMode", "hybrid_contact_msgs/msg/PostImpactVelocitySet")

OUTPUTS = {
    "/contact_mode": "hybrid_contact_msgs/msg/ContactMode",
    "/constraint_stability": "hybrid_contact_msgs/msg/ConstraintStability",
    "/impact_set": "hybrid_contact_msgs/msg/PostImpactVelocitySet",
    "/contact_events": "hybrid_contact_msgs/msg/ContactEvent",
}
"""What a replay writes: the topics of the live suite."""


_INTERLEAVED = 0.2
"""Part of the messages that come out of order when two publish; a network reorders far fewer."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What came of a replay.

    Attributes:
        bag, out: recordings read and written (``None``: nothing was written).
        contacts: names. states: predicted. messages: read.
        duration: s, from the first state to the last. wall: s that it took, without loading and compiling.
        setup: s of loading and compiling. compute_p50, compute_p99: s per state, in the estimator.
        sets, events: post-impact sets and contact events predicted.
        faults: refused or reported inputs by reason (``hybrid_contact_ros.messages.intake.REASONS``).
        last_fault: reason and sentence of the last of them.
        damage: what of the recording could not be read, or ``None``.
        warnings: what a user should know of how it was read: the namespace that was taken, a missing metadata.yaml.
        scores: where a truth was named and overlaps.
    """

    bag: Path
    out: Path | None
    contacts: tuple[str, ...]
    states: int
    messages: int
    duration: float
    wall: float
    setup: float
    compute_p50: float
    compute_p99: float
    sets: int
    events: int
    faults: dict[str, int]
    last_fault: tuple[str, str] | None
    damage: str | None
    warnings: tuple[str, ...]
    scores: Scores | None

    @property
    def speed(self) -> float:
        """Times faster than real time."""
        return self.duration / self.wall if self.wall > 0 else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "bag": str(self.bag),
            "out": None if self.out is None else str(self.out),
            "contacts": list(self.contacts),
            "states": self.states,
            "messages": self.messages,
            "duration": self.duration,
            "wall": self.wall,
            "setup": self.setup,
            "speed": self.speed if self.states else None,
            "compute_p50": self.compute_p50 if self.states else None,
            "compute_p99": self.compute_p99 if self.states else None,
            "sets": self.sets,
            "events": self.events,
            "faults": self.faults,
            "damage": self.damage,
            "warnings": list(self.warnings),
            "scores": None if self.scores is None else self.scores.to_dict(),
        }


def replay_bag(
    bag: str | Path,
    config: EstimatorConfig | str | Path,
    urdf: str | Path | None = None,
    out: str | Path | None = None,
    *,
    joint_states: str = "joint_states",
    odometry: str = "odom",
    robot_description: str = "robot_description",
    namespace: str = "",
    truth: str | Sequence[str] = (),
    twist_in_world: bool = False,
    complete_sets: bool = False,
    force: bool = False,
    on_prediction: Callable[[RobotState, Prediction], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ReplayResult:
    """Run the estimator over a rosbag2 recording.

    Args:
        bag: rosbag2 folder, or a single .mcap or .db3 file.
        config: a configuration, or the parameter file that holds one.
        urdf: text or file; without it the recording's ``robot_description`` is used.
        out: recording to write predictions to: ``NAME.mcap``, ``NAME.db3`` or a folder. ``None`` writes nothing.
        joint_states, odometry, robot_description: topics, relative to the namespace. Odometry is read for a floating
            base only.
        namespace: of the topics, those of ``truth`` too. Without one, and where the topics are not at the top, the only
            namespace that has them is taken, and the result's ``warnings`` say so.
        truth: topics to score against (see :mod:`~hybrid_contact_ros.scoring.scoreboard`).
        twist_in_world: the odometry's twist is in the world's axes, not in the base's.
        complete_sets: do not stop post-impact sets at ``impact.deadline``. The live node does, and so does replay
            unless this is set; which of a set's samples are drawn in time then depends on the machine, and on nothing
            else. Slower, and two replays give the same bits in every message.
        force: replace ``out``.
        on_prediction: called with each state and what was predicted from it.
        progress: called with messages read and their total, about 100 times.

    Raises:
        BagError: the recording, its topics or the output.
        ValueError: the configuration, the URDF, or truth contacts that are not predicted.
    """
    begin = time.perf_counter()
    if not isinstance(config, EstimatorConfig):
        config = EstimatorConfig.from_file(config)
    if complete_sets:
        config = replace(config, impact=replace(config.impact, deadline=0.0))
    truths = [truth] if isinstance(truth, str) else list(truth)
    if out is not None and Path(out).resolve() == Path(bag).resolve():
        raise BagError(f"{out} is the recording itself; give the predictions another name")
    if out is not None:
        check_output(Path(out), force)
    with BagReader(bag) as reader:
        names = Streams(joint_states, odometry, robot_description, namespace)
        streams = names.found_in(reader, config.floating_base)
        model = RigidBodyModel.from_urdf(streams.urdf(reader, urdf), config)
        wanted = streams.needed(reader, model)
        truths = [streams.absolute(topic) for topic in truths]
        for topic in truths:
            kind = reader.topics.get(topic)
            reader.require({topic: kind if kind in TRUTH else TRUTH[0]})
        estimator = ContactEstimator(model, config)
        estimator.warm()
        run = _Run(estimator, Intake(model, config.input, twist_in_world), on_prediction, bool(truths))
        setup = time.perf_counter() - begin
        topics = [*wanted, *truths]
        base = streams.odometry if config.floating_base else None
        feed = _Feed(reader, streams.joint_states, base, topics, progress)
        begin = time.perf_counter()
        if out is None:
            damage = feed.through(run, None)
        else:
            with BagWriter(out, force=force) as writer:
                for topic, kind in OUTPUTS.items():
                    writer.add(topic, kind)
                damage = feed.through(run, writer)
        scores = run.board.scores() if run.board is not None else None
        wall = time.perf_counter() - begin
    compute = run.compute.rows[:, 0] * 1e-9
    return ReplayResult(
        bag=Path(bag),
        out=None if out is None else Path(out),
        contacts=tuple(model.contact_names),
        states=len(compute),
        messages=feed.read,
        duration=(run.last - run.first) * 1e-9 if len(compute) else 0.0,
        wall=wall,
        setup=setup,
        compute_p50=float(np.percentile(compute, 50)) if len(compute) else float("nan"),
        compute_p99=float(np.percentile(compute, 99)) if len(compute) else float("nan"),
        sets=run.sets,
        events=run.events,
        faults=dict(run.intake.faults),
        last_fault=run.intake.last_fault,
        damage=damage or reader.damage or None,
        warnings=(*reader.warnings, *streams.warnings, *_interleaved(run.intake.faults["backward_stamp"], feed.read)),
        scores=scores,
    )


def _interleaved(backward: int, messages: int) -> list[str]:
    """A word on what a recording cannot say itself: how many published on a topic."""
    if backward <= _INTERLEAVED * messages:
        return []
    said = f"{backward} of {messages} messages are older than one before them"
    return [f"{said}: was there more than one publisher on a topic?"]


class _Run:
    """State of one replay: what the live node holds, and counts."""

    def __init__(
        self,
        estimator: ContactEstimator,
        intake: Intake,
        on_prediction: Callable[[RobotState, Prediction], None] | None,
        scored: bool,
    ) -> None:
        model = estimator.model
        self.estimator, self.intake, self.on_prediction = estimator, intake, on_prediction
        self.encoder = Encoder(message_types(), model)
        self.board = None
        if scored:
            self.board = Scoreboard(model.contact_names, model.contact_frames, lambda state: model.problem(state).mass)
        self.compute = Series(1, np.int64)
        self.first = self.last = 0
        self.sets = self.events = 0

    def state(self, state: RobotState, time_ns: int, writer: BagWriter | None) -> None:
        if self.intake.set_back:
            self.estimator.reset()
        begin = time.perf_counter_ns()
        try:
            prediction = self.estimator.update(state)
        except ValueError as error:  # the live node counts it and goes on
            self.intake.refuse(str(error))
            return
        compute_ns = time.perf_counter_ns() - begin
        self.compute.append(compute_ns)
        self.first = self.first or state.stamp_ns
        self.last = state.stamp_ns
        self.sets += prediction.impact is not None
        self.events += len(prediction.events)
        if self.board is not None:
            self.board.predicted(state, prediction.mode, prediction.impact)
        if self.on_prediction is not None:
            self.on_prediction(state, prediction)
        if writer is not None:
            self._write(prediction, compute_ns, time_ns, writer)

    def _write(self, prediction: Prediction, compute_ns: int, time_ns: int, writer: BagWriter) -> None:
        encoder = self.encoder
        encoder.frame_id = self.intake.frame_id or "world"  # where odometry does not name its frame
        age = time_ns - prediction.mode.stamp_ns
        writer.write("/contact_mode", time_ns, encoder.mode(prediction.mode, compute_ns, age))
        writer.write("/constraint_stability", time_ns, encoder.stability(prediction.stability, compute_ns))
        if prediction.impact is not None:
            writer.write("/impact_set", time_ns, encoder.impact(prediction.impact, compute_ns))
        for event in prediction.events:
            writer.write("/contact_events", time_ns, encoder.event(event))


@dataclass(slots=True)
class _Feed:
    """Messages of a recording, handed to a run in the order in which they were recorded."""

    reader: BagReader
    joint_states: str
    odometry: str | None
    topics: list[str]
    progress: Callable[[int, int], None] | None
    read: int = 0

    def through(self, run: _Run, writer: BagWriter | None) -> str | None:
        """Feed all; the text of what ended it early, or ``None``."""
        total = self.reader.count(self.topics)
        every = max(1, total // 100)
        try:
            for topic, time_ns, msg in self.reader.messages(self.topics):
                self.read += 1
                if self.progress is not None and self.read % every == 0:
                    self.progress(self.read, total)
                if topic == self.joint_states:
                    state = run.intake.joint_state(msg, time_ns)
                elif topic == self.odometry:
                    state = run.intake.odometry(msg, time_ns)
                else:
                    assert run.board is not None
                    run.board.truth(msg)
                    continue
                if state is not None:
                    run.state(state, time_ns, writer)
        except BagError as error:
            return str(error)
        if self.progress is not None:
            self.progress(total, total)
        return None
