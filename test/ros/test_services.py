"""Services and parameters of the nodes."""

import leg
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_msgs.srv import PredictImpact
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode


def call(bench, kind, name, request):
    client = bench.partner.create_client(kind, f"contact_suite/{name}")
    bench.until(client.service_is_ready)
    future = client.call_async(request)
    bench.until(future.done)
    return future.result()


def impact_request(bench, **fields):
    stamp = bench.stamp()
    return PredictImpact.Request(joints=leg.joint_state(stamp), odometry=leg.odometry(stamp, height=0.6), **fields)


def test_predict_impact_answers_for_the_given_state_and_seed(bench):
    bench.start(ContactSuiteNode, activate=False)
    request = impact_request(bench, contacts=["foot"], samples=50, seed=3)
    request.deadline.sec = 10
    first, again = (call(bench, PredictImpact, "predict_impact", request) for _ in range(2))
    assert first.success, first.message
    assert list(first.set.contacts) == ["foot"]
    assert first.set.count == 50
    assert first.set.velocities == again.set.velocities
    assert first.set.v_minus[2] == pytest.approx(-1.0)
    assert first.set.kinetic_energy_max <= first.set.kinetic_energy_minus * (1 + 1e-9)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda r: r.contacts.append("hand"), "hand"),
        (lambda r: setattr(r.joints, "position", [leg.NAN, 0.0]), "hip"),
        (lambda r: setattr(r.joints, "name", ["hip", "elbow"]), "knee"),
        (lambda r: setattr(r.odometry.pose.pose.orientation, "w", 0.0), "quaternion"),
    ],
)
def test_predict_impact_says_what_is_wrong_with_a_request(bench, change, word):
    bench.start(ContactSuiteNode, activate=False)
    request = impact_request(bench)
    change(request)
    response = call(bench, PredictImpact, "predict_impact", request)
    assert not response.success
    assert word in response.message or word in response.message.lower()


def test_predict_impact_says_that_no_contact_takes_part(bench):
    bench.start(ContactSuiteNode, activate=False)
    request = impact_request(bench)
    request.odometry.pose.pose.position.z = 2.0
    response = call(bench, PredictImpact, "predict_impact", request)
    assert response.success
    assert response.message == "no contact is within gap_tolerance: nothing happens"
    assert list(response.set.contacts) == [] and response.set.v_nominal == response.set.v_minus


def test_enable_stops_and_resumes_predictions_and_reset_answers(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    bench.start(ContactSuiteNode)
    bench.answer(modes)
    assert call(bench, SetBool, "enable", SetBool.Request(data=False)).success
    modes.clear()
    bench.send()
    bench.spin(0.2)
    assert modes == []
    assert call(bench, SetBool, "enable", SetBool.Request(data=True)).success
    assert call(bench, Trigger, "reset", Trigger.Request()).success
    bench.answer(modes)


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("activation.gap_on", 0.5, "gap_off"),
        ("impact.directions", 5, "directions"),
        ("contacts.foot.restitution", 1.5, "restitution"),
        ("contacts.foot.environment", "moon", "moon"),
    ],
)
def test_parameter_out_of_range_fails_configure_by_name(bench, capfd, name, value, word):
    node = bench.start(ContactSuiteNode, configure=False, **{name: value})
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert word in capfd.readouterr().err


def test_parameters_are_fixed_while_configured_and_free_after_cleanup(bench):
    node = bench.start(ContactSuiteNode)
    change = [Parameter("prediction.horizon", value=0.2)]
    result = node.set_parameters(change)[0]
    assert not result.successful
    assert "prediction.horizon" in result.reason
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert node.set_parameters(change)[0].successful
    node.trigger_configure()
    assert node.estimator.config.prediction.horizon == 0.2


def test_every_leaf_of_the_configuration_is_a_parameter_with_a_description(bench):
    node = bench.start(ContactSuiteNode, activate=False)
    for name in ("activation.gap_on", "impact.samples", "contacts.foot.link", "environments.ground.normal"):
        assert node.has_parameter(name)
        assert "[" in node.describe_parameter(name).description


def test_misspelled_parameter_fails_configure_and_names_the_right_one(bench, capfd):
    node = bench.start(ContactSuiteNode, configure=False, **{"activation.gap_onn": 0.001})
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert "activation.gap_on meant" in capfd.readouterr().err
