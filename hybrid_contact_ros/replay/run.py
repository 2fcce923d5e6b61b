"""``replay_bag``: the engine over a recording, with the intake, estimator and encoding of the live nodes, as fast as it
goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.bags.writer import BagWriter, check_output
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.contact_balls import odd_balls
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.mechanics.urdf import read_urdf
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.side_inputs import SIDE_TYPES
from hybrid_contact_ros.messages.warming import warm as warm_messages
from hybrid_contact_ros.prediction import Prediction
from hybrid_contact_ros.replay.rerun_export import RerunExport, check_rerun
from hybrid_contact_ros.replay.result import ReplayResult
from hybrid_contact_ros.replay.result_file import check_result, result_of
from hybrid_contact_ros.replay.session import OUTPUTS, SENSITIVITY, Feed, Session
from hybrid_contact_ros.results.file import Result, write
from hybrid_contact_ros.results.recorder import Recorder
from hybrid_contact_ros.results.summary import described
from hybrid_contact_ros.warming import warm

TRUTH = ("hybrid_contact_msgs/msg/ContactMode", "hybrid_contact_msgs/msg/PostImpactVelocitySet")
"""Types of messages that a truth may have."""

_INTERLEAVED = 0.2
"""The share of messages that is older than one before them, from which on two publishers are likely: a network reorders
far fewer."""


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
    sensitivity: bool = False,
    force: bool = False,
    result: str | Path | None = None,
    finish: Callable[[Result], Result] | None = None,
    rerun: str | Path | None = None,
    on_prediction: Callable[[RobotState, Prediction], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    compiling: Callable[[str], None] | None = None,
    reader: BagReader | None = None,
) -> ReplayResult:
    """Run the estimator over a rosbag2 recording.

    Args:
        bag: a rosbag2 folder, or a single .mcap or .db3 file.
        config: a configuration, or the parameter file that holds one.
        urdf: text or file of the robot model; without it the recording's ``robot_description`` is used.
        out: recording to write predictions to: ``NAME.mcap``, ``NAME.db3`` or a folder. ``None`` writes nothing.
        joint_states, odometry, robot_description: topics, relative to the namespace. Odometry is read for a floating
            base only. Of what a robot may have or not (``joint_command``) all that was recorded is read.
        namespace: namespace of the topics, also of those in ``truth``. Where none is given and the root namespace does
            not have the topics, the only namespace that has them is taken, and the result's ``warnings`` say so.
        truth: topics to score against (see :mod:`~hybrid_contact_ros.scoring.scoreboard`).
        twist_in_world: the odometry's twist is in the axes of the world, not in those of the base.
        complete_sets: do not stop the sampling of post-impact sets at ``impact.deadline``. The live node stops it, and
            so does a replay by default: how many samples are drawn in time then depends on the machine. With
            ``complete_sets`` a replay is slower, and two replays give the same bits in every message.
        sensitivity: also compute and write ``event_sensitivity``, as a live node does while somebody listens to it, for
            states that are ``sensitivity.interval`` apart or more.
        rerun: file of the Rerun viewer to write, ``NAME.rrd``; needs rerun-sdk.
        force: replace ``out`` and ``result`` where they exist.
        result: result file to write (see :mod:`~hybrid_contact_ros.results.file`); its suffix is put behind a name that
            does not end in .zip. ``None`` writes none.
        finish: called with the result before it is written, and also where it is not; what it returns is written.
        on_prediction: called with each state and its prediction.
        progress: called about 100 times with the number of messages read, and how many there are.
        compiling: called every few seconds, from another thread, with a sentence on what is left to compile, where the
            cache does not have all kernels.
        reader: the recording, where it is open already; it stays open.

    Returns:
        counts, times, faults and scores. A recording that is cut or damaged is predicted up to the damage.

    Raises:
        BagError: the recording or its topics cannot be used, or the output cannot be written.
        ValueError: the configuration or the URDF cannot be used, or the truth names no predicted contact.

    Example:
        >>> result = replay_bag("drop.mcap", "config/go2.yaml", out="predictions.mcap")    # doctest: +SKIP
        >>> print(f"{result.states} states, {result.speed:.1f} times real time")           # doctest: +SKIP
    """
    begin = time.perf_counter()
    if not isinstance(config, EstimatorConfig):
        config = EstimatorConfig.from_file(config)
    if complete_sets:
        config = replace(config, impact=replace(config.impact, deadline=0.0))
    _check_place(bag, out, force)
    target = check_result(result, force)
    picture = None if rerun is None else check_rerun(rerun, force)
    with nullcontext(reader) if reader is not None else BagReader(bag) as reader:
        from_odometry = config.floating_base and config.input.base == "odometry"
        streams = Streams(joint_states, odometry, robot_description, namespace).found_in(reader, from_odometry)
        source = streams.urdf(reader, urdf)
        model = RigidBodyModel.from_urdf(source, config)
        topics = streams.needed(reader, model, legs=not from_odometry)
        truths = _truths(reader, streams, truth)
        estimator = ContactEstimator(model, config)
        parts = Parts.ALL | Parts.SENSITIVITY if sensitivity else Parts.ALL
        warm(estimator, read_urdf(source).text, parts, freeze=False, tell=compiling, messages=warm_messages)
        intake = Intake(model, config.input, twist_in_world)
        lag = 1.0 / config.observer.gain if config.observer.gain > 0.0 else float("nan")
        recorded = target is not None or finish is not None
        recorder = Recorder(model.contacts, model.nv, model.floating_base, lag) if recorded else None
        identity = reader.identity
        export = None if picture is None else RerunExport(picture, model, Path(bag).name)
        on_prediction = on_prediction if export is None else export.beside(on_prediction)
        session = Session(estimator, intake, on_prediction, bool(truths), sensitivity, recorder)
        setup = time.perf_counter() - begin
        base = streams.odometry if from_odometry else None
        beside = streams.beside(reader, {topic: SIDE_TYPES[side.kind] for topic, side in intake.side.items()})
        feed = Feed(reader, streams.joint_states, base, [*topics, *beside, *truths], progress, beside)
        begin = time.perf_counter()
        with ExitStack() as stack:
            if export is not None:
                stack.enter_context(export)
            damage = _played(feed, session, out, force, OUTPUTS | SENSITIVITY if sensitivity else OUTPUTS)
        scores = session.board.scores() if session.board is not None else None
        wall = time.perf_counter() - begin
    replayed = ReplayResult(
        bag=Path(bag),
        out=None if out is None else Path(out),
        messages=feed.read,
        wall=wall,
        setup=setup,
        damage=damage or reader.damage or None,
        warnings=(
            *reader.warnings,
            *streams.warnings,
            *odd_balls(source, config),
            *_interleaved(session.intake, feed.read),
            *feed.warnings,
            *session.warnings,
        ),
        scores=scores,
        **session.counts(),
    )
    if session.recorder is not None:
        made = result_of(replayed, session, described(model, config, source) | {"recording": identity}, truths)
        made = made if finish is None else finish(made)
        if target is not None:
            write(target, made)
    return replayed


def _check_place(bag: str | Path, out: str | Path | None, force: bool) -> None:
    """Check that the predictions can be written, where they are wanted, before any work is done for them.

    Raises:
        BagError: they cannot.
    """
    if out is None:
        return
    if Path(out).resolve() == Path(bag).resolve():
        raise BagError(f"{out} is the recording itself; give the predictions another name")
    check_output(Path(out), force)


def _truths(reader: BagReader, streams: Streams, truth: str | Sequence[str]) -> list[str]:
    """The whole names of the topics of the truth.

    Raises:
        BagError: one is not there, is empty, or holds messages of another type.
    """
    topics = [streams.absolute(topic) for topic in ([truth] if isinstance(truth, str) else truth)]
    for topic in topics:
        kind = reader.topics.get(topic)
        reader.require({topic: kind if kind in TRUTH else TRUTH[0]})
    return topics


def _played(feed: Feed, session: Session, out: str | Path | None, force: bool, outputs: dict[str, str]) -> str | None:
    """Feed the whole recording to the session, and write its predictions where ``out`` is given. The text says what
    ended the feeding early."""
    if out is None:
        return feed.through(session, None)
    with BagWriter(out, force=force) as writer:
        for topic, kind in outputs.items():
            writer.add(topic, kind)
        return feed.through(session, writer)


def _interleaved(intake: Intake, messages: int) -> list[str]:
    """A warning where there was probably more than one publisher on a topic, which a recording does not say itself."""
    backward = intake.faults["backward_stamp"]
    if backward <= _INTERLEAVED * messages:
        return []
    said = f"{backward} of {messages} messages are older than one before them"
    return [f"{said}: was there more than one publisher on a topic?"]
