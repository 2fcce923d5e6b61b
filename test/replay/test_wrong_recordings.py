"""Recordings that are not of the robot, or in other units, are replayed, scored and identified with a warning."""

from dataclasses import replace

import pytest

from helpers.quadruped import CONFIG, URDF, Gait, renamed, walk
from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.identification.reading import read_states
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.replay.score import score_bag

TRUTH = "/truth/contact_mode"
RIGHT = walk(Gait(hz=200.0))
STANDS = walk(Gait(hz=200.0, speed=0.0, sway=0.0, duty=1.0))
BALL = '<collision><origin xyz="0 0 0.01"/><geometry><sphere radius="0.02"/></geometry></collision>'


def scaled(r, factor):
    return replace(r, position=factor * r.position, linear=factor * r.linear)


@pytest.fixture
def warned(tmp_path):
    """What a replay, a score and an identification warn of."""

    def warnings(recording, config=CONFIG, urdf=URDF):
        bag = tmp_path / "robot.mcap"
        write_recording(recording, bag, urdf, force=True)
        replayed = replay_bag(bag, config).warnings
        scored = score_bag(bag, config, truth=[TRUTH]).summary["warnings"]
        read = read_states(bag, config, None, Streams(), False).warnings
        return [list(replayed), list(scored), list(read)]

    return warnings


def test_a_right_recording_is_replayed_without_a_warning(warned):
    assert warned(RIGHT) == [[], [], []]
    assert warned(STANDS) == [[], [], []]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (renamed(RIGHT, {"FL": "FR", "FR": "FL", "RL": "RR", "RR": "RL"}), "the names of the joints of FL_z_link and"),
        (scaled(RIGHT, 1000.0), "if the base were 0.001 times as fast: is odom in m and m/s?"),
        (replace(RIGHT, time=1000.0 * RIGHT.time), "are milliseconds taken for seconds"),
        (replace(RIGHT, time=0.001 * RIGHT.time), "are milliseconds taken for seconds"),
    ],
)
def test_what_does_not_fit_is_told_with_the_change_that_makes_it_fit(warned, wrong, words):
    for warnings in warned(wrong):
        assert any(words in text and "% odd: joint_states: " in text for text in warnings), warnings


def test_a_height_in_millimetres_is_told_of_a_robot_that_stands(warned):
    replayed, scored, _ = warned(scaled(STANDS, 1000.0))
    for warnings in (replayed, scored):
        (text,) = [text for text in warnings if "far above" in text]
        assert "the lowest by 400 m; is the position of odom in m" in text


def test_balls_that_are_not_the_urdfs_are_told(warned):
    urdf = URDF.replace('<link name="FL_z_link">', f'<link name="FL_z_link">{BALL}')
    contact = CONFIG.contacts["FL"]
    for change, words in (
        ({"radius": 0.02, "points": (0.0, 0.0, 0.01)}, None),
        ({"radius": 0.05, "points": (0.0, 0.0, 0.01)}, "contacts.FL.radius is 0.05 m; the URDF's sphere of FL_z_link"),
        ({"radius": 0.02, "points": (0.05, 0.0, 0.01)}, "contacts.FL.points has one 0.050 m from the centre"),
    ):
        config = replace(CONFIG, contacts={**CONFIG.contacts, "FL": replace(contact, **change)})
        for warnings in warned(replace(STANDS, urdf=urdf), config, urdf):
            found = [text for text in warnings if "contacts.FL" in text]
            assert found == [] if words is None else words in found[0]
