"""A configuration that would predict nothing is refused: by nodes, by files, by the estimator that replay shares."""

import pytest
from rclpy.lifecycle import TransitionCallbackReturn

from helpers import leg
from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros.arguments import start_fault

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
RCL = type("RCLError", (RuntimeError,), {"__module__": "rclpy._rclpy_pybind11"})  # as rclpy raises it
WITHOUT = {
    "an empty file": "",
    "a block without contacts": "/**:\n  ros__parameters:\n    floating_base: true\n",
    "a block for a node of another name": leg.PARAMETERS.replace("/**:", "contact_sweet:"),
    "a block for another namespace": leg.PARAMETERS.replace("/**:", "/robot2/contact_suite:"),
    "contacts that are not listed": leg.PARAMETERS.replace("contact_names: [foot]", "").replace("contacts:", "hands:"),
}


@pytest.mark.parametrize("parameters", WITHOUT.values(), ids=WITHOUT)
def test_a_node_without_contacts_is_not_configured_and_says_where_it_looks(bench, parameters):
    node = bench.start(ContactSuiteNode, configure=False, parameters=parameters, arguments=["-r", "__ns:=/robot1"])
    assert node.trigger_configure() == FAILURE
    assert "no contact is configured" in node.startup.why or "hands" in node.startup.why
    if "hands" not in node.startup.why:
        assert "/**:" in node.startup.why and "/robot1/contact_suite:" in node.startup.why


@pytest.mark.parametrize("name", ["/**", "contact_suite", "/robot1/contact_suite", "/robot1/*"])
def test_blocks_that_are_for_the_node_are_taken(bench, name):
    parameters = leg.PARAMETERS.replace("/**:", f"{name}:")
    arguments = ["-r", "__ns:=/robot1"] if "robot1" in name else []
    node = bench.start(ContactSuiteNode, configure=False, parameters=parameters, arguments=arguments)
    assert node.trigger_configure() == SUCCESS


@pytest.mark.parametrize("instead", ["allow_no_contacts: true", "joint_limits: [knee]"])
def test_no_contacts_may_be_asked_for_and_joint_limits_are_some(bench, instead):
    parameters = f"/**:\n  ros__parameters:\n    {instead}\n"
    node = bench.start(ContactSuiteNode, configure=False, parameters=parameters)
    assert node.trigger_configure() == SUCCESS


def test_a_file_and_an_estimator_without_contacts_are_refused(tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text(WITHOUT["a block without contacts"])
    with pytest.raises(ValueError, match=r"robot\.yaml: no contact is configured"):
        EstimatorConfig.from_file(file)
    config = EstimatorConfig()
    with pytest.raises(ValueError, match="no contact is configured"):
        ContactEstimator(RigidBodyModel.from_urdf(leg.URDF, config), config)
    file.write_text(file.read_text() + "    allow_no_contacts: true\n")
    config = EstimatorConfig.from_file(file)
    assert ContactEstimator(RigidBodyModel.from_urdf(leg.URDF, config), config).model.contacts == 0


def test_a_file_that_ros_refuses_is_named_with_what_is_wrong_in_it(tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text("/**:\n  ros_parameters:\n    a: 1\n")
    assert start_fault(RCL("Couldn't parse"), ["--ros-args", "--params-file", str(file)]) == (
        f"--params-file: {file}: 'ros_parameters' below '/**' must be 'ros__parameters', with two underscores"
    )


def test_rcl_error_becomes_one_sentence(tmp_path):
    missing = tmp_path / "robto.yaml"
    error = RCL("failed to initialize rcl: Couldn't parse params file: 'x'. Error: e\n, at /a/b.c:1, at /c/d.c:2")
    assert start_fault(error, ["--ros-args", "--params-file", str(missing)]) == (
        f"--params-file: cannot read the configuration {missing}: No such file or directory"
    )
    assert start_fault(error, []) == "Couldn't parse params file: 'x'. Error: e"
    level = RCL("failed to initialize rcl: Couldn't parse log level: '--log-level loud'. Error: Argument …")
    assert start_fault(level, ["--log-level", "loud"]).startswith("--log-level loud: one of debug, info, warn, error")
    assert start_fault(ZeroDivisionError(), []) is None
