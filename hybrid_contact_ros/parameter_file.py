"""ROS 2 parameter files, read as ROS reads them: blocks for nodes, dotted names, and numbers like 1e-3."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

NODES = ("contact_suite", "contact_mode", "impact_set", "constraint_stability", "contact_markers")
_BLOCK = "ros__parameters"
_ANY = ("*", "**")


class _Loader(yaml.SafeLoader):
    """Takes scalars and repeated names as rcl does.

    By YAML 1.1 as PyYAML reads it, 1e-3 is a string, since it has no dot, and so is y, while 2020-01-01 is a date and
    1:30 is a number. Of a name that stands twice, PyYAML silently drops the first entry; ROS merges both, the later
    over the earlier.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "ROS allows no aliases (*name)", self.peek_event().start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int | float | bool):
                raise yaml.constructor.ConstructorError(None, None, "a list cannot be a name", key_node.start_mark)
            value = self.construct_object(value_node, deep=True)
            if isinstance(value, dict) and isinstance(mapping.get(key), dict):
                _merge(mapping[key], value)
            else:
                mapping[key] = value
        return mapping


_Loader.yaml_implicit_resolvers = {}
_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_mapping)
for _tag, _pattern in (
    ("bool", r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"),
    ("int", r"[-+]?(?:0x[0-9a-fA-F]+|[0-9]+)"),
    ("float", r"[-+]?(?:(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN"),
    ("null", r"~|null|Null|NULL|"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), None)
_Loader.bool_values = {**_Loader.bool_values, "y": True, "n": False}


def read_parameters(path: str | Path) -> dict[str, Any]:
    """The parameters of the suite's nodes in a file, as nested mappings.

    A file may hold blocks for several nodes, of other packages too. The blocks for any node (``/**``) and for those of
    :data:`NODES`, in any namespace, are used, the later over the earlier; a single block is used whatever its node is
    called. A file without blocks is the mapping itself. What ROS would refuse in a file with blocks is refused here
    too.

    Raises:
        ValueError: naming the file, and what is wrong with it.
    """
    data = _load(path)
    blocks = list(_blocks("", data))
    try:
        _check_levels(data, bool(blocks))
        for node, block in blocks:
            _check_block(node, block)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
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


def block_nodes(path: str | Path) -> list[str]:
    """Names, without namespaces, of the nodes for which the file has parameters.

    Raises:
        ValueError: as of :func:`read_parameters`.
    """
    return [node for node, _ in _blocks("", _load(path))]


def check_for_nodes(path: str | Path) -> None:
    """Refuse a file that ROS would refuse, whatever nodes it is for. An empty file has no parameters, and is fine.

    Raises:
        ValueError: naming the file, and what is wrong with it.
    """
    data = _load(path, empty=True)
    try:
        _check_levels(data, blocks=True)
        for node, block in _blocks("", data):
            _check_block(node, block)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _load(path: str | Path, empty: bool = False) -> dict[Any, Any]:
    try:
        data = yaml.load(Path(path).read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        whole = Path(path).absolute()
        where = "" if str(whole) == str(path) else f" ({whole})"
        raise ValueError(f"cannot read the configuration {path}: {error.strerror}{where}") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        hint = ". Indent with spaces: YAML allows no tabs" if "\\t" in str(error) else ""
        raise ValueError(f"{path} is not valid YAML: {' '.join(str(error).split())}{hint}") from None
    if data is None and empty:
        return {}
    if not isinstance(data, dict):
        raise ValueError(f"{path} holds no mapping of parameters")
    return data


def _blocks(name: str, data: Mapping[Any, Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Name of the node, without its namespace, and parameters of each block, in the order of the file."""
    for key, value in data.items():
        if key == _BLOCK:
            yield name.rpartition("/")[2], value if isinstance(value, dict) else {}
        elif isinstance(value, dict):
            yield from _blocks(str(key), value)


# ---------------------------------------------------------------------- what ROS would refuse, said in words


def _check_levels(data: Mapping[Any, Any], blocks: bool, above: str = "") -> None:
    """Check names and levels down to ``ros__parameters``; without any block the data may be the parameters."""
    for key, value in data.items():
        name = str(key)
        if key == _BLOCK:
            if not above:
                raise ValueError(f"{_BLOCK} stands at the top: a node's name belongs above it, or /**: for any node")
            if not isinstance(value, dict):
                raise ValueError(f"{_BLOCK} of {above!r} holds no parameters")
            continue
        if _meant_as_block(name):
            raise ValueError(f"{name!r} below {above or 'nothing'!r} must be {_BLOCK!r}, with two underscores")
        if not blocks and not above and isinstance(value, dict | None) and _is_node(name):
            inside = next((str(k) for k in value or () if _meant_as_block(str(k))), None)
            hint = f"{inside!r} must be" if inside else "there is no"
            raise ValueError(f"{hint} {_BLOCK!r} below {name!r}: /**: {{{_BLOCK}: {{…}}}} is how ROS has it")
        if blocks:
            if not isinstance(value, dict):
                raise ValueError(f"{name!r} stands outside of {_BLOCK}: parameters belong below it")
            if not list(_blocks("", value)) and not any(_meant_as_block(str(k)) for k in value):
                raise ValueError(f"there is no {_BLOCK!r} below {name!r}")
            _check_levels(value, blocks, name)


def _check_block(node: str, block: Mapping[Any, Any]) -> None:
    for key, value in block.items():
        if isinstance(value, dict) and (key == _BLOCK or _is_node(str(key))):
            raise ValueError(f"{key!r} stands below {_BLOCK}: the order is node, {_BLOCK}, parameters")
    _check_values("", block)


def _check_values(prefix: str, data: Mapping[Any, Any]) -> None:
    for key, value in data.items():
        name = f"{prefix}{key}"
        if value is None:
            raise ValueError(f"{name} has no value; leave it out, or give it one")
        if isinstance(value, dict):
            _check_values(f"{name}.", value)
        elif isinstance(value, list):
            _check_list(name, value)


def _check_list(name: str, value: list[Any]) -> None:
    if any(isinstance(item, list) for item in value):
        raise ValueError(
            f"{name} is a list of lists: ROS has none; write all numbers in one, as in [x1, y1, z1, x2, …]"
        )
    if any(isinstance(item, dict) or item is None for item in value):
        raise ValueError(f"{name} must be a list of numbers, or of strings; it holds {value!r}")
    kinds = {type(item) for item in value}
    if kinds == {int, float}:
        whole = next(item for item in value if isinstance(item, int))
        raise ValueError(
            f"{name} mixes whole numbers and others, which ROS refuses: write {float(whole)!r} instead of {whole!r}"
        )
    if len(kinds) > 1:
        raise ValueError(f"{name} mixes {', '.join(sorted(kind.__name__ for kind in kinds))}: {value!r}")


def _meant_as_block(name: str) -> bool:
    return name != _BLOCK and bool(get_close_matches(name, (_BLOCK, "ros__params"), 1, 0.8))


def _is_node(name: str) -> bool:
    return name.startswith("/") or name in _ANY + NODES


def _merge(into: dict[str, Any], block: Mapping[Any, Any]) -> None:
    """Merge a block into what there is, leaf by leaf; ``a.b: 1`` is ``a: {b: 1}``."""
    for key, value in block.items():
        first, _, rest = str(key).partition(".")
        if not rest and not isinstance(value, dict):
            into[first] = value
            continue
        if not isinstance(into.get(first), dict):
            into[first] = {}
        _merge(into[first], {rest: value} if rest else value)
