"""Identified parameters as a ROS parameter file: the given one with the values that are new, each with what it was
found from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hybrid_contact_ros.identification.intervals import Found
from hybrid_contact_ros.identification.parameters import REFERENCES, Parameters
from hybrid_contact_ros.identification.proposals import Proposal

_WIDTH = 110


def noise_file(found: Parameters, given: Mapping[str, Any]) -> str:
    """The text of a parameter file.

    Args:
        given: the parameters of the file that was identified with, as of
            :func:`~hybrid_contact_ros.parameter_file.read_parameters`; comments in it are not kept.
    """
    data = _copied(given)
    for path, value in found.values.items():
        node = data
        *above, name = path.split(".")
        for each in above:
            node = node.setdefault(each, {})
        node[name] = list(value) if isinstance(value, tuple) else value
    if "environments" in data and "environment_names" not in data:
        data["environment_names"] = list(data["environments"])
    said = {p.path: p for p in found.proposals}
    lines = ["# Written by hybrid-contact identify. " + _of_what(found)]
    lines += _wrapped(_tried(found), "# ")
    lines += ["/**:", "  ros__parameters:"]
    lines += _lines(data, said, found, "", 4)
    lines += ["", "# Measured, and kept at what it was:"]
    for p in found.proposals:
        if p.path not in found.values:
            lines += _wrapped(
                f"{p.path}: {_text(p.default)}; {'; '.join(_said(f) for f in p.found if f.known)}", "#   "
            )
            lines += _wrapped(p.kept or "it is what was measured", "#     kept: ")
    lines += ["", "# Measured; no parameter takes it:"]
    used = {f.name for p in found.proposals for f in p.found}
    unknown: dict[str, list[str]] = {}
    for f in found.measured.all():
        if f.known and f.name not in used:
            lines += _wrapped(_said(f), "#   ")
        elif not f.known:
            unknown.setdefault(f.why, []).append(f.name)
    if unknown:
        lines += ["", "# Not identifiable from this recording:"]
        for why, names in unknown.items():
            lines += _wrapped(f"{'; '.join(names)}: {why}", "#   ")
    return "\n".join(lines) + "\n"


def _of_what(found: Parameters) -> str:
    episodes = "one recording" if found.episodes == 1 else f"{found.episodes} recordings"
    return f"{found.states} states of {episodes}, {'with a truth' if found.with_truth else 'without a truth'}."


def _tried(found: Parameters) -> str:
    kind = REFERENCES[found.reference]
    if not found.default.tells:
        return (
            "Too few events in the part that was held out: nothing could be tried, and what decides keeps its values."
        )
    return (
        f"On the part that values were not taken from ({kind}): {found.default.score:.4f} with the given file, "
        f"{found.score.score:.4f} with this one."
    )


def _lines(
    data: Mapping[str, Any], said: Mapping[str, Proposal], found: Parameters, path: str, indent: int
) -> Iterator[str]:
    pad = " " * indent
    for key, value in data.items():
        name = f"{path}{key}"
        if isinstance(value, Mapping):
            yield f"{pad}{key}:"
            yield from _lines(value, said, found, f"{name}.", indent + 2)
            continue
        if name in found.values:
            p = said.get(name)
            yield from _wrapped(
                _comment(p) if p is not None and name not in found.turned else f"chosen by the {found.reference}",
                f"{pad}# ",
            )
            if p is not None:
                yield f"{pad}# was {_text(p.default)}"
        yield f"{pad}{key}: {_text(value)}"


def _comment(p: Proposal) -> str:
    return "; ".join([*(_said(f) for f in p.found if f.known), *([p.note] if p.note else [])])


def _said(f: Found) -> str:
    unit = "" if f.unit == "-" else f" {f.unit}"
    return f"{f.name}: {f.value:.4g}{unit} (95 % {f.low:.4g} to {f.high:.4g}; {f.samples} samples in {f.blocks} blocks)"


def _text(value: Any) -> str:
    """A value as YAML that ROS reads with the type of the parameter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = f"{value:.10g}"
        return text if any(c in text for c in ".en") else f"{text}.0"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(x) for x in value)}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _copied(data: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _copied(v) if isinstance(v, Mapping) else v for k, v in data.items()}


def _wrapped(text: str, start: str) -> list[str]:
    import textwrap

    later = start if start.strip() == "#" else start[: len(start) - len(start.lstrip("# "))] or start
    return textwrap.wrap(text, _WIDTH, initial_indent=start, subsequent_indent="#     " if "kept" in start else later)
