"""Each kind of message that may be a truth says what touched, and what is no truth is refused with a sentence."""

import numpy as np
import pytest

from helpers.truth_bags import header, loads, of, stamps, steps, wrench, write, write_definitions
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.typestore import add_definitions
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.truths.asked import Asked
from hybrid_contact_ros.truths.levels import Levels, find_levels, touching
from hybrid_contact_ros.truths.read import read_estimate, read_truth

NAMES, LINKS = ("FL", "FR"), ("FL_foot", "FR_foot")
CLOSED = steps()
TIMES = stamps(len(CLOSED))


@pytest.fixture(scope="module", autouse=True)
def definitions(tmp_path_factory):
    add_definitions(write_definitions(tmp_path_factory.mktemp("definitions")))


def truth(path, *asked, threshold=None, names=NAMES, frames=LINKS):
    with BagReader(path) as reader:
        return read_truth(reader, [Asked.parsed(text) for text in asked], names, frames, threshold)


def assert_is(found, closed=CLOSED, names=NAMES):
    """The truth of each contact, at the stamps of its own messages."""
    assert {name for name, _ in found.groups} == set(names)
    for j, (name, members) in enumerate(found.groups):
        assert members == (names.index(name),)
        own = found.known[:, j]
        at = np.isin(found.stamps_ns[own], TIMES)
        expected = closed[np.searchsorted(TIMES, found.stamps_ns[own][at]), names.index(name)]
        np.testing.assert_array_equal(found.closed[own, j][at], expected)
        assert at.sum() > 0.9 * len(TIMES)


def wrenches(force, frames=LINKS):
    kind = "geometry_msgs/msg/WrenchStamped"
    streams = {}
    for frame, column in zip(frames, force.T, strict=True):
        each = zip(TIMES, column, strict=True)
        streams[f"/{frame}/wrench"] = kind, [(t, of(kind, header=header(t, frame), wrench=wrench(f))) for t, f in each]
    return streams


def test_wrenches_of_feet_are_told_by_their_frame_and_find_their_own_thresholds(tmp_path):
    path = write(tmp_path / "b.mcap", wrenches(loads(CLOSED)))
    found, said = truth(path, "/FL_foot/wrench", "/FR_foot/wrench")
    assert_is(found)
    assert any("counts as closed from" in line for line in said)


def test_a_given_threshold_has_hysteresis_between_its_loads(tmp_path):
    path = write(tmp_path / "b.mcap", wrenches(loads(CLOSED, noise=0.0)))
    found, _ = truth(path, "/FL_foot/wrench", "/FR_foot/wrench", threshold=Levels(20.0, 5.0))
    assert_is(found)


@pytest.mark.parametrize(("scale", "offset"), [(1e-3, 0.0), (300.0, 120.0), (1.0, -40.0)])
def test_levels_are_found_whatever_the_unit_and_the_offset_of_a_sensor(tmp_path, scale, offset):
    kind = "std_msgs/msg/Float64MultiArray"
    layout = of("std_msgs/msg/MultiArrayLayout", dim=[], data_offset=0)
    rows = scale * loads(CLOSED) + offset
    held = [(t, of(kind, layout=layout, data=row)) for t, row in zip(TIMES, rows, strict=True)]
    path = write(tmp_path / "b.mcap", {"/loads": (kind, held)})
    assert_is(truth(path, "FL,FR=/loads")[0])


def test_loads_that_never_change_tell_nothing_and_a_threshold_is_asked_for(tmp_path):
    path = write(tmp_path / "b.mcap", wrenches(loads(CLOSED & False)))
    with pytest.raises(BagError, match=r"does not tell contact.*give --threshold"):
        truth(path, "/FL_foot/wrench")
    assert not truth(path, "/FL_foot/wrench", threshold=Levels(20.0, 10.0))[0].closed.any()


