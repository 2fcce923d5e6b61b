"""Markers are drawn from what the suite publishes, by a node that computes nothing."""

import math
import subprocess
import sys
import time

import pytest
from lifecycle_msgs.msg import State
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from hybrid_contact_msgs.msg import ContactMode, ContactState
from hybrid_contact_ros.nodes.contact_markers import ContactMarkersNode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros.markers import ContactMarkers

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
NAN = math.nan


def contact(status=ContactState.STICKING, normal=(0.0, 0.0, 1.0), force=(3.0, 0.0, 40.0), **fields) -> ContactState:
    fields = {"force_valid": True, **fields}
    made = ContactState(name="foot", status=status, friction_coefficient=0.7, time_to_event=NAN, **fields)
    made.position.x, made.position.z = 1.0, 0.5
    made.normal.x, made.normal.y, made.normal.z = normal
    made.force_model.x, made.force_model.y, made.force_model.z = force
    return made


def mode(*contacts, frame="odom") -> ContactMode:
    made = ContactMode(contacts=list(contacts))
    made.header.frame_id, made.header.stamp.sec = frame, 7
    return made


def by_space(array, action=Marker.ADD) -> dict:
    """Markers by (ns, id)."""
    return {(marker.ns, marker.id): marker for marker in array.markers if marker.action == action}


def turned(orientation, point):
    """A point rotated by a quaternion."""
    x, y, z, w = orientation.x, orientation.y, orientation.z, orientation.w
    tx, ty, tz = 2 * (y * point[2] - z * point[1]), 2 * (z * point[0] - x * point[2]), 2 * (x * point[1] - y * point[0])
    return (
        point[0] + w * tx + y * tz - z * ty,
        point[1] + w * ty + z * tx - x * tz,
        point[2] + w * tz + x * ty - y * tx,
    )


def test_a_closed_contact_is_a_point_a_force_a_cone_and_its_next_event_in_the_frame_of_the_message():
    said = contact(next_event=ContactState.EVENT_LIFTOFF)
    said.time_to_event = 0.012
    drawn = by_space(ContactMarkers(0.03).update(mode(said, frame="map")))
    assert set(drawn) == {(space, 0) for space in ("contacts", "forces", "friction_cones", "events")}
    for marker in drawn.values():
        assert (marker.header.frame_id, marker.header.stamp.sec) == ("map", 7) and marker.color.a > 0
    assert drawn["contacts", 0].pose.position.x == 1.0 and drawn["contacts", 0].scale.z == 0.03
    tail, tip = drawn["forces", 0].points
    assert (tip.x - tail.x) / (tip.z - tail.z) == pytest.approx(3.0 / 40.0)
    assert drawn["events", 0].text == "foot: liftoff in 12 ms"
    serialize_message(MarkerArray(markers=list(drawn.values())))


@pytest.mark.parametrize(
    "normal", [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (-1.0, 0.0, 0.0), (0.0, 0.6, 0.8), (0.6, 0.0, -0.8)]
)
def test_the_friction_cone_stands_around_the_normal_with_the_angle_of_friction(normal):
    cone = by_space(ContactMarkers(0.03).update(mode(contact(normal=normal))))["friction_cones", 0]
    rim = [p for p in cone.points if (p.x, p.y, p.z) != (0.0, 0.0, 0.0)]
    for p in rim:
        x = turned(cone.pose.orientation, (p.x, p.y, p.z))
        along = sum(a * b for a, b in zip(x, normal, strict=True))
        across = math.sqrt(max(sum(a * a for a in x) - along**2, 0.0))
        assert across / along == pytest.approx(0.7, rel=1e-6)


def test_statuses_have_colours_of_their_own():
    colours = set()
    for status in (ContactState.UNKNOWN, ContactState.OPEN, ContactState.STICKING, ContactState.SLIPPING):
        sphere = by_space(ContactMarkers(0.03).update(mode(contact(status))))["contacts", 0]
        colours.add((sphere.color.r, sphere.color.g, sphere.color.b))
    assert len(colours) == 4


def test_an_open_contact_has_neither_force_nor_cone():
    assert set(by_space(ContactMarkers(0.03).update(mode(contact(ContactState.OPEN))))) == {
        ("contacts", 0), ("events", 0),
    }  # fmt: skip


