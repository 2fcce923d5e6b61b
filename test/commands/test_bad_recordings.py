"""Recordings that cannot be analysed: every command says what is wrong with them in one line, and ends with a code.

Each fault is made of the same good recording, in the messages; each command is given it as a user would.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.recordings import WALKER
from helpers.truth_bags import of
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.cli import main
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.recordings.of_model import model_recording
from hybrid_contact_ros.recordings.write import write_recording

CONFIG = "contacts:\n  left: {link: left_foot}\n  right: {link: right_foot}\n"
JOINTS, ODOM, TRUTH = "/joint_states", "/odom", "/truth/contact_mode"
BOOL = "std_msgs/msg/Bool"
LATER = 1_700_000_000  # s, by which the clock of a computer is ahead of that of a simulator

Change = Callable[[str, int, Any], Any]
"""Topic, number of the message of that topic, message → the message, or None to leave it out."""


def changed(source: Path, target: Path, change: Change, kinds: dict[str, str] | None = None) -> Path:
    """A copy of a recording with other messages, and topics of other types."""
    numbers: dict[str, int] = {}
    with BagReader(source) as reader, BagWriter(target) as writer:
        topics = reader.topics | (kinds or {})
        for topic, kind in topics.items():
            writer.add(topic, kind)
        for topic, time_ns, message in reader.messages(list(reader.topics)):
            numbers[topic] = numbers.get(topic, -1) + 1
            new = change(topic, numbers[topic], message)
            if new is not None:
                writer.write(topic, time_ns, new)
    return target


def without(*topics: str) -> Change:
    return lambda topic, k, message: None if topic in topics else message


def stamped(when: Callable[[str, int], bool], by: int | None) -> Change:
    """Messages whose stamps are ``by`` (s) later, or zero where it is None."""

    def change(topic, k, message):
        if topic in (JOINTS, ODOM) and when(topic, k):
            message.header.stamp.sec = 0 if by is None else message.header.stamp.sec + by
            message.header.stamp.nanosec *= by is not None
        return message

    return change


def of_another_type(topic, k, message):
    return of(BOOL, data=True) if topic == JOINTS else message


def other_joints(topic, k, message):
    if topic == JOINTS:
        message.name = [f"arm_{i}" for i in range(len(message.name))]
    return message


def not_a_number(topic, k, message):
    if topic == JOINTS:
        message.position = np.full(len(message.name), np.nan)
    return message


FAULTS: dict[str, tuple[Change, dict[str, str], bool, str]] = {
    # change, types that it makes others, whether the recording can be read, what is said
    "no joint states": (without(JOINTS), {}, False, "/joint_states in bad.mcap is empty: nothing was recorded on it"),
    "no odometry": (without(ODOM), {}, False, "/odom in bad.mcap is empty"),
    "no description": (without("/robot_description"), {}, False, "/robot_description in bad.mcap is empty"),
    "joint states of another type": (
        of_another_type, {JOINTS: BOOL}, False,
        "/joint_states in bad.mcap is a std_msgs/msg/Bool, a sensor_msgs/msg/JointState is needed",
    ),
    "nothing in it": (lambda topic, k, message: None, {}, False, "bad.mcap is empty: nothing was recorded"),
    "no stamps": (stamped(lambda topic, k: True, None), {}, True, "fill header.stamp with the time of the measurement"),
    "two clocks": (stamped(lambda topic, k: topic == JOINTS, LATER), {}, True, "look at both clocks"),
    "joints of another robot": (other_joints, {}, True, "2 of 2 joints are missing: left_knee, right_knee"),
    "not a number": (not_a_number, {}, True, "position of joint 'left_knee' is nan"),
}  # fmt: skip
VERBS = {
    "replay": ("--no-out",),
    "score": ("--truth", TRUTH, "--no-result"),
    "identify": ("--noise",),
    "identify a file": ("--truth", TRUTH, "--out", "new.yaml"),
}


@pytest.fixture
def said(fall, tmp_path, monkeypatch, capsys):
    """Calls a command with the recording bad.mcap, in a folder with a good one; returns its code and its words."""
    monkeypatch.chdir(tmp_path)
    write_recording(fall, Path("good.mcap"))
    Path("robot.yaml").write_text(CONFIG)

    def say(verb: str, bag: str = "bad.mcap") -> tuple[int, str, str]:
        code = main([verb.partition(" ")[0], bag, "--config", "robot.yaml", *VERBS[verb]])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, " ".join(re.sub("[│┃]", " ", out).split()), err  # sentences in tables are wrapped

    return say


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_a_recording_is_told_and_the_code_is_not_0(said, fault, verb):
    """2 where nothing can be read; 1 where messages were read and gave no state, of which ``identify`` can make nothing
    either way."""
    change, kinds, readable, words = FAULTS[fault]
    changed(Path("good.mcap"), Path("bad.mcap"), change, kinds)
    code, out, err = said(verb)
    counted = readable and not verb.startswith("identify")
    assert code == (1 if counted else 2)
    assert words in (out if counted else err)
    assert counted or err.count("\n") == 1  # one line
    assert not Path("new.yaml").exists()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "0 bytes that do not begin as MCAP does"), (b"hello", "damaged, truncated or not a recording")],
)
def test_files_that_are_no_recordings_are_told(said, verb, content, words):
    Path("bad.mcap").write_bytes(content)
    code, _, err = said(verb)
    assert code == 2 and words in err and err.count("\n") == 1
    Path("bad.mcap").unlink()
    assert said(verb)[::2] == (2, f"hybrid-contact {verb.partition(' ')[0]}: no such recording: bad.mcap\n")


@pytest.mark.parametrize("verb", ["replay", "score"])
@pytest.mark.parametrize(
    ("wrong", "code", "states"),
    [
        (lambda topic, k: k % 50 == 1, 0, 190),
        (lambda topic, k: k % 2 == 1, 3, 99),
        (lambda topic, k: k % 2 == 0, 3, 96),  # the first one, too: the clock of the recording decides
        (lambda topic, k: k % 2 == (topic == ODOM), 3, 96),
        (lambda topic, k: topic == JOINTS and k % 2 == 0, 3, 96),
        (lambda topic, k: topic == ODOM and k % 2 == 0, 3, 96),
    ],
)
@pytest.mark.parametrize("days", [11, 11000])
def test_stamps_of_two_clocks_on_one_topic_end_with_3_where_they_are_many(said, verb, wrong, code, states, days):
    """The states of the clock that agrees with the recording's are answered, those of the other are refused, and that
    is told."""
    changed(Path("good.mcap"), Path("bad.mcap"), stamped(wrong, days * 86400))
    found, out, err = said(verb)
    assert found == code and "look for a second publisher with another clock" in out
    assert ("messages were refused, most of them as stamp_jump" in err) == (code == 3)
    assert int(re.search(r"(\d+) states", out)[1]) >= states


@pytest.mark.parametrize("verb", ["replay", "score"])
@pytest.mark.parametrize("option", [("--result", "away/x"), ("--report", "away/x.html"), ("--rrd", "away/x.rrd")])
def test_a_folder_that_is_not_there_is_told_before_anything_is_computed(said, verb, option, monkeypatch):
    options = tuple(each for each in VERBS[verb] if each != "--no-result")
    monkeypatch.setitem(VERBS, verb, (*options, *option))
    code, out, err = said(verb, "good.mcap")
    if option[0] == "--rrd" and "rerun" in err:
        pytest.skip("rerun-sdk is not there")
    assert code == 2 and "away" in err and out == ""


def squats(path: Path) -> Path:
    """The walker goes up and down for three seconds, with the efforts that it takes."""
    model = RigidBodyModel.from_urdf(WALKER, EstimatorConfig.from_file("robot.yaml"))
    times = np.arange(0.0, 3.0, 0.002)
    states, efforts = [], np.zeros((times.size, 2))
    for k, t in enumerate(times):
        q, v = model.neutral(), np.zeros(model.nv)
        knees, rate = 0.05 * np.sin(9.0 * t), 0.45 * np.cos(9.0 * t)
        q[2], q[7:], v[2], v[6:] = 0.5 - knees, knees, -rate, rate
        states.append((q, v))
        efforts[k] = -0.5 * 5.0 * (9.81 + 4.05 * np.sin(9.0 * t))
    write_recording(model_recording(model, WALKER, times, states, efforts), path)
    return path


def negated(topic, k, message):
    if topic == JOINTS:
        message.effort = -np.array(message.effort)
    return message


def not_moving(topic, k, message):
    if topic == JOINTS:
        message.velocity = 0.0 * np.array(message.velocity)
    return message


@pytest.mark.parametrize("verb", ["replay", "score"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda topic, k, message: message, ()),
        (negated, ("warning: forces count little in", "left_foot and right_foot do not explain", "the other sign")),
        (
            not_moving,
            ("velocity", "left_knee, right_knee: 0 while the positions move; is it filled?", "leave velocity"),
        ),
    ],
)
def test_efforts_of_the_wrong_sign_and_velocities_that_are_not_filled_are_told(said, verb, change, words):
    changed(squats(Path("squats.mcap")), Path("bad.mcap"), change)
    code, out, _ = said(verb)
    assert code == 0 and all(each in out for each in words)
    assert words or ("warning" not in out and "refused or reported" not in out)
