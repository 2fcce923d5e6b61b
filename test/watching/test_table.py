"""A watched robot and its table, on messages made by hand."""

import json
from types import SimpleNamespace as Message

import numpy as np
import pytest
from rich.console import Console

from helpers import heard
from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.definitions import blank
from hybrid_contact_ros.watching.absent import nothing_heard
from hybrid_contact_ros.watching.diagnosis import of_suite, read
from hybrid_contact_ros.watching.robot import WatchedRobot
from hybrid_contact_ros.watching.table import line, robot, robots

SECOND = 1_000_000_000


def mode(seconds, names=("left", "right"), **fields):
    contact = {
        "frame": "f", "status": 2, "probability": 0.53, "force_valid": False, "normal": heard.along(1.0),
        "force_model": heard.along(float("nan")), "force_estimate": heard.along(42.0), "gap": 0.0012,
        "next_event": 2, "time_to_event": 0.012, "time_to_event_earliest": 0.008,
        "time_to_event_latest": float("inf"), "force_weight": 0.25,
    }  # fmt: skip
    contacts = [blank("ContactState", **contact, **fields, name=name) for name in names]
    return serialize("ContactMode", blank("ContactMode", header=heard.header(seconds), contacts=contacts, mode=3))


def status(name="/dog/contact_suite: contact prediction", level=b"\x01", message="5 % refused: x", **values):
    pairs = [Message(key=key.replace("__", " "), value=value) for key, value in values.items()]
    return Message(name=name, level=level, message=message, values=pairs)


def printed(renderable, width=80):
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def filled(names=("left", "right"), **fields):
    made = WatchedRobot("/dog")
    for k in range(500):
        made.mode(mode(100.0 + 0.002 * k, names, **fields), round((100.0 + 0.002 * k + 0.001) * SECOND))
    return made


def test_rate_and_latency_are_of_the_last_two_seconds_and_silence_is_told():
    made = filled()
    now = round(101.0 * SECOND)
    snapshot = made.snapshot(now)
    assert snapshot["rate"] == pytest.approx(500.0, rel=1e-6)
    assert snapshot["latency_p50"] == pytest.approx(1e-3, abs=1e-8) and not snapshot["other_clock"]
    silent = made.snapshot(now + 5 * SECOND)
    assert silent["silent"] == pytest.approx(5.0, abs=0.01) and silent["rate"] == 0.0
    assert "silent for 5 s" in printed(robot(silent)) and "silent for 5 s" in line(silent)


def test_a_row_has_what_is_calibrated_apart_from_what_is_not():
    text = printed(robot(filled().snapshot(101 * SECOND)))
    row = next(row for row in text.splitlines() if row.startswith("left"))
    assert row.split() == ["left", "sticking", "0.53?", "~42", "N", "0.25", "1.2", "liftoff", "12", "[8,∞]?"]
    calibrated = filled(probability_valid=True, time_bounds_valid=True).snapshot(101 * SECOND)
    assert "?" not in printed(robot(calibrated))


@pytest.mark.parametrize("width", [80, 120])
def test_no_row_is_wider_than_the_terminal_whatever_the_names_are(width):
    names = ("a_contact_of_a_very_long_name_indeed", "b")
    text = printed(robot(filled(names).snapshot(101 * SECOND), width), width)
    assert all(len(row) <= width for row in text.splitlines())
    assert "12 [8,∞]" in text and "a_contact" in text


