"""ROS 2 parameter files as ROS reads them: for which node a block is, dotted names, and numbers like 1e-3."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

NODES = ("contact_suite", "contact_mode", "impact_set", "constraint_stability", "contact_markers")
_BLOCK = "ros__parameters"
_ANY = ("*", "**")


class _Loader(yaml.SafeLoader):
    """YAML 1.1 takes 1e-3 for a string, since it has no dot; ROS takes it for the number that was meant."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def read_parameters(path: str | Path) -> dict[str, Any]:
    """The parameters of the suite's nodes in a file, as nested mappings.

    A file may hold blocks for several nodes, of other packages too: used are those for any node (``/**``) and those of
    :data:`NODES`, in any namespace, the later over the earlier; a single block is used whatever its node is called. A
    file without blocks is the mapping itself.

    Raises:
        ValueError: naming the file, and what is wrong with it.
    """
    try:
        data = yaml.load(Path(path).read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise ValueError(f"cannot read the configuration {path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid YAML: {error}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path} holds no mapping of parameters")
    blocks = list(_blocks("", data))
    if not blocks:
        return data
    chosen = [block for node, block in blocks if node in _ANY + NODES]
    if not chosen and len(blocks) > 1:
        named = ", ".join(node for node, _ in blocks)
        raise ValueError(f"{path} has parameters of {named}; one block for /** or {NODES[0]} is needed")
    merged: dict[str, Any] = {}
    for block in chosen or [blocks[0][1]]:
        _merge(merged, block)
    return merged


def _blocks(name: str, data: Mapping[Any, Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Name of the node, without its namespace, and parameters of each block, in the order of the file."""
    for key, value in data.items():
        if key == _BLOCK:
            yield name.rpartition("/")[2], value if isinstance(value, dict) else {}
        elif isinstance(value, dict):
            yield from _blocks(str(key), value)


def _merge(into: dict[str, Any], block: Mapping[Any, Any]) -> None:
    """``a.b: 1`` is ``a: {b: 1}``; what stands there already is replaced leaf by leaf."""
    for key, value in block.items():
        first, _, rest = str(key).partition(".")
        if not rest and not isinstance(value, dict):
            into[first] = value
            continue
        if not isinstance(into.get(first), dict):
            into[first] = {}
        _merge(into[first], {rest: value} if rest else value)
