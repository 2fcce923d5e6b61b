"""``score_bag``: a recording against a truth in it, of our engine or of another estimator's topic in the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hybrid_contact_ros import __version__
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.bags.typestore import add_definitions
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.replay.result_file import check_result
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.results.file import Result, write
from hybrid_contact_ros.results.scored import result_of_track, with_truth
from hybrid_contact_ros.scoring.track import Truth
from hybrid_contact_ros.truths.asked import Asked
from hybrid_contact_ros.truths.levels import Levels
from hybrid_contact_ros.truths.read import read_estimate, read_truth

IMPACTS = "hybrid_contact_msgs/msg/PostImpactVelocitySet"


def score_bag(
    bag: str | Path,
    config: EstimatorConfig | str | Path | None = None,
    urdf: str | Path | None = None,
    result: str | Path | None = None,
    *,
    truth: Sequence[str] = (),
    estimate: str | None = None,
    threshold: Levels | None = None,
    definitions: str | Path | None = None,
    joint_states: str = "joint_states",
    odometry: str = "odom",
    robot_description: str = "robot_description",
    namespace: str = "",
    twist_in_world: bool = False,
    complete_sets: bool = False,
    force: bool = False,
    rerun: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    compiling: Callable[[str], None] | None = None,
) -> Result:
    """Score a recording.

    Args:
        bag, urdf, joint_states, odometry, robot_description, namespace, twist_in_world, complete_sets, progress,
            compiling: as of :func:`~hybrid_contact_ros.replay.run.replay_bag`.
        config: the engine's configuration; not needed with ``estimate``.
        result: result file to write; None writes none.
        truth: what to score against, each ``[NAMES=]TOPIC`` (:class:`~hybrid_contact_ros.truths.asked.Asked`). Without
            any there are no scores, only the self-consistency.
        estimate: the topic, also ``[NAMES=]TOPIC``, of another estimator, which is scored instead of the engine.
        threshold: loads between which a contact closes and opens; without it they are found in each series of loads.
        definitions: folder of message packages that a recording does not bring itself.
        force: replace the result and the file of the Rerun viewer.
        rerun: file of the Rerun viewer to write, as of ``replay_bag``; not with ``estimate``, of which it would show
            nothing.

    Returns:
        the result, with scores of the truth where it overlaps, and the self-consistency.

    Raises:
        BagError: the recording, a topic or the place of the result cannot be used.
        ValueError: the configuration or the URDF cannot be used, or neither that nor an estimate was given.
    """
    asked = [Asked.parsed(text) for text in truth]
    if definitions is not None:
        add_definitions(definitions)
    target = check_result(result, force)
    if estimate is not None:
        if rerun is not None:
            raise ValueError("a file for Rerun (--rrd) shows what the engine says: it cannot be made with --estimate")
        return _of_estimate(bag, Asked.parsed(estimate), asked, namespace, threshold, target)
    if config is None:
        raise ValueError("a configuration is needed (--config), or the topic of another estimator (--estimate)")
    if not isinstance(config, EstimatorConfig):
        config = EstimatorConfig.from_file(config)
    with BagReader(bag) as reader:
        from_odometry = config.floating_base and config.input.base == "odometry"
        streams = Streams(joint_states, odometry, robot_description, namespace).found_in(reader, from_odometry)
        model = RigidBodyModel.from_urdf(streams.urdf(reader, urdf), config)
        streams.needed(reader, model, legs=not from_odometry)  # what is wrong with the inputs is said before the truth
        impacts = [streams.absolute(each.topic) for each in asked if _is_impacts(reader, streams, each)]
        contacts = [each for each in asked if not _is_impacts(reader, streams, each)]
        found, said = _truth(reader, streams, contacts, (model.contact_names, model.contact_frames), threshold)
        kept: list[Result] = []

        def finish(made: Result) -> Result:
            made.summary["warnings"] = [*made.summary["warnings"], *said]
            made.summary["truth"] = list(truth)
            kept.append(with_truth(made, found))
            return kept[-1]

        replay_bag(
            bag, config, urdf, None,
            joint_states=joint_states, odometry=odometry, robot_description=robot_description, namespace=namespace,
            truth=impacts, twist_in_world=twist_in_world, complete_sets=complete_sets, force=force, result=target,
            finish=finish, rerun=rerun, progress=progress, compiling=compiling, reader=reader,
        )  # fmt: skip
    return kept[0]


def _of_estimate(
    bag: str | Path, estimate: Asked, asked: list[Asked], namespace: str, threshold: Levels | None, target: Path | None
) -> Result:
    """The result of another estimator's topic."""
    with BagReader(bag) as reader:
        if not reader.count(list(reader.topics)):
            raise BagError(f"{reader.path} is empty: nothing was recorded")
        streams = Streams(namespace=namespace)
        track, warnings = read_estimate(reader, _whole(streams, estimate), threshold)
        found, said = _truth(reader, streams, asked, (track.names, track.frames), threshold)
        about: dict[str, Any] = {
            "package_version": __version__,
            "bag": str(bag),
            "recording": reader.identity,
            "estimate": estimate.topic,
            "truth": [each.topic for each in asked],
            "warnings": [*reader.warnings, *warnings, *said],
            "damage": reader.damage or None,
        }
    made = with_truth(result_of_track(track, about), found)
    if target is not None:
        write(target, made)
    return made


def _truth(
    reader: BagReader,
    streams: Streams,
    asked: list[Asked],
    contacts: tuple[Sequence[str], Sequence[str]],
    threshold: Levels | None,
) -> tuple[Truth | None, list[str]]:
    if not asked:
        return None, []
    return read_truth(reader, [_whole(streams, each) for each in asked], *contacts, threshold)


def _whole(streams: Streams, asked: Asked) -> Asked:
    return Asked(streams.absolute(asked.topic), asked.names)


def _is_impacts(reader: BagReader, streams: Streams, asked: Asked) -> bool:
    return reader.topics.get(streams.absolute(asked.topic)) == IMPACTS