def test_flags_are_letters_and_stale_flags_are_not_shown():
    made = filled(slip_warning=True, time_to_slip=0.02)
    flags = heard.stability()
    fields = {key: getattr(flags, key) for key in flags._fields if key.startswith("pair_")}
    n = [0.0, 0.0]
    arrays = ("constraint_force", "gap_acceleration", "chatter_end", "chatter_end_earliest", "chatter_end_latest",
              "touchdown_speed", "friction_margin", "pseudo_impulse_margin")  # fmt: skip
    data = serialize("ConstraintStability", blank(
        "ConstraintStability", contacts=["left", "right"], closed=[True, True], constraint_stability=[1, 2],
        bounded_time_stability=[0, 0], zeno=[1, 0], grazing=[0, 1], friction=[0, 2], pseudo_impulse=[0, 0],
        **dict.fromkeys(arrays, n), **{key: np.asarray(value).tolist() for key, value in fields.items()},
    ))  # fmt: skip
    made.stability(data, 101 * SECOND)
    text = printed(robot(made.snapshot(101 * SECOND)))
    left, right = (next(row for row in text.splitlines() if row.startswith(side)) for side in ("left", "right"))
    assert left.split()[-2:] == ["holds", "SZ"] and right.split()[-2:] == ["fails", "SGC"]
    assert "order of impact matters for left–right" in text and "left holds nearly all that it can" in text
    assert "holds" not in printed(robot(made.snapshot(103 * SECOND))).replace("holds nearly", "")


def test_diagnostics_are_taken_apart():
    given = status(
        **{"joint_states__rate__[Hz]": "498.2", "input__fault:__not_finite": "12", "latest__odom__stale": "old",
           "latest__input__fault": "joint_states: hip is nan", "share__answered": "0.9931", "left__out": "the set"},
    )  # fmt: skip
    found = read(given, 7)
    assert of_suite(given) and not of_suite(status(name="battery"))
    assert (found.node, found.namespace, found.level) == ("/dog/contact_suite", "/dog", "WARN")
    assert found.rates == {"joint_states": 498.2} and found.refused == {"not_finite": 12}
    assert found.sentences == {"odom stale": "old"}
    made = filled()
    made.diagnosis(found)
    text = " ".join(printed(robot(made.snapshot(101 * SECOND))).split())
    words = ("WARN /dog/contact_suite", "joint_states 498 Hz", "99.3 % answered", "keep up: the set")
    for said in (*words, "12 refused (not_finite): a value is NaN or infinite; look at", "last: joint_states: hip"):
        assert said in text
    assert "not_finite" in line(made.snapshot(101 * SECOND))


def test_bytes_of_another_version_of_the_messages_are_told_and_no_crash():
    made = WatchedRobot("/dog")
    made.mode(mode(1.0)[:-300], SECOND)
    snapshot = made.snapshot(SECOND)
    assert "cannot be read" in snapshot["fault"] and "another version" in printed(robot(snapshot))


def test_many_robots_get_a_line_each_when_the_terminal_is_low():
    snapshots = [{**filled().snapshot(101 * SECOND), "namespace": f"/dog{k}"} for k in range(9)]
    text = printed(robots(snapshots, 80, 24))
    assert len(text.splitlines()) <= 24 and all(f"/dog{k}" in text for k in range(9))
    assert all(len(row) <= 80 for row in text.splitlines())
    assert "more robots" not in printed(robots(snapshots, 80, 200))


def test_every_snapshot_is_json_and_nothing_heard_is_said_so():
    for made in (WatchedRobot("/"), filled()):
        json.dumps(made.snapshot(101 * SECOND))
    assert "no contact mode heard" in printed(robot(WatchedRobot("/").snapshot(0)))


def test_what_is_there_instead_is_told(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "42")
    assert "domain 42" in nothing_heard({}, [], None) and "no node and no topic" in nothing_heard({}, [], None)
    robot_alone = nothing_heard({"/dog/joint_states": ["x"]}, ["/dog/driver"], None)
    assert "/dog/joint_states" in robot_alone and "start contact_suite" in robot_alone
    assert "ContactMode" in nothing_heard({"/chatter": ["x"]}, ["/talker"], None)
    assert "--namespace" in nothing_heard({}, [], "/cat", ["/dog"])
    monkeypatch.delenv("ROS_DOMAIN_ID")
    assert "not set" in nothing_heard({}, [], None)
