"""The engine over recordings: the same bits as when it is called directly, and clear words where it cannot."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from helpers.bodies import NO_TERMS
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.typestore import message_types
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.commands.report import show
from hybrid_contact_ros.config import EstimatorConfig, LandingConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.joints import BaseMeasurement
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.refusals import REASONS
from hybrid_contact_ros.recordings.readers import read
from hybrid_contact_ros.recordings.recording import START_NS
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.replay.session import OUTPUTS, SENSITIVITY

TRUTHS = ("/truth/contact_mode", "/truth/impact")


@pytest.fixture
def bag(fall, tmp_path):
    path = tmp_path / "fall.mcap"
    write_recording(fall, path)
    return path


def read_all(path) -> dict[str, list]:
    with BagReader(path) as reader:
        assert reader.topics == OUTPUTS
        found: dict[str, list] = {topic: [] for topic in OUTPUTS}
        for topic, _, msg in reader.messages(list(OUTPUTS)):
            found[topic].append(msg)
    return found


def without_times(msg):
    """What must not depend on the machine."""
    zero = message_types().Duration(sec=0, nanosec=0)
    return replace(msg, **{name: zero for name in ("compute_time", "input_age") if hasattr(msg, name)})


def directly(recording, config) -> dict[str, list]:
    """The messages that ContactEstimator gives for the recording's states, made here without any recording."""
    config = replace(config, impact=replace(config.impact, deadline=0.0))
    model = RigidBodyModel.from_urdf(recording.urdf, config)
    estimator, encoder = ContactEstimator(model, config), Encoder(message_types(), model)
    joints = model.joint_map(recording.joints)
    found: dict[str, list] = {topic: [] for topic in OUTPUTS}
    r = recording
    for k, t in enumerate(r.time.tolist()):
        base = BaseMeasurement(r.position[k], r.quaternion[k], r.linear[k], r.angular[k])
        state = joints.state(START_NS + round(t * 1e9), r.q[k], r.dq[k], r.effort[k], base)
        prediction = estimator.update(state)
        found["/contact_mode"].append(encoder.mode(prediction.mode))
        found["/constraint_stability"].append(encoder.stability(prediction.stability))
        if prediction.impact is not None:
            sets = (*prediction.impact.after_each, prediction.impact)
            found["/impact_set"] += [encoder.impact(one) for one in sets]
        found["/contact_events"] += [encoder.event(event) for event in prediction.events]
    return found


def assert_same_bits(one: dict[str, list], other: dict[str, list]) -> None:
    from hybrid_contact_ros.bags.typestore import typestore

    for topic, kind in OUTPUTS.items():
        assert len(one[topic]) == len(other[topic]) > 0
        for a, b in zip(one[topic], other[topic], strict=True):
            # Serialised, because NaN does not equal itself and repr rounds arrays.
            first, second = (typestore().serialize_cdr(without_times(msg), kind) for msg in (a, b))
            assert bytes(first) == bytes(second)


@pytest.mark.parametrize("name", ["fall.mcap", "fall.db3", "fall"])
def test_predictions_of_a_recording_are_those_of_the_estimator_to_the_bit(fall, walker, tmp_path, name):
    write_recording(fall, tmp_path / name)
    result = replay_bag(tmp_path / name, walker, out=tmp_path / "out.mcap", complete_sets=True)
    assert result.states == fall.time.size and result.faults == {} and result.damage is None
    assert_same_bits(read_all(tmp_path / "out.mcap"), directly(fall, walker))


def raw(path):
    """The bytes of every topic, without what depends on the machine."""
    with BagReader(path) as reader:
        found: dict[str, list] = {topic: [] for topic in reader.topics}
        for topic, _, msg in reader.messages([topic for topic in found if reader.count([topic])]):
            found[topic].append(repr(without_times(msg)))
    return found


