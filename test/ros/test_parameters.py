"""The parameters of the nodes: those of the configuration file, with their types, ranges and refusals."""

from dataclasses import fields

import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from helpers import leg
from hybrid_contact_ros.config import IGNORED, EstimatorConfig
from hybrid_contact_ros.nodes.constraint_stability import ConstraintStabilityNode
from hybrid_contact_ros.nodes.contact_markers import ContactMarkersNode
from hybrid_contact_ros.nodes.contact_mode import ContactModeNode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.nodes.impact_set import ImpactSetNode


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


MARKERS = "    marker_rate: 10.0\n    marker_size: 0.02\n"


@pytest.mark.parametrize("make", [ContactSuiteNode, ContactModeNode, ImpactSetNode, ConstraintStabilityNode])
def test_parameters_of_the_markers_may_stand_in_a_block_for_any_node(bench, make):
    bench.start(make, parameters=leg.PARAMETERS.replace("floating_base", MARKERS.lstrip() + "    floating_base"))


@pytest.mark.parametrize(
    ("name", "meant"), [("marker_rte", "marker_rate"), ("autostrat", "autostart"), ("contact_name", "contact_names")]
)
def test_a_misspelt_parameter_is_refused_with_the_one_that_is_meant(bench, name, meant):
    node = bench.start(
        ContactSuiteNode, configure=False, parameters=leg.PARAMETERS.replace("floating", f"{name}: 3.0\n    floating")
    )
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert node.startup.why == f"unknown parameter {name}; is {meant} meant?"


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
    assert node.stream.estimator.config.prediction.horizon == 0.2


def test_tolerances_and_intervals_are_taken_over_between_two_states(bench):
    node = bench.start(ContactSuiteNode)
    stream = node.stream
    changes = [Parameter("activation.gap_on", value=0.01), Parameter("activation.gap_off", value=0.02)]
    assert node.set_parameters_atomically(changes).successful
    assert node.set_parameters([Parameter("impact.friction_margin", value=0.1)])[0].successful
    assert node.stream is stream and node.active  # the same engine, with all that it remembers
    assert stream.estimator.config.activation.gap_on == 0.01
    assert stream.estimator.config.impact.friction_margin == 0.1
    assert stream.sets._sets._config.friction_margin == 0.1
    assert node.describe_parameter("activation.gap_on").additional_constraints == "may be set at any time"


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("activation.gap_on", 0.5, "gap_off"),
        ("activation.gap_on", "much", "gap_on"),
        ("impact.law", "stronge", "read at configure"),
        ("impact.restitution_margin", 0.2, "clean the node up first"),
        ("landing.rebound_min", 0.9, "rebound_max"),
    ],
)
def test_a_change_that_cannot_be_is_refused_with_the_reason_and_nothing_changes(bench, name, value, word):
    node = bench.start(ContactSuiteNode)
    before = node.stream.estimator.config
    result = node.set_parameters([Parameter(name, value=value)])[0]
    assert not result.successful
    assert word in result.reason
    assert node.stream.estimator.config is before
    assert node.get_parameter(name).value != value


def test_those_that_matter_later_may_be_set_at_any_time_and_say_so(bench):
    node = bench.start(ContactSuiteNode)
    for name, value in (("autostart", True), ("reconfigure_on_new_description", True), ("urdf_file", "robot.urdf")):
        assert node.set_parameters([Parameter(name, value=value)])[0].successful
        assert node.get_parameter(name).value == value
        assert node.describe_parameter(name).additional_constraints == "may be set at any time"
    assert node.describe_parameter("twist_in_world").additional_constraints == "read at configure"


def test_autostart_set_while_running_starts_the_node(bench):
    node = bench.start(ContactSuiteNode, configure=False)
    bench.spin(0.3)
    assert node.stream is None
    node.set_parameters([Parameter("autostart", value=True)])
    bench.until(lambda: node.active)


def test_a_node_that_was_cleaned_up_by_hand_stays_so_while_its_parameters_are_set(bench):
    node = bench.start(ContactSuiteNode, configure=False, autostart=True)
    bench.until(lambda: node.active)
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert node.set_parameters([Parameter("prediction.horizon", value=0.2)])[0].successful
    bench.spin(0.5)
    assert node.stream is None


@pytest.mark.parametrize("make", [ContactSuiteNode, ContactMarkersNode])
def test_parameters_of_the_nodes_themselves_may_stand_in_a_file_for_replay(bench, make):
    node = bench.start(make, configure=False)
    known = {field.name for field in fields(EstimatorConfig)} | {"contact_names", "environment_names"}
    own = {name.split(".")[0] for name in node._parameters} - known
    assert own <= set(IGNORED)


def test_every_leaf_of_the_configuration_is_a_parameter_with_a_description(bench):
    node = bench.start(ContactSuiteNode, activate=False)
    for name in ("activation.gap_on", "impact.samples", "contacts.foot.link", "environments.ground.normal"):
        assert node.has_parameter(name)
        assert "[" in node.describe_parameter(name).description


def test_misspelled_parameter_fails_configure_and_names_the_right_one(bench, capfd):
    node = bench.start(ContactSuiteNode, configure=False, **{"activation.gap_onn": 0.001})
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert "activation.gap_on meant" in capfd.readouterr().err
