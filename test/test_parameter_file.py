"""Parameter files are read as ROS 2 reads them."""

from __future__ import annotations

import textwrap

import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.parameter_file import read_parameters


@pytest.fixture
def file(tmp_path):
    def write(text: str):
        path = tmp_path / "robot.yaml"
        path.write_text(textwrap.dedent(text))
        return path

    return write


def test_a_file_without_blocks_is_the_mapping_itself(file):
    assert read_parameters(file("floating_base: false\nactivation: {gap_on: 0.001}")) == {
        "floating_base": False,
        "activation": {"gap_on": 0.001},
    }


def test_blocks_are_found_in_any_namespace_and_those_of_other_packages_left_alone(file):
    path = file("""
        /my_robot:
          contact_suite:
            ros__parameters: {activation: {gap_on: 0.002}}
        /my_robot/controller:
          ros__parameters: {gain: 3.0}
        /**:
          ros__parameters: {floating_base: false}
    """)
    assert read_parameters(path) == {"activation": {"gap_on": 0.002}, "floating_base": False}


def test_later_blocks_replace_single_parameters_of_earlier_ones(file):
    path = file("""
        /**:
          ros__parameters: {activation: {gap_on: 0.002, gap_off: 0.01}}
        contact_suite:
          ros__parameters: {activation: {gap_on: 0.004}}
    """)
    assert read_parameters(path)["activation"] == {"gap_on": 0.004, "gap_off": 0.01}


def test_dotted_names_are_nested_ones(file):
    config = EstimatorConfig.from_file(
        file("""
        /**:
          ros__parameters:
            activation: {gap_off: 0.009}
            activation.gap_on: 0.002
            contacts.foot.link: shank
            qos_overrides./joint_states.subscription.depth: 5
    """)
    )
    assert (config.activation.gap_on, config.activation.gap_off) == (0.002, 0.009)
    assert config.contacts["foot"].link == "shank"


@pytest.mark.parametrize(("text", "value"), [("1e-3", 1e-3), ("2E+1", 20.0), (".5e-2", 0.005), ("1.5e-3", 1.5e-3)])
def test_numbers_with_exponents_are_numbers(file, text, value):
    assert read_parameters(file(f"activation: {{gap_on: {text}}}"))["activation"]["gap_on"] == value


def test_a_single_block_is_that_of_a_renamed_node_and_of_several_none_is_guessed(file):
    assert read_parameters(file("feet: {ros__parameters: {floating_base: false}}")) == {"floating_base": False}
    with pytest.raises(ValueError, match=r"has parameters of feet, hands; one block for /\*\* or contact_suite"):
        read_parameters(file("feet: {ros__parameters: {}}\nhands: {ros__parameters: {}}"))


def test_what_is_no_parameter_file_is_refused_by_name(tmp_path, file):
    with pytest.raises(ValueError, match=r"robot\.yaml holds no mapping"):
        read_parameters(file("- 1"))
    with pytest.raises(ValueError, match="is not valid YAML"):
        read_parameters(file("a: ["))
    (tmp_path / "image.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"image\.yaml is not valid YAML"):
        read_parameters(tmp_path / "image.yaml")
    with pytest.raises(ValueError, match="cannot read the configuration"):
        read_parameters(tmp_path / "none.yaml")
