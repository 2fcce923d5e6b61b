"""ROS parameters from the configuration of the estimator, where names, types, defaults, units and ranges stand once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node

from hybrid_contact_ros.config import IGNORED, Contact, Environment, EstimatorConfig
from hybrid_contact_ros.config_live import is_tunable
from hybrid_contact_ros.config_own import LIVE, OWN
from hybrid_contact_ros.parameter_values import checked

_AT_CONFIGURE, _LIVE = "read at configure", "may be set at any time"
_NAMED = {"contacts": ("contact_names", Contact), "environments": ("environment_names", Environment)}


def declare_config(node: Node) -> None:
    """Declare every parameter of :class:`EstimatorConfig` that has a fixed name, and the two lists of names.

    Entries below ``contacts.NAME`` and ``environments.NAME`` can be declared only when the names are known, which
    :func:`read_config` does. All of them are read when the node is configured, and are then fixed but for those of
    :mod:`~hybrid_contact_ros.config_live`.
    """
    default = EstimatorConfig()
    for spec in fields(EstimatorConfig):
        if spec.name in _NAMED:
            continue
        if is_dataclass(spec.type) or spec.metadata.get("text") is None:
            group = getattr(default, spec.name)
            for leaf in fields(group):
                name = f"{spec.name}.{leaf.name}"
                _declare(node, name, leaf, _LIVE if is_tunable(name) else _AT_CONFIGURE)
        else:
            _declare(node, spec.name, spec)
    for names, _ in _NAMED.values():
        text = f"names of the entries of {'contacts' if names == 'contact_names' else 'environments'}, in order"
        initial = ["ground"] if names == "environment_names" else []
        _declare_value(node, names, initial, ParameterDescriptor(description=text))


def declare_own(node: Node, *names: str) -> None:
    """Declare parameters of the node itself (``config_own.OWN``), which are not of the estimator.

    Those of ``config_own.LIVE`` may be set at any time, and are looked at where they matter.
    """
    for name in names:
        _declare(node, name, OWN[name], _LIVE if name in LIVE else _AT_CONFIGURE)
        if name in LIVE:
            live_parameters(node).add(name)


def read_config(node: Node, changes: Mapping[str, Any] | None = None) -> EstimatorConfig:
    """The configuration that the parameters of the node make, with these changes of values by dotted name.

    Raises:
        ValueError: a parameter cannot be used; the text names it and says what would be right. It is also an error
        where
            a parameter was given that nobody declared, most likely a misspelling, and where there is no contact.
    """
    data: dict[str, Any] = {}
    changes = changes or {}
    for spec in fields(EstimatorConfig):
        if spec.name in _NAMED:
            data[spec.name] = _read_named(node, spec.name, *_NAMED[spec.name])
        elif spec.metadata.get("text") is None:
            group = getattr(EstimatorConfig(), spec.name)
            names = {leaf.name: f"{spec.name}.{leaf.name}" for leaf in fields(group)}
            data[spec.name] = {
                leaf: changes[name] if name in changes else _value(node, name) for leaf, name in names.items()
            }
        else:
            data[spec.name] = _value(node, spec.name)
    for text in faults(node).values():
        raise ValueError(text)
    given = node._parameter_overrides
    strangers = [name for name in given if not node.has_parameter(name) and name.split(".")[0] not in IGNORED]
    if strangers:
        near = get_close_matches(strangers[0], [*node._parameters, *IGNORED], 1)
        raise ValueError(f"unknown parameter {strangers[0]}" + (f"; is {near[0]} meant?" if near else ""))
    config = EstimatorConfig.from_mapping(data)
    try:
        config.require_contacts()
    except ValueError as error:
        # ROS passes over the blocks of other nodes without a word: this is how a wrong name of a node shows here.
        raise ValueError(
            f"{error}; a parameter file gives them to this node below /**: or {node.get_fully_qualified_name()}:"
        ) from None
    return config


def _read_named(node: Node, key: str, names_key: str, kind: type) -> dict[str, Any]:
    names = [str(name) for name in (_value(node, names_key) or [])]
    given = {name.split(".")[1] for name in node._parameter_overrides if name.startswith(f"{key}.")}
    unlisted = sorted(given - set(names))
    if unlisted and names_key in node._parameter_overrides:
        raise ValueError(f"{key}.{unlisted[0]} has parameters, but {names_key} does not list it")
    entries: dict[str, Any] = {}
    for name in names:
        for leaf in fields(kind):
            if not node.has_parameter(f"{key}.{name}.{leaf.name}"):
                _declare(node, f"{key}.{name}.{leaf.name}", leaf)
        entries[name] = {leaf.name: _value(node, f"{key}.{name}.{leaf.name}") for leaf in fields(kind)}
    return entries


def _value(node: Node, name: str) -> Any:
    value = node.get_parameter(name).value
    return value.tolist() if hasattr(value, "tolist") else value


def _declare(node: Node, name: str, leaf: Field[Any], when: str = _AT_CONFIGURE) -> None:
    default = leaf.default if leaf.default is not MISSING else None
    meta = leaf.metadata
    descriptor = ParameterDescriptor(description=f"{meta['text']} [{meta['unit']}]", additional_constraints=when)
    low, high = meta.get("low"), meta.get("high")
    if isinstance(default, bool | str | tuple) or low is None or high is None:
        pass
    elif isinstance(default, int):
        descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=0)]
    else:
        descriptor.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=float(high), step=0.0)]
    # A YAML file may say 1 where a float is meant, and an empty list has no type; from_mapping checks both.
    descriptor.dynamic_typing = isinstance(default, tuple | float)
    _declare_value(node, name, list(default) if isinstance(default, tuple) else default, descriptor)
    if name in faults(node):
        try:
            checked(leaf, name, node._parameter_overrides[name].value)  # says it with the unit
        except ValueError as error:
            faults(node)[name] = str(error)


def _declare_value(node: Node, name: str, default: Any, descriptor: ParameterDescriptor) -> None:
    """Declare one parameter. A value of the wrong type or out of range is kept in ``faults``, and configure refuses
    it."""
    if isinstance(default, list) and not default:
        descriptor.dynamic_typing = True  # an empty list has no type of its own
    try:
        node.declare_parameter(name, default, descriptor)
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        node.declare_parameter(name, default, descriptor, ignore_override=True)
        faults(node)[name] = f"parameter {name}: {error}"


def live_parameters(node: Node) -> set[str]:
    """Names of the parameters that may be set while the node is configured."""
    if not hasattr(node, "live_parameters"):
        node.live_parameters = {"use_sim_time"}  # type: ignore[attr-defined]
    return node.live_parameters  # type: ignore[attr-defined,no-any-return]


def faults(node: Node) -> dict[str, str]:
    """Names of the parameters whose declaration refuses the given value, with what is wrong with it. Who sets such a
    parameter anew must delete its entry."""
    if not hasattr(node, "parameter_faults"):
        node.parameter_faults = {}  # type: ignore[attr-defined]
    return node.parameter_faults  # type: ignore[attr-defined,no-any-return]
