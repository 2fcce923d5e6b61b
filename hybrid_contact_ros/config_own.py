"""Parameters that nodes have beside those of the estimator; they may stand in the same file as these."""

from __future__ import annotations

from dataclasses import dataclass, fields

from hybrid_contact_ros.parameter_values import leaf


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """What every node with an engine asks beside the configuration of the engine."""

    robot_description: str = leaf("", "-", None, None, "URDF text; empty: urdf_file, or the topic robot_description")
    urdf_file: str = leaf("", "-", None, None, "URDF file; used when robot_description is empty")
    autostart: bool = leaf(
        False, "-", None, None, "configure and activate as soon as all that is needed is there, without a manager"
    )
    reconfigure_on_new_description: bool = leaf(
        False,
        "-",
        None,
        None,
        "start anew by itself when another robot description comes; else diagnostics warn until it is done",
    )
    serialized_io: bool = leaf(
        True, "-", None, None, "read and publish messages as their bytes; false: by message objects, which takes longer"
    )
    twist_in_world: bool = leaf(False, "-", None, None, "the odometry's twist is in world axes instead of the base's")


@dataclass(frozen=True, slots=True)
class MarkerConfig:
    """What the node contact_markers draws."""

    marker_rate: float = leaf(30.0, "Hz", 0.1, 1000.0, "greatest rate of the markers")
    marker_size: float = leaf(0.03, "m", 1e-4, 10.0, "diameter of a contact point")


# These may be set at any time. All others are read when the node is configured, and are then fixed.
LIVE = ("robot_description", "urdf_file", "autostart", "reconfigure_on_new_description", "marker_rate", "marker_size")
OWN = {spec.name: spec for kind in (NodeConfig, MarkerConfig) for spec in fields(kind)}
