"""All parameters with unit, default, range and meaning, from where they are declared: docs/parameters.md and
``hybrid-contact check --explain``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any

from hybrid_contact_ros.config import Contact, Environment, EstimatorConfig
from hybrid_contact_ros.config_live import is_tunable
from hybrid_contact_ros.config_own import LIVE, MarkerConfig, NodeConfig

_NAMED = {"contacts": Contact, "environments": Environment}
_HEAD = """# Parameters

Every parameter of the suite, as `ros2 param describe` shows it too. This page is made by
`python -m hybrid_contact_ros.parameter_table`, and a test holds it to what the code declares. The same names stand in
parameter files for nodes and for replay; `hybrid-contact check robot.urdf robot.yaml --explain [WORD]` prints them with
the values that a file gives them.

NAME stands for the names in `contact_names` and `environment_names`.

Those marked *live* may be set while a node is active (`ros2 param set`): they are checked as a whole with all others,
and apply from the next state on, or are refused with the reason. What belongs together is set at once, by an atomic
request. All others are read when the node is configured.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One parameter.

    Attributes:
        name: dotted; entries of ``contacts`` and ``environments`` have NAME in it.
        default: None where there is none.
        low, high: closed range; None where there is none.
        live: whether it may be set while a node is configured.
    """

    name: str
    default: Any
    unit: str
    low: float | None
    high: float | None
    text: str
    live: bool

    @property
    def group(self) -> str:
        """The first part of the name; empty where it has one part alone."""
        return self.name.rpartition(".")[0].split(".")[0]

    @property
    def range(self) -> str:
        """The range as text; empty where there is none."""
        return "" if self.low is None or self.high is None else f"{self.low:g} … {self.high:g}"


def rows() -> Iterator[Row]:
    """Every parameter: those of the estimator by group, and then those of the nodes alone."""
    for spec in fields(EstimatorConfig):
        group = spec.default_factory() if callable(spec.default_factory) else None
        if spec.name in _NAMED:
            yield from (_row(f"{spec.name}.NAME.{leaf.name}", leaf) for leaf in fields(_NAMED[spec.name]))
        elif group is not None and is_dataclass(group):
            yield from (_row(f"{spec.name}.{leaf.name}", leaf) for leaf in fields(group))
        else:
            yield _row(spec.name, spec)
    for kind in (NodeConfig, MarkerConfig):
        yield from (_row(leaf.name, leaf) for leaf in fields(kind))


def group_texts() -> dict[str, str]:
    """What each group is about, by its name."""
    texts = {name: _first(kind) for name, kind in _NAMED.items()}
    for spec in fields(EstimatorConfig):
        group = spec.default_factory() if callable(spec.default_factory) else None
        if group is not None and is_dataclass(group):
            texts[spec.name] = _first(type(group))
    return texts


def written(value: Any) -> str:
    """A value as a parameter file would have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(written(item) for item in value)}]"
    return f"{value:g}" if isinstance(value, float) else repr(value).replace("'", '"')


def markdown() -> str:
    """docs/parameters.md."""
    own, parts = {spec.name for kind in (NodeConfig, MarkerConfig) for spec in fields(kind)}, [_HEAD]
    every = list(rows())
    parts += [_table("General", "", [row for row in every if not row.group and row.name not in own])]
    for name, text in group_texts().items():
        parts.append(_table(f"`{name}`", text, [row for row in every if row.group == name]))
    text = "Parameters of nodes, which the estimator and replay do not know."
    parts.append(_table("Nodes alone", text, [row for row in every if row.name in own]))
    return "\n".join(parts)


def _table(title: str, text: str, listed: list[Row]) -> str:
    lines = [f"## {title}", "", *([text, ""] if text else [])]
    lines += ["| parameter | default | unit | range | |", "|---|---|---|---|---|"]
    for row in listed:
        meaning = row.text.replace("|", "\\|") + (" *(live)*" if row.live else "")
        lines.append(f"| `{row.name}` | `{written(row.default)}` | {row.unit} | {row.range} | {meaning} |")
    return "\n".join(lines) + "\n"


def _row(name: str, spec: Field[Any]) -> Row:
    default = spec.default if spec.default is not MISSING else None
    meta = spec.metadata
    return Row(name, default, meta["unit"], meta["low"], meta["high"], meta["text"], name in LIVE or is_tunable(name))


def _first(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split())


if __name__ == "__main__":
    print(markdown(), end="")