def test_sensitivities_are_written_where_they_are_asked_for_and_nothing_else_changes(bag, walker, tmp_path):
    config = replace(walker, sensitivity=replace(walker.sensitivity, interval=0.005))
    replay_bag(bag, walker, out=tmp_path / "plain.mcap", complete_sets=True)
    replay_bag(bag, config, out=tmp_path / "more.mcap", complete_sets=True, sensitivity=True)
    plain, more = raw(tmp_path / "plain.mcap"), raw(tmp_path / "more.mcap")
    maps = more.pop("/event_sensitivity")
    assert plain == more and set(plain) == set(OUTPUTS) and maps
    with BagReader(tmp_path / "more.mcap") as reader:
        messages = [msg for _, _, msg in reader.messages(list(SENSITIVITY))]
    stamps = sorted({msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec for msg in messages})
    assert len(stamps) > 3 and np.diff(stamps).min() >= 5_000_000
    both = [msg for msg in messages if len(msg.contacts) == 2]  # it lands flat
    assert both and all(len(msg.words) > 1 and not msg.probability_valid for msg in both)


def test_two_replays_give_the_same_bits(bag, walker, tmp_path):
    replay_bag(bag, walker, out=tmp_path / "one", complete_sets=True)
    replay_bag(bag, walker, out=tmp_path / "two.db3", complete_sets=True)
    assert_same_bits(read_all(tmp_path / "one"), read_all(tmp_path / "two.db3"))


def test_a_flat_fall_is_scored_as_the_landing_that_it_is(bag, walker):
    seen = []
    walker = replace(walker, landing=LandingConfig(**NO_TERMS["landing"]))  # that is how this walker was made to land
    result = replay_bag(bag, walker, truth=TRUTHS, on_prediction=lambda state, p: seen.append(state.stamp_ns))
    scores = result.scores
    assert scores.contacts == ("left", "right") and scores.states == len(seen) == 200
    assert scores.overall.f1 > 0.98
    for timing in scores.touchdown:
        assert (timing.events, timing.missed, timing.false) == (2, 0, 0) and timing.p95 < 2e-3
    assert len(scores.sets) == scores.impacts == 1
    # Point feet that land without a bounce: that is the model, so its outcome must be this one.
    assert scores.sets[0].distance < 0.05
    again = json.loads(json.dumps(result.to_dict()))
    assert again["scores"]["f1"] == scores.overall.f1 and again["scores"]["impacts"]["contained_5"] == 1