def test_a_force_plate_stands_for_all_the_feet_on_it(tmp_path):
    either = CLOSED.any(axis=1)
    path = write(tmp_path / "b.mcap", wrenches(loads(either[:, None]), ("plate",)))
    found, _ = truth(path, "FL+FR=/plate/wrench")
    assert found.groups == (("FL+FR", (0, 1)),)
    np.testing.assert_array_equal(found.closed[:, 0], either)


def test_our_own_contact_modes_are_read_by_name_or_frame(tmp_path, fall, walker):
    from hybrid_contact_ros.recordings.write import write_recording

    write_recording(fall, tmp_path / "b.mcap")
    found, _ = truth(tmp_path / "b.mcap", "/truth/contact_mode", names=("a", "right"), frames=("left_foot", ""))
    assert found.groups == (("a", (0,)), ("right", (1,)))
    np.testing.assert_array_equal(found.closed[found.known.all(axis=1)], fall.closed)


def test_whole_body_states_are_closed_or_slipping_and_unknown_is_not_known(tmp_path):
    kind, part = "whole_body_state_msgs/msg/WholeBodyState", "whole_body_state_msgs/msg/ContactState"
    rows = []
    for k, (t, row) in enumerate(zip(TIMES, CLOSED, strict=True)):
        states = [(2 if k % 3 == 0 else 0) if touches else 1 for touches in row]
        states[1] = -1 if k < 50 else states[1]
        contacts = [
            of(part, name=name, contact_state=s, wrench=wrench(0.0)) for name, s in zip(LINKS, states, strict=True)
        ]
        rows.append((t, of(kind, header=header(t), contacts=contacts)))
    found, _ = truth(write(tmp_path / "b.mcap", {"/whole_body_state": (kind, rows)}), "/whole_body_state")
    assert_is(found)
    assert not found.known[:50, 1].any() and found.known[50:].all()


def names_of(link):
    return f"dog::base::lump__{link}_collision_2", "ground_plane::link::collision"


def test_collisions_of_gazebo_are_found_by_links_in_their_names_and_silence_is_open(tmp_path):
    kind, part, body = (f"ros_gz_interfaces/msg/{name}" for name in ("Contacts", "Contact", "Entity"))
    rows = []
    for t, row in zip(TIMES, CLOSED, strict=True):
        contacts = [
            of(
                part,
                **{f"collision{i + 1}": of(body, id=i, name=name, type=0) for i, name in enumerate(names_of(link))},
            )
            for link, touches in zip(LINKS, row, strict=True)
            if touches
        ]
        if contacts:  # nothing is published while nothing touches
            rows.append((t, of(kind, header=header(t), contacts=contacts)))
    assert len(rows) < 0.9 * len(TIMES)
    found, _ = truth(write(tmp_path / "b.mcap", {"/contacts": (kind, rows)}), "/contacts")
    for j, (name, _) in enumerate(found.groups):
        own = found.known[:, j]
        newest = np.searchsorted(found.stamps_ns[own], TIMES[100:-100], side="right") - 1
        wrong = found.closed[own, j][newest] != CLOSED[100:-100, NAMES.index(name)]
        # A single message that did not come is taken for a lost one, and not for silence.
        alone = ~CLOSED[100:-100].any(axis=1) & CLOSED[99:-101].any(axis=1) & CLOSED[101:-99].any(axis=1)
        assert not (wrong & ~alone).any() and alone.sum() <= 1


def test_contact_states_of_gazebo_classic_are_open_where_they_are_empty(tmp_path):
    kind, part = "gazebo_msgs/msg/ContactsState", "gazebo_msgs/msg/ContactState"
    streams = {}
    for j, link in enumerate(LINKS):
        rows = []
        for t, touches in zip(TIMES, CLOSED[:, j], strict=True):
            one, other = names_of(link)
            states = [of(part, info="", collision1_name=other, collision2_name=one)] if touches else []
            rows.append((t, of(kind, header=header(t), states=states)))
        streams[f"/{link}_bumper"] = kind, rows
    path = write(tmp_path / "b.mcap", streams)
    assert_is(truth(path, "/FL_foot_bumper", "/FR_foot_bumper")[0])
    assert_is(truth(path, "FL=/FL_foot_bumper", "FR=/FR_foot_bumper")[0])


