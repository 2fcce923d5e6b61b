"""What to say when no suite is heard: what is there instead, and what to look at."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

_MOST = 8  # names that are listed


def nothing_heard(
    topics: Mapping[str, Sequence[str]], nodes: Sequence[str], namespace: str | None, others: Sequence[str] = ()
) -> str:
    """A few lines. ``topics``: the names that were discovered, with their types; ``nodes``: full names of other nodes;
    ``namespace``: the one that was asked for; ``others``: namespaces that do have a suite."""
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    reach = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") or "SUBNET"
    asked = f" in the namespace {namespace}" if namespace else ""
    unset = "" if "ROS_DOMAIN_ID" in os.environ else " is not set"
    lines = [f"No suite is heard{asked} on ROS domain {domain} (ROS_DOMAIN_ID{unset}; discovery range {reach})."]
    if others:
        return "\n".join([*lines, f"There is one in {_listed(others)}: give that as --namespace, or none for all."])
    own = {name: kinds for name, kinds in topics.items() if not name.startswith(("/rosout", "/parameter_events"))}
    if not nodes and not own:
        lines.append(
            "Nothing else is there either: no node and no topic. Is the robot on, on this network, and of this domain?"
        )
        return "\n".join(lines)
    spaces = sorted({name.rpartition("/")[0] or "/" for name in own})
    lines.append(
        f"There are {len(own)} topics in {_listed(spaces) or 'no namespace'}, of {len(nodes)} nodes: {_listed(nodes)}."
    )
    inputs = [name for name in own if name.rpartition("/")[2] in ("joint_states", "odom", "robot_description")]
    if inputs:
        lines.append(
            f"A robot is there ({_listed(sorted(inputs))}), but no suite beside it: start contact_suite in its "
            "namespace (ros2 launch hybrid_contact_ros contact_suite.launch.py namespace:=…)."
        )
    else:
        lines.append("None of them is of type hybrid_contact_msgs/msg/ContactMode, and no diagnostics are of a suite.")
    return "\n".join(lines)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
