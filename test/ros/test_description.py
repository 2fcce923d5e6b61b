"""Robot descriptions that are bad, late, or change."""

import os

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from helpers import leg
from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros.qos import LATCHED

HEAVIER = leg.URDF.replace('mass value="5.0"', 'mass value="7.0"')
FAILURE = TransitionCallbackReturn.FAILURE
BAD = {
    "no XML": "hello",
    "broken XML": leg.URDF[:-20],
    "another robot": leg.URDF.replace("shank", "shin"),
    "no robot": "<sdf/>",
}


@pytest.fixture
def publish(bench):
    assert isinstance(LATCHED, QoSProfile)
    publisher = bench.partner.create_publisher(String, "robot_description", LATCHED)
    return lambda urdf: publisher.publish(String(data=urdf))


def mass(node):
    return sum(inertia.mass for inertia in node.stream.estimator.model.pinocchio_model.inertias)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_autostart_takes_a_good_description_after_a_bad_one_and_says_why_until_then(bench, publish, bad):
    node = bench.start(ContactSuiteNode, configure=False, robot_description="", autostart=True)
    publish(bad)
    bench.until(lambda: node.startup.tried is not None)
    bench.diagnosis(node)
    level, text, _ = bench.diagnosis(node)
    assert level == DiagnosticStatus.WARN
    assert text.startswith("not configured: ") and "no robot description" not in text and len(text) > 30
    publish(leg.URDF)
    bench.until(lambda: node.active)
    bench.diagnosis(node)
    assert "not configured" not in bench.diagnosis(node)[1]


def test_autostart_tries_the_same_inputs_once(bench, publish, capfd):
    node = bench.start(ContactSuiteNode, configure=False, robot_description="", autostart=True)
    publish(BAD["no robot"])
    bench.until(lambda: node.startup.tried is not None)
    bench.spin(1.0)
    publish(BAD["no robot"])
    bench.spin(0.5)
    assert capfd.readouterr().err.count("not configured") == 1


def test_autostart_takes_a_file_that_comes_late_and_one_that_is_mended(bench, tmp_path):
    file = tmp_path / "robot.urdf"
    node = bench.start(ContactSuiteNode, configure=False, robot_description="", urdf_file=str(file), autostart=True)
    bench.until(lambda: node.startup.tried is not None)
    assert str(file) in bench.diagnosis(node)[1]
    file.write_text("<robot name='leg'/>")
    bench.until(lambda: "links" in node.startup.why)
    file.write_text(leg.URDF)
    bench.until(lambda: node.active)


def test_autostart_tries_again_when_a_parameter_is_mended(bench):
    overrides = {"activation.gap_on": 0.4, "autostart": True}
    node = bench.start(ContactSuiteNode, configure=False, **overrides)
    bench.until(lambda: "gap_off" in node.startup.why)
    node.set_parameters([Parameter("activation.gap_on", value=0.003)])
    bench.until(lambda: node.active)


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("missing.urdf", None, "No such file"),
        ("empty.urdf", b"", "no URDF"),
        ("picture.urdf", b"\xff\xfe\x00\x80", "not text"),
    ],
)
def test_a_urdf_file_that_cannot_be_read_is_named_in_full(bench, tmp_path, monkeypatch, name, content, word):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    node = bench.start(ContactSuiteNode, configure=False, robot_description="", urdf_file=name)
    assert node.trigger_configure() == FAILURE
    assert str(tmp_path / name) in node.startup.why and word in node.startup.why