def test_progress_reaches_the_end(bag, walker):
    calls = []
    replay_bag(bag, walker, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (400, 400) and 90 <= len(calls) <= 120


def test_a_urdf_that_is_given_goes_before_the_recorded_one(fall, without_model, walker, tmp_path):
    write_recording(without_model, tmp_path / "bare.mcap")
    with pytest.raises(BagError, match=r"no /robot_description.*--urdf"):
        replay_bag(tmp_path / "bare.mcap", walker)
    (tmp_path / "walker.urdf").write_text(fall.urdf)
    for urdf in (fall.urdf, tmp_path / "walker.urdf", str(tmp_path / "walker.urdf")):
        assert replay_bag(tmp_path / "bare.mcap", walker, urdf).states == 200


def test_a_configuration_may_be_a_file(bag, tmp_path):
    (tmp_path / "walker.yaml").write_text("contacts: {left: {link: left_foot}}")
    assert replay_bag(bag, tmp_path / "walker.yaml").contacts == ("left",)


def test_topics_that_are_not_there_are_named_with_those_that_are(bag, walker):
    with pytest.raises(BagError, match=r"no topic /joints .*\n  /joint_states  sensor_msgs/msg/JointState"):
        replay_bag(bag, walker, joint_states="/joints")
    with pytest.raises(BagError, match="is a sensor_msgs/msg/JointState, a nav_msgs/msg/Odometry is needed"):
        replay_bag(bag, walker, odometry="/joint_states")
    with pytest.raises(BagError, match="no topic /truth/nothing"):
        replay_bag(bag, walker, truth="/truth/nothing")
    with pytest.raises(
        BagError, match=r"/odom in .* is a nav_msgs/msg/Odometry, a hybrid_contact_msgs/msg/ContactMode"
    ):
        replay_bag(bag, walker, truth="/odom")


def test_one_topic_given_for_both_streams_is_an_error(bag, walker):
    with pytest.raises(BagError, match=r"/odom in .* is a nav_msgs/msg/Odometry, a sensor_msgs/msg/JointState"):
        replay_bag(bag, walker, joint_states="/odom")


def test_truth_of_other_contacts_is_an_error_and_leaves_no_output(fall, walker, tmp_path):
    write_recording(replace(fall, contacts=("paw", "claw"), frames=("", "")), tmp_path / "b.mcap")
    with pytest.raises(ValueError, match="the truth names contacts paw, claw; predicted are left, right"):
        replay_bag(tmp_path / "b.mcap", walker, out=tmp_path / "out.mcap", truth=TRUTHS[0])
    assert not (tmp_path / "out.mcap").exists()


def test_the_truth_of_a_whole_foot_is_that_of_any_of_its_points(fall, tmp_path):
    points = [0.0, 0.0, 0.0, 0.05, 0.0, 0.0]
    config = EstimatorConfig.from_mapping(
        {"contacts": {"toe": {"link": "left_foot", "points": points}, "right": {"link": "right_foot"}}}
    )
    write_recording(replace(fall, impacts=()), tmp_path / "b.mcap")  # its contacts are left (by frame) and right
    result = replay_bag(tmp_path / "b.mcap", config, truth=TRUTHS[0])
    assert result.contacts == ("toe_0", "toe_1", "right") and result.scores.contacts == ("left", "right")
    assert result.scores.overall.f1 > 0.98


def test_a_damaged_recording_is_predicted_up_to_the_damage(fall, walker, tmp_path):
    path = tmp_path / "b.db3"
    write_recording(fall, path)
    data = bytearray(path.read_bytes())
    middle = slice(len(data) // 2, len(data) // 2 + 8192)
    data[middle] = bytes(8192)
    path.write_bytes(data)
    try:
        result = replay_bag(path, walker, out=tmp_path / "out.mcap")
    except BagError:  # sqlite may notice when it opens the file, before there is anything to predict from
        assert not (tmp_path / "out.mcap").exists()
        return
    assert result.states < 200 and (result.damage is not None or result.faults)
    assert len(read_all(tmp_path / "out.mcap")["/contact_mode"]) == result.states


def test_a_truth_that_cannot_be_read_is_told_and_the_rest_is_scored(fall, walker, tmp_path):
    write_recording(fall, tmp_path / "whole.mcap")
    with BagReader(tmp_path / "whole.mcap") as reader, BagWriter(tmp_path / "spoilt.mcap") as spoilt:
        for topic, kind in reader.topics.items():
            spoilt.add(topic, kind)
        for k, (topic, time_ns, data) in enumerate(reader.messages(list(reader.topics), raw=reader.topics)):
            if topic == TRUTHS[0] and k % 40 < 8:
                spoilt.write(topic, time_ns, data[:30])
            # What serialize_message leaves behind three empty sequences: room, in which there is anything.
            spoilt.write(topic, time_ns, data + bytes([0xA5]) * (16 if topic == TRUTHS[1] else 0))
    whole = replay_bag(tmp_path / "whole.mcap", walker, truth=TRUTHS, complete_sets=True)
    result = replay_bag(tmp_path / "spoilt.mcap", walker, truth=TRUTHS, complete_sets=True)
    assert result.damage is None and result.faults == {} and result.scores.to_dict() == whole.scores.to_dict()
    (warning,) = [said for said in result.warnings if "could not be read" in said]
    assert re.match(r"\d\d messages of /truth/contact_mode could not be read: ", warning)


def test_the_table_of_refusals_fits_a_terminal_even_into_a_pipe(bag, walker):
    result = replay_bag(bag, walker)
    for reason, sentence in REASONS.items():
        shown = replace(result, faults=dict.fromkeys(REASONS, 123456), last_fault=(reason, f"{sentence} (9.5); " * 3))
        with (console := Console(width=1000)).capture() as capture:
            show(shown, console)
        said = capture.get().splitlines()
        table = said[next(k for k, line in enumerate(said) if "refused or reported" in line) :]
        assert max(map(len, table)) <= 120 and len(table) > len(REASONS)


def test_the_recording_itself_is_never_the_output(bag, walker):
    before = bag.read_bytes()
    with pytest.raises(BagError, match="the recording itself"):
        replay_bag(bag, walker, out=bag, force=True)
    assert bag.read_bytes() == before


def test_bad_inputs_in_a_recording_are_counted_not_fatal(fall, walker, tmp_path):
    q = fall.q.copy()
    q[50:53, 0] = np.nan
    quaternion = fall.quaternion.copy()
    quaternion[100] = 0.0
    write_recording(replace(fall, q=q, quaternion=quaternion), tmp_path / "b.mcap")
    result = replay_bag(tmp_path / "b.mcap", walker)
    assert result.faults["not_finite"] == 3 and result.faults["quaternion_norm"] == 1
    assert result.states == 197  # the joint state without its odometry was answered with the next one


def test_states_that_cannot_be_computed_with_are_counted_and_passed_over_as_the_live_node_does(fall, walker, tmp_path):
    angular = fall.angular.copy()
    angular[[5, 40]] = 1e200
    write_recording(replace(fall, angular=angular), tmp_path / "bad.mcap")
    result = replay_bag(tmp_path / "bad.mcap", replace(walker, input=replace(walker.input, limit_factor=0.0)))
    assert result.states == fall.time.size - 2
    assert result.faults == {"state": 2}
    assert result.last_fault is not None and "too large" in result.last_fault[1]


def test_go2_episodes_are_replayed_through_their_recording(shared_file, tmp_path):
    from hybrid_contact_ros.mechanics.example_data import example_urdf

    try:
        urdf = example_urdf("go2_description/urdf/go2.urdf").read_text()
    except FileNotFoundError:
        pytest.skip("the package example-robot-data is not installed")
    recording = replace(read("go2", shared_file("go2_mujoco", "drop_10.npz")), urdf=urdf)
    write_recording(recording, tmp_path / "drop.mcap")
    root = Path(__file__).resolve().parents[2]
    config = EstimatorConfig.from_file(root / "config" / "go2.yaml")
    result = replay_bag(tmp_path / "drop.mcap", config, out=tmp_path / "out.mcap", truth=TRUTHS, complete_sets=True)
    assert_same_bits(read_all(tmp_path / "out.mcap"), directly(recording, config))
    assert result.scores.overall.f1 > 0.9 and result.scores.touchdown[0].p95 < 0.005


def test_cube_tosses_are_replayed_from_odometry_alone(shared_file, tmp_path):
    recording = read("cube", shared_file("cube_tosses", "trajectories.npz"), 4)
    write_recording(recording, tmp_path / "toss.mcap")
    root = Path(__file__).resolve().parents[2]
    result = replay_bag(tmp_path / "toss.mcap", root / "config" / "cube.yaml", truth="/truth/impact")
    assert result.states == recording.time.size and result.faults == {}
    assert len(result.contacts) == 8 and result.sets > 0


def test_scoring_opens_a_recording_once(fall, walker, tmp_path, monkeypatch):
    """One that is compressed as a whole is decompressed whenever it is opened."""
    from hybrid_contact_ros.replay.score import score_bag

    write_recording(fall, tmp_path / "fall.mcap")
    opened = []

    def counted(self, path, begin=BagReader.__init__):
        opened.append(path)
        begin(self, path)

    monkeypatch.setattr(BagReader, "__init__", counted)
    result = score_bag(tmp_path / "fall.mcap", walker, truth=["/truth/contact_mode"])
    assert result.summary["scores"] is not None and len(opened) == 1