def test_booleans_are_told_by_their_topic_or_by_a_given_name_and_have_the_time_of_recording(tmp_path):
    kind = "std_msgs/msg/Bool"
    streams = {
        topic: (kind, [(t, of(kind, data=bool(x))) for t, x in zip(TIMES, column, strict=True)])
        for topic, column in zip(("/contact/FL", "/second"), CLOSED.T, strict=True)
    }
    path = write(tmp_path / "b.mcap", streams)
    assert_is(truth(path, "/contact/FL", "FR=/second")[0])
    with pytest.raises(BagError, match=r"tells of second.*predicted are FL, FR: tell which of these by NAME=/second"):
        truth(path, "/second")


@pytest.mark.parametrize("name", ["Float32", "Int16", "UInt8"])
def test_arrays_need_names_in_their_order(tmp_path, name):
    kind = f"std_msgs/msg/{name}MultiArray"
    layout = of("std_msgs/msg/MultiArrayLayout", dim=[], data_offset=0)
    held = (CLOSED * 1).astype(name.lower())
    rows = [(t, of(kind, layout=layout, data=row)) for t, row in zip(TIMES, held, strict=True)]
    path = write(tmp_path / "b.mcap", {"/c": (kind, rows)})
    assert_is(truth(path, "FL,FR=/c")[0])
    with pytest.raises(BagError, match=r"have no names: tell the contacts in their order, NAME0,NAME1=/c"):
        truth(path, "/c")
    with pytest.raises(BagError, match="has 2 values, and 3 names"):
        truth(path, "FL,FR,RL=/c")


def test_counts_of_unitree_are_those_of_feet_in_its_order(tmp_path):
    kind, names = "unitree_go/msg/LowState", ("FL", "FR", "RL", "RR")
    closed = steps(feet=4)
    force = np.clip(loads(closed, 150, 4, 20), 0, 300).astype(np.int16)
    force = np.ascontiguousarray(force[:, [1, 0, 3, 2]])  # FR, FL, RR, RL
    rows = [
        (t, of(kind, level_flag=0, foot_force=row, foot_force_est=row * 0, tick=0))
        for t, row in zip(TIMES, force, strict=True)
    ]
    path = write(tmp_path / "b.mcap", {"/lowstate": (kind, rows)})
    frames = tuple(f"{name}_foot" for name in names)
    assert_is(truth(path, "/lowstate", names=names, frames=frames)[0], closed, names)
    long = tuple(f"{name}_calf_tip" for name in names)
    assert_is(truth(path, "/lowstate", names=long, frames=frames)[0], closed, long)
    with pytest.raises(BagError, match=r"tells of FR, FL, RR, RL; predicted are left, right"):
        truth(path, "/lowstate", names=("left", "right"), frames=("", ""))


def test_sensors_as_joint_states_are_told_by_name(tmp_path):
    kind = "sensor_msgs/msg/JointState"
    empty = np.empty(0)
    rows = [
        (t, of(kind, header=header(t), name=list(NAMES), position=empty, velocity=empty, effort=row))
        for t, row in zip(TIMES, loads(CLOSED), strict=True)
    ]
    assert_is(truth(write(tmp_path / "b.mcap", {"/sensors": (kind, rows)}), "/sensors")[0])


def test_truths_with_stamps_of_their_own_are_put_beside_each_other_without_moving_an_edge(tmp_path):
    kind = "std_msgs/msg/Bool"
    slow = slice(None, None, 15)  # 33 Hz
    rows = [[(t, of(kind, data=bool(x))) for t, x in zip(TIMES, column, strict=True)] for column in CLOSED.T]
    path = write(tmp_path / "b.mcap", {"/FL": (kind, rows[0]), "/FR": (kind, rows[1][slow])})
    found, _ = truth(path, "/FL", "/FR")
    assert found.known[:, 0].all() and found.known[:, 1].sum() == len(TIMES[slow])
    np.testing.assert_array_equal(found.closed[found.known[:, 1], 1], CLOSED[slow, 1])
    assert found.age(0) == 0.02 and found.age(1) == pytest.approx(0.045)