def test_text_that_is_no_urdf_is_not_taken_for_the_name_of_a_file(bench, tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(leg.URDF)
    node = bench.start(ContactSuiteNode, configure=False, robot_description=str(file))
    assert node.trigger_configure() == FAILURE
    assert "urdf_file" in node.startup.why


def test_a_description_that_changes_is_warned_of_until_the_node_is_configured_anew(bench, publish):
    node = bench.start(ContactSuiteNode, configure=False, robot_description="")
    publish(leg.URDF)
    bench.until(lambda: node._description.there)
    node.trigger_configure()
    node.trigger_activate()
    bench.until(lambda: bench.joints.get_subscription_count() == 1)
    modes = bench.listen(ContactMode, "contact_mode")
    bench.spin(0.2)
    answer = lambda: bench.answer(modes)  # noqa: E731
    bench.diagnosis_after(answer, node, lambda level, *_: level == DiagnosticStatus.OK)
    publish(HEAVIER)
    bench.until(lambda: node._description.replaced)
    warned = lambda level, text, _: level == DiagnosticStatus.WARN and "another robot description" in text  # noqa: E731
    bench.diagnosis_after(answer, node, warned)
    assert mass(node) == pytest.approx(6.5)
    publish("junk")  # no URDF at all
    bench.spin(0.1)
    answer()
    bench.diagnosis(node)
    bench.diagnosis_after(answer, node, warned)
    publish(leg.URDF)  # back again: nothing to warn of
    bench.until(lambda: not node._description.replaced)
    publish(HEAVIER)
    bench.until(lambda: node._description.replaced)
    node.trigger_deactivate()
    node.trigger_cleanup()
    node.trigger_configure()
    assert mass(node) == pytest.approx(8.5)
    assert "description" not in bench.diagnosis(node)[1]


def test_a_file_that_changes_is_warned_of_and_one_that_is_only_touched_or_gone_is_not(bench, tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(leg.URDF)
    node = bench.start(ContactSuiteNode, robot_description="", urdf_file=str(file))
    os.utime(file, (1, 1))
    assert not node._description.replaced
    file.unlink()
    assert not node._description.replaced
    file.write_text(HEAVIER)
    assert node._description.replaced
    bench.diagnosis(node)
    assert "another robot description" in bench.diagnosis(node)[1]


def test_the_topic_changes_nothing_where_the_description_is_a_parameter(bench, publish):
    node = bench.start(ContactSuiteNode)
    publish(HEAVIER)
    bench.until(lambda: node._description._heard)
    assert not node._description.replaced
    node.set_parameters([Parameter("robot_description", value=HEAVIER)])
    assert node._description.replaced


@pytest.mark.parametrize("active", [False, True])
def test_the_node_starts_anew_by_itself_where_that_is_asked_for(bench, publish, active):
    overrides = {"robot_description": "", "reconfigure_on_new_description": True}
    node = bench.start(ContactSuiteNode, configure=False, **overrides)
    publish(leg.URDF)
    bench.until(lambda: node._description.there)
    node.trigger_configure()
    if active:
        node.trigger_activate()
    publish(HEAVIER)
    bench.until(lambda: node.stream is not None and mass(node) > 8.0)
    assert node.active == active
    bench.diagnosis(node)
    assert "description" not in bench.diagnosis(node)[1]


@pytest.mark.parametrize("bad", [BAD["broken XML"], BAD["another robot"]], ids=["broken", "another robot"])
def test_a_bad_new_description_is_told_and_the_old_one_goes_on_until_a_good_one_comes(bench, publish, bad):
    modes = bench.listen(ContactMode, "contact_mode")
    overrides = {"robot_description": "", "reconfigure_on_new_description": True}
    node = bench.start(ContactSuiteNode, configure=False, **overrides)
    publish(leg.URDF)
    bench.until(lambda: node._description.there)
    node.trigger_configure()
    node.trigger_activate()
    bench.until(lambda: bench.joints.get_subscription_count() == 1)
    bench.spin(0.2)
    bench.answer(modes)
    publish(bad)
    bench.until(lambda: node.startup.why)
    unused = "the new robot description is not used"
    bench.diagnosis_after(
        lambda: bench.answer(modes), node, lambda level, text, _: level == DiagnosticStatus.WARN and unused in text[:40]
    )
    assert mass(node) == pytest.approx(6.5) and node.active
    publish(HEAVIER)
    bench.until(lambda: node.stream is not None and mass(node) > 8.0 and node.active)