def test_what_is_not_finite_or_not_valid_is_not_drawn():
    drawn = by_space(ContactMarkers(0.03).update(mode(contact(force=(NAN, NAN, NAN)))))
    assert ("forces", 0) not in drawn and ("friction_cones", 0) in drawn
    assert ("forces", 0) not in by_space(ContactMarkers(0.03).update(mode(contact(force_valid=False))))
    lost = contact()
    lost.position.x = NAN
    assert by_space(ContactMarkers(0.03).update(mode(lost))) == {}
    huge = by_space(ContactMarkers(0.03).update(mode(contact(force=(0.0, 0.0, 1e30)))))["forces", 0]
    assert huge.points[1].z - huge.points[0].z <= 2.0 + 1e-9
    later = contact(next_event=ContactState.EVENT_TOUCHDOWN)
    assert by_space(ContactMarkers(0.03).update(mode(later)))["events", 0].text == "foot"


def test_a_joint_limit_has_no_place_in_the_world():
    drawn = by_space(ContactMarkers(0.03).update(mode(contact(normal=(0.0, 0.0, 0.0)), contact())))
    assert {identity for _, identity in drawn} == {1}


def test_what_is_shown_no_more_is_deleted_once():
    drawing = ContactMarkers(0.03)
    drawing.update(mode(contact(), contact()))
    after = drawing.update(mode(contact(ContactState.OPEN)))
    assert set(by_space(after, Marker.DELETE)) == {
        ("forces", 0), ("friction_cones", 0), *((s, 1) for s in ("contacts", "forces", "friction_cones", "events")),
    }  # fmt: skip
    assert by_space(drawing.update(mode(contact(ContactState.OPEN))), Marker.DELETE) == {}
    assert set(by_space(drawing.clear(), Marker.DELETE)) == {("contacts", 0), ("events", 0)}
    assert drawing.clear().markers == []


def test_a_contact_that_closes_again_is_drawn_again():
    drawing = ContactMarkers(0.03)
    for status in (ContactState.STICKING, ContactState.OPEN, ContactState.SLIPPING):
        last = by_space(drawing.update(mode(contact(status))))
    assert ("forces", 0) in last


# ---------------------------------------------------------------------- the node


@pytest.fixture
def start(bench):
    """The node without a robot description, and what it publishes."""

    def make(configure=True, **overrides):
        node = bench.start(ContactMarkersNode, configure=False, robot_description="", **overrides)
        if configure:
            assert node.trigger_configure() == SUCCESS and node.trigger_activate() == SUCCESS
        return node

    return make


@pytest.fixture
def heard(bench):
    return bench.listen(MarkerArray, "contact_markers")


@pytest.fixture
def say(bench):
    """Publishes one contact mode, once somebody listens."""
    publisher = bench.partner.create_publisher(ContactMode, "contact_mode", 10)

    def publish(message=None):
        bench.until(publisher.get_subscription_count)
        publisher.publish(message or mode(contact()))

    return publish


def repeat(bench, say, condition, pause=0.02):
    """Say it every ``pause`` seconds until the condition holds."""
    last = 0.0

    def said():
        nonlocal last
        if time.monotonic() - last > pause:
            last = time.monotonic()
            say()
        return condition()

    bench.until(said)


def state_of(node):
    return node._state_machine.current_state[0]


def test_it_shows_what_another_node_publishes_and_knows_no_robot(bench, start, heard, say):
    node = start()
    repeat(bench, say, lambda: heard)
    assert heard[0].markers[0].header.frame_id == "odom" and not hasattr(node, "estimator")
    repeat(bench, say, lambda: bench.diagnosis(node)[1] == "showing")
    level, _, values = bench.diagnosis(node)
    assert level in (b"\x00", b"\x03") and values["publishers on contact_mode"] == "1"