def test_what_is_no_truth_is_refused(tmp_path):
    words = "other_msgs/msg/Words"
    kind = "std_msgs/msg/Bool"
    rows = [(t, of(kind, data=True)) for t in TIMES]
    said = words, [(TIMES[0], of(words, words=["a"]))]
    path = write(tmp_path / "b.mcap", {"/w": said, "/e": (kind, []), "/FL": (kind, rows), "/x/FL": (kind, rows)})
    for asked, said in (
        ("/w", "is a other_msgs/msg/Words, of which nobody knows how it tells contacts"),
        ("/e", "is empty: nothing was recorded on it"),
        ("/missing", r"has no topic /missing(.|\n)*It holds:(.|\n)*/FL"),
    ):
        with pytest.raises(BagError, match=said):
            truth(path, asked)
    with pytest.raises(BagError, match="another truth tells of FL already"):
        truth(path, "/FL", "/x/FL")
    for text in ("=", "a=", ",=/t", "a,,b=/t"):
        with pytest.raises(ValueError, match="is no truth"):
            Asked.parsed(text)


def test_another_estimator_is_read_as_a_track(tmp_path):
    kind = "std_msgs/msg/Bool"
    rows = [[(t, of(kind, data=bool(x))) for t, x in zip(TIMES, column, strict=True)] for column in CLOSED.T]
    path = write(tmp_path / "b.mcap", {"/FL": (kind, rows[0])})
    with BagReader(path) as reader:
        track, _ = read_estimate(reader, Asked.parsed("/FL"))
    assert track.names == ("FL",) and track.probability is None and track.next_event is None
    np.testing.assert_array_equal(track.closed[:, 0], CLOSED[:, 0])


def test_definitions_that_are_none_are_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no message definitions"):
        add_definitions(tmp_path)
    (tmp_path / "pkg" / "msg").mkdir(parents=True)
    (tmp_path / "pkg" / "msg" / "A.msg").write_text("float64 float64 float64\n???")
    with pytest.raises(ValueError, match=r"A\.msg is no message definition"):
        add_definitions(tmp_path)


def biped(rng, double, swings=8, noise=1.0):
    """Loads of a sole that bears nothing, half of 400 N, or all of it, by turns: ``double`` samples on both, 300 on
    one; and whether it touches."""
    parts = []
    for _ in range(swings):
        for load, count in ((200.0, double), (400.0, 300), (200.0, double), (0.0, 300)):
            parts.append(np.full(count, load))
    load = np.concatenate(parts)
    return load + noise * rng.standard_normal(load.size), load > 0.0


@pytest.mark.parametrize("double", [40, 300, 700, 1500])
def test_the_soles_of_a_walking_biped_bear_nothing_half_and_all_of_the_weight(double):
    load, closed = biped(np.random.default_rng(0), double)
    levels = find_levels(load)
    assert 5.0 < levels.off < levels.on < 100.0
    assert (touching(load, levels) == closed).all()


def test_a_foot_that_stands_has_one_level_whatever_noise_it_has():
    rng = np.random.default_rng(1)
    for load in (200.0 + 20.0 * rng.standard_normal(4000), 200.0 + 20.0 * rng.uniform(-1.0, 1.0, 4000)):
        with pytest.raises(ValueError, match="two levels"):
            find_levels(load)


def test_transitions_between_two_levels_are_no_level():
    ramp = np.linspace(0.0, 100.0, 60)
    load = np.tile(np.concatenate((np.zeros(200), ramp, np.full(200, 100.0), ramp[::-1])), 10)
    levels = find_levels(load)
    assert 15.0 < levels.on < 30.0 and 5.0 < levels.off < 15.0
