"""Which parameters of the estimator may be set while a node is active: tolerances, and the intervals of impacts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from hybrid_contact_ros.config import EstimatorConfig

_GROUPS = {"activation": (), "stability": (), "landing": ("remembered",), "impact": ("law", "directions")}
"""Groups that may be set, but for these of their parameters: memory, kernels or arrays are made for what they are."""


def is_tunable(name: str) -> bool:
    """Whether a parameter, by its dotted name, may be set while the node is active."""
    group, _, leaf = name.partition(".")
    return group in _GROUPS and leaf != "" and leaf not in _GROUPS[group]


def check_tuning(old: EstimatorConfig, new: EstimatorConfig) -> None:
    """Raise ValueError where ``new`` differs from ``old`` in more than what may be set between two states."""
    for name, (before, after) in _differences(old, new):
        if not is_tunable(name):
            raise ValueError(f"{name} is read at configure: it cannot change from {before!r} to {after!r} in between")


def _differences(old: EstimatorConfig, new: EstimatorConfig) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for spec in fields(EstimatorConfig):
        before, after = getattr(old, spec.name), getattr(new, spec.name)
        if before == after:
            continue
        if not is_dataclass(before):
            yield spec.name, (before, after)
            continue
        for leaf in fields(before):
            pair = getattr(before, leaf.name), getattr(after, leaf.name)
            if pair[0] != pair[1]:
                yield f"{spec.name}.{leaf.name}", pair