def test_the_engine_is_not_even_loaded():
    code = (
        "import sys, hybrid_contact_ros.nodes.contact_markers\n"
        "loaded = {'numba', 'pinocchio', 'scipy', 'hybrid_contact_ros.estimator'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_the_suite_is_shown(bench, start, heard):
    suite = bench.start(ContactSuiteNode)
    start()
    repeat(bench, bench.send, lambda: heard)
    assert heard[0].markers[0].header.frame_id == "map"
    assert {marker.ns for marker in heard[0].markers} >= {"contacts", "events"}
    assert suite.stream.monitor is not None


def test_it_brings_itself_up(bench, start):
    node = start(configure=False, autostart=True)
    bench.until(lambda: state_of(node) == State.PRIMARY_STATE_ACTIVE)


def test_every_transition_twice_and_what_was_shown_is_deleted(bench, start, heard, say):
    node = start(configure=False)
    for _ in range(2):
        assert node.trigger_configure() == SUCCESS
        say()
        bench.spin(0.2)
        assert heard == []
        assert node.trigger_activate() == SUCCESS
        repeat(bench, say, lambda: heard)
        bench.spin(0.2)
        heard.clear()
        assert node.trigger_deactivate() == SUCCESS
        bench.until(lambda: heard)
        assert {marker.action for array in heard for marker in array.markers} == {Marker.DELETE}
        assert node.trigger_cleanup() == SUCCESS
        bench.spin(0.1)
        heard.clear()
    assert node.trigger_shutdown() == SUCCESS
    assert state_of(node) == State.PRIMARY_STATE_FINALIZED


def test_no_more_than_marker_rate_is_drawn(bench, start, heard, say):
    """A tenth of a hertz, and the time in which the messages come is far shorter than ten seconds."""
    start(marker_rate=0.1)
    repeat(bench, say, lambda: heard)
    for _ in range(20):
        say()
        bench.spin(0.01)
    bench.spin(0.2)
    assert len(heard) == 1


def test_nothing_is_decoded_while_nobody_looks(bench, start, say):
    node = start()
    for _ in range(20):
        say()
        bench.spin(0.01)
    assert node._markers.clear().markers == []
    repeat(bench, say, lambda: bench.diagnosis(node)[1] == "nobody subscribes to the markers")


def test_silence_is_told_with_the_topic(bench, start):
    node = start()
    bench.until(lambda: bench.diagnosis(node)[0] == b"\x03")
    assert "nobody publishes /contact_mode" in bench.diagnosis(node)[1]


def test_two_publishers_are_told(bench, start, say):
    node = start()
    other = bench.partner.create_publisher(ContactMode, "contact_mode", 10)
    repeat(bench, say, lambda: "more than one publisher" in bench.diagnosis(node)[1])
    bench.partner.destroy_publisher(other)


def test_a_message_that_cannot_be_read_is_told_and_the_next_is_drawn(bench, start, heard, say):
    node = start()
    bench.until(lambda: node._output.get_subscription_count())
    node._on_mode(b"\x00\x01\x00\x00" + serialize_message(String(data="x" * 40))[4:])
    assert "could not be read" in node._fault
    repeat(bench, say, lambda: heard)


def test_a_fault_of_the_drawing_is_told_as_ours_and_the_next_message_is_drawn(bench, start, heard, say, monkeypatch):
    node = start()
    bench.until(lambda: node._output.get_subscription_count())
    monkeypatch.setattr(ContactMarkers, "update", lambda *_: {}["nothing"])
    repeat(bench, say, lambda: node._fault)
    assert node._fault == "internal error: KeyError('nothing')"
    monkeypatch.undo()
    repeat(bench, say, lambda: heard)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"marker_rate": 0.0}, "marker_rate = 0.0 is outside"),
        ({"marker_rate": NAN}, "marker_rate must be finite"),
        ({"marker_rate": "fast"}, "marker_rate"),
        ({"marker_size": -1.0}, "marker_size = -1.0 is outside"),
        ({"marker_rte": 3.0}, "unknown parameter marker_rte; is marker_rate meant?"),
    ],
)
def test_bad_parameters_fail_configure_by_name_and_in_diagnostics(bench, start, wrong, words):
    node = start(configure=False, **wrong)
    assert node.trigger_configure() == FAILURE
    level, text, _ = bench.diagnosis(node)
    assert level == b"\x01" and words in text


def test_rate_and_size_change_while_it_runs(bench, start, heard, say):
    node = start()
    (result,) = node.set_parameters([Parameter("marker_size", value=0.5)])
    assert result.successful
    repeat(bench, say, lambda: heard and heard[-1].markers[0].scale.x == 0.5)
    (result,) = node.set_parameters([Parameter("marker_rate", value=-1.0)])
    assert not result.successful and "out of range" in result.reason


def test_input_and_output_are_in_its_namespace_with_their_quality_of_service(bench):
    overrides = {
        "qos_overrides./robot/contact_mode.subscription.reliability": "reliable",
        "qos_overrides./robot/contact_markers.publisher.reliability": "best_effort",
    }
    node = bench.start(ContactMarkersNode, configure=False, arguments=["-r", "__ns:=/robot"], **overrides)
    assert node.trigger_configure() == SUCCESS

    def found(ask, topic):
        infos = []
        bench.until(lambda: infos.extend(ask(topic)) or infos)
        return infos[0].qos_profile.reliability

    assert found(bench.partner.get_subscriptions_info_by_topic, "/robot/contact_mode") == ReliabilityPolicy.RELIABLE
    assert found(bench.partner.get_publishers_info_by_topic, "/robot/contact_markers") == ReliabilityPolicy.BEST_EFFORT
