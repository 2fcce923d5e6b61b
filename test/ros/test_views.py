"""The views for RViz, Foxglove, PlotJuggler and the diagnostic aggregator name what the suite really publishes."""

import json
import re
from importlib import import_module
from xml.etree import ElementTree

import pytest
import yaml
from rosidl_parser.definition import AbstractNestedType, BasicType, NamespacedType

from hybrid_contact_ros.nodes.contact_markers import ContactMarkersNode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode

TYPES = {
    "contact_mode": "hybrid_contact_msgs/msg/ContactMode",
    "constraint_stability": "hybrid_contact_msgs/msg/ConstraintStability",
    "impact_set": "hybrid_contact_msgs/msg/PostImpactVelocitySet",
    "contact_markers": "visualization_msgs/msg/MarkerArray",
    "diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    "robot_description": "std_msgs/msg/String",
}


RVIZ = {  # classes and the properties that each reads, of ros2/rviz f7112b1a (plugins_description.xml, addBuiltInClass)
    "rviz_common/Displays": set(),
    "rviz_common/Views": set(),
    "rviz_default_plugins/Grid": {"Cell Size", "Plane Cell Count", "Alpha", "Color", "Plane", "Reference Frame"},
    "rviz_default_plugins/RobotModel": {"Alpha", "Description Source", "Description Topic", "TF Prefix"},
    "rviz_default_plugins/MarkerArray": {"Topic", "Namespaces"},
    "rviz_default_plugins/TF": {"Show Names", "Show Axes", "Show Arrows", "Marker Scale"},
    "rviz_default_plugins/MoveCamera": set(),
    "rviz_default_plugins/Orbit": {"Distance", "Pitch", "Yaw", "Focal Point", "Near Clip Distance", "Target Frame"},
}
RVIZ_QOS = {
    "Depth": range(1000),
    "History Policy": ("System Default", "Keep Last", "Keep All"),
    "Reliability Policy": ("System Default", "Reliable", "Best Effort"),
    "Durability Policy": ("System Default", "Transient Local", "Volatile"),
}


@pytest.fixture
def views(root):
    return root / "config" / "views"


def plain(topic: str, path: list[str]) -> bool:
    """Whether a path of fields (``contacts[0]``, ``force_model``, ``z``) of a topic ends in a number."""
    kind = NamespacedType(TYPES[topic].split("/")[:2], TYPES[topic].split("/")[2])
    for part in path:
        name, index = re.fullmatch(r"(\w+)(\[\d+\])?", part).groups()
        assert isinstance(kind, NamespacedType), f"{path}: {name} is a field of a number"
        message = getattr(import_module(".".join(kind.namespaces)), kind.name)
        fields = dict(zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True))
        assert name in fields, f"{topic}: there is no {name} in {path}"
        kind = fields[name]
        assert isinstance(kind, AbstractNestedType) == bool(index), f"{path}: {name} is an array, or is none"
        kind = kind.value_type if isinstance(kind, AbstractNestedType) else kind
    return isinstance(kind, BasicType)


def test_a_field_that_is_not_there_would_be_seen():
    with pytest.raises(AssertionError, match="no gaps in"):
        plain("contact_mode", ["contacts[0]", "gaps"])
    with pytest.raises(AssertionError, match="is an array"):
        plain("contact_mode", ["contacts", "gap"])


def test_every_path_of_the_foxglove_layout_is_a_number_of_a_message(views):
    layout = json.loads((views / "foxglove.json").read_text())
    panels = layout["configById"]
    paths = [each["value"] for panel in panels.values() for each in panel.get("paths", ())]
    assert len(paths) > 20
    for path in paths:
        topic, *rest = path.removeprefix("/").split(".")
        assert plain(topic, rest), path
    named = [*panels["3D!contacts"]["topics"], panels["RawMessages!impact"]["topicPath"]]
    assert {name.removeprefix("/") for name in named} <= set(TYPES)


def test_every_panel_of_the_foxglove_layout_is_placed_once(views):
    layout = json.loads((views / "foxglove.json").read_text())

    def leaves(part):
        return [part] if isinstance(part, str) else leaves(part["first"]) + leaves(part["second"])

    assert sorted(leaves(layout["layout"])) == sorted(layout["configById"])


def test_every_curve_of_the_plotjuggler_layout_is_a_number_of_a_message(views):
    curves = [each.get("name") for each in ElementTree.parse(views / "plotjuggler.xml").iter("curve")]
    assert len(curves) > 30
    for curve in curves:
        topic, *rest = curve.removeprefix("/").split("/")
        assert plain(topic, rest), curve


def test_the_displays_of_rviz_listen_to_topics_of_the_suite(views):
    view = yaml.safe_load((views / "contacts.rviz").read_text())
    displays = {each["Name"]: each for each in view["Visualization Manager"]["Displays"]}
    assert displays["Contacts"]["Topic"]["Value"] == "contact_markers"
    assert displays["Robot"]["Description Topic"]["Value"] == "robot_description"


def test_rviz_has_the_classes_and_properties_that_its_view_names(views):
    """RViz passes over what it does not know, and shows nothing."""
    view = yaml.safe_load((views / "contacts.rviz").read_text())
    manager = view["Visualization Manager"]
    assert set(manager["Global Options"]) == {"Background Color", "Fixed Frame", "Frame Rate"}
    parts = [*view["Panels"], *manager["Displays"], *manager["Tools"], manager["Views"]["Current"]]
    assert len(parts) == 8
    for part in parts:
        assert set(part) - {"Class", "Name", "Enabled", "Value"} <= RVIZ[part["Class"]], part["Class"]
        for topic in (value for name, value in part.items() if name.endswith("Topic")):
            policies = {name: value for name, value in topic.items() if name != "Value"}
            assert all(value in RVIZ_QOS[name] for name, value in policies.items())


@pytest.mark.parametrize(("make", "group"), [(ContactSuiteNode, "prediction"), (ContactMarkersNode, "markers")])
def test_the_analyzers_take_the_diagnostics_of_the_nodes(bench, views, make, group):
    tree = yaml.safe_load((views / "diagnostics.yaml").read_text())["analyzers"]["ros__parameters"]
    analyzers = tree["contacts"]["analyzers"]
    bench.diagnosis(bench.start(make, configure=False))
    names = {status.name for message in bench.diagnostics for status in message.status}
    assert names
    for name in names:
        assert [key for key, value in analyzers.items() if any(part in name for part in value["contains"])] == [group]
