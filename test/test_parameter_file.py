"""Parameter files are read as ROS 2 reads them."""

from __future__ import annotations

import textwrap

import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.parameter_file import block_nodes, check_for_nodes, read_parameters


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


def test_names_that_stand_twice_are_merged_as_ros_merges_them(file):
    path = file("""
        /**:
          ros__parameters: {floating_base: false, contacts: {left: {link: l}, left: {radius: 0.1}}}
        /**:
          ros__parameters: {observer: {gain: 3.0}}
    """)
    assert read_parameters(path) == {
        "floating_base": False, "contacts": {"left": {"link": "l", "radius": 0.1}}, "observer": {"gain": 3.0},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", 8),
        ("0x10", 16),
        ("y", True),
        ("off", False),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("5.", 5.0),
    ],
)
def test_scalars_are_what_ros_takes_them_for(file, text, value):
    assert read_parameters(file(f"/**:\n  ros__parameters:\n    a: {text}")) == {"a": value}


BLOCK = "/**:\n  ros__parameters:\n    "
REFUSED = {
    "ros_parameters": ("/**:\n  ros_parameters: {floating_base: false}", "'ros_parameters' must be 'ros__parameters'"),
    "ros__parameter": ("/**:\n  ros__parameter: {floating_base: false}", "'ros__parameter' must be 'ros__parameters'"),
    "ros__params": ("contact_suite:\n  ros__params: {floating_base: false}", "'ros__params' must be 'ros__parameters'"),
    "ros_params": ("/robot/contact_suite:\n  ros_params: {a: 1}", "'ros_params' must be 'ros__parameters'"),
    "a typo in one of two blocks": (
        "/**:\n  ros__parameters: {a: 1}\ncontact_suite:\n  ros_parameters: {b: 1}",
        "'ros_parameters' below 'contact_suite' must be 'ros__parameters'",
    ),
    "the level is missing": ("/**: {floating_base: false}", "there is no 'ros__parameters' below '/\\*\\*'"),
    "the level is missing in one of two blocks": (
        "/**:\n  ros__parameters: {a: 1}\ncontact_suite: {b: 1}", "outside|no 'ros__parameters' below 'contact_suite'",
    ),
    "nothing below a node": ("/**:", "there is no 'ros__parameters' below '/\\*\\*'"),
    "the level at the top": ("ros__parameters: {floating_base: false}", "stands at the top: a node's name"),
    "the node below the level": (
        "ros__parameters:\n  contact_suite: {floating_base: false}", "stands at the top: a node's name",
    ),
    "a node within the block": (BLOCK + "contact_suite: {floating_base: false}", "the order is node, ros__parameters"),
    "the level twice": (BLOCK + "ros__parameters: {a: 1}", "the order is node, ros__parameters, parameters"),
    "an empty block": ("/**:\n  ros__parameters:", "holds no parameters"),
    "parameters outside": ("floating_base: false\n/**:\n  ros__parameters: {a: 1}", "'floating_base' stands outside"),
    "tabs": ("/**:\n\tros__parameters: {a: 1}", "Indent with spaces"),
    "a nested list": (BLOCK + "contacts: {foot: {points: [[0.0, 1.0], [2.0]]}}", "foot.points is a list of lists"),
    "mixed numbers": (BLOCK + "contacts: {foot: {points: [0, 0, -0.3]}}", "points mixes .* write 0.0 instead of 0"),
    "mixed kinds": (BLOCK + "contact_names: [foot, 1]", "contact_names mixes int, str"),
    "mappings in a list": (BLOCK + "contacts: [{a: 1}]", "contacts must be a list of numbers, or of strings"),
    "no value": (BLOCK + "urdf_file:\n    floating_base: true", "urdf_file has no value"),
    "an alias": (BLOCK + "{a: &x 1, b: *x}", "aliases"),
    "a list as a name": (BLOCK + "{? [1] : 2}", "a list cannot be a name"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_ros_refuses_is_refused_in_words(tmp_path, case):
    text, words = REFUSED[case]
    (tmp_path / "robot.yaml").write_text(text)
    with pytest.raises(ValueError, match=words) as refused:
        read_parameters(tmp_path / "robot.yaml")
    assert "robot.yaml" in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(ValueError, match=r"robot\.yaml"):
        check_for_nodes(tmp_path / "robot.yaml")


# ROS takes these, and makes something of them that nobody meant.
STRICTER = ("a node within the block", "the level twice", "mappings in a list")


@pytest.mark.parametrize("case", [case for case in REFUSED if case not in STRICTER])
def test_ros_does_refuse_them(tmp_path, case):
    rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not there: ./run setup installs it")
    (tmp_path / "robot.yaml").write_text(REFUSED[case][0])
    context = rclpy.Context()
    with pytest.raises(Exception, match=r"robot\.yaml"):
        context.init(["--ros-args", "--params-file", str(tmp_path / "robot.yaml")])


def test_what_ros_takes_is_no_fault_whatever_nodes_it_is_for(file):
    check_for_nodes(file(""))
    check_for_nodes(file("feet: {ros__parameters: {}}\nhands: {ros__parameters: {a: [1, 2]}}"))


def test_a_file_without_blocks_is_none_for_nodes(file, tmp_path):
    with pytest.raises(ValueError, match=r"robot\.yaml: 'floating_base' stands outside of ros__parameters"):
        check_for_nodes(file("floating_base: false"))
    with pytest.raises(ValueError, match=r"cannot read the configuration .* Is a directory"):
        check_for_nodes(tmp_path)


def test_a_file_that_is_not_there_is_told_with_its_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"configuration robto\.yaml: No such file or directory \(/.*robto\.yaml\)$"):
        check_for_nodes("robto.yaml")


@pytest.mark.parametrize("name", ["go2", "anymal", "arm", "cube"])
def test_the_shipped_files_are_read(root, name):
    check_for_nodes(root / "config" / f"{name}.yaml")
    assert read_parameters(root / "config" / f"{name}.yaml")["contact_names"]


def test_files_without_blocks_are_told_from_those_that_nodes_read(file):
    assert block_nodes(file("/**: {ros__parameters: {floating_base: false}}")) == ["**"]
    assert block_nodes(file("/arm/dog: {ros__parameters: {floating_base: false}}")) == ["dog"]
    assert block_nodes(file("floating_base: false")) == []
