"""Quality of service is overridden for the endpoint that is named, and for no other."""

from rclpy.qos import ReliabilityPolicy

from hybrid_contact_ros.nodes.contact_markers import ContactMarkersNode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros.qos import OUTPUT, STATE_INPUT


def reliability(bench, ask, topic):
    found = []
    bench.until(lambda: found.extend(ask(topic)) or found)
    return found[0].qos_profile.reliability


def test_an_override_of_one_endpoint_leaves_all_others_as_they_are(bench):
    overrides = {
        "qos_overrides./contact_mode.publisher.reliability": "best_effort",
        "qos_overrides./joint_states.subscription.reliability": "reliable",
    }
    bench.start(ContactSuiteNode, **overrides)
    publishers = bench.partner.get_publishers_info_by_topic
    subscriptions = bench.partner.get_subscriptions_info_by_topic
    assert reliability(bench, publishers, "/contact_mode") == ReliabilityPolicy.BEST_EFFORT
    assert reliability(bench, publishers, "/constraint_stability") == ReliabilityPolicy.RELIABLE
    assert reliability(bench, publishers, "/impact_set") == ReliabilityPolicy.RELIABLE
    assert reliability(bench, subscriptions, "/joint_states") == ReliabilityPolicy.RELIABLE
    assert reliability(bench, subscriptions, "/odom") == ReliabilityPolicy.BEST_EFFORT
    overrides = {"qos_overrides./contact_markers.publisher.reliability": "best_effort"}
    assert bench.start(ContactMarkersNode, configure=False, **overrides).trigger_configure().name == "SUCCESS"
    assert reliability(bench, publishers, "/contact_markers") == ReliabilityPolicy.BEST_EFFORT
    assert OUTPUT.reliability == ReliabilityPolicy.RELIABLE
    assert STATE_INPUT.reliability == ReliabilityPolicy.BEST_EFFORT
