"""Columns of a fleet's dataset: what a row says of a recording's scores."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from hybrid_contact_ros.scoring.scores import HORIZONS

_TEXT, _INT, _FLOAT = pa.string(), pa.int64(), pa.float64()
_AHEAD = [f"{kind}_{round(1e3 * h)}ms" for kind in ("touchdown", "liftoff") for h in HORIZONS]
_OWN = [f"consistency_{ahead}" for ahead in _AHEAD]

SCHEMA = pa.schema(
    [
        *((name, _TEXT) for name in ("bag", "content", "fingerprint", "configuration", "urdf", "version")),
        ("start_ns", _INT),
        ("duration", _FLOAT),
        *((name, _INT) for name in ("states", "messages", "sets", "events", "faults")),
        *((name, _TEXT) for name in ("faults_by_reason", "damage", "warnings", "contacts", "truth", "estimate")),
        ("scored_states", _INT),
        *((name, _FLOAT) for name in ("accuracy", "f1", "brier")),
        *((name, _INT) for name in ("impacts", "impacts_with_set", "impacts_within_10")),
        *((f"{kind}_delay", _FLOAT) for kind in ("touchdown", "liftoff")),
        *((f"{ahead}_error", _FLOAT) for ahead in (*_AHEAD, *_OWN)),
        *((f"{ahead}_{what}", _INT) for ahead in (*_AHEAD, *_OWN) for what in ("events", "missed", "false")),
        *((name, _INT) for name in ("consistency_events", "consistency_chatter")),
        *((name, _TEXT) for name in ("scores", "self_consistency")),
    ]
)
"""Columns of a row beside those of the partition; docs/fleets.md tells their units."""


def score_columns(scores: dict[str, Any] | None, own: dict[str, Any] | None) -> dict[str, Any]:
    """The scores that most questions are about, a column each; everything is in ``scores`` and ``self_consistency``.

    Args:
        scores, own: those of the result's summary (docs/scoring.md); None where there is none.
    """
    told, said = scores or {}, own or {}
    impacts = told.get("impacts") or {}
    columns = {
        "scored_states": told.get("states"),
        "accuracy": told.get("accuracy"),
        "f1": told.get("f1"),
        "brier": told.get("brier"),
        "impacts": impacts.get("true"),
        "impacts_with_set": impacts.get("with_set"),
        "impacts_within_10": impacts.get("contained_10"),
        "consistency_events": said.get("events"),
        "consistency_chatter": said.get("chatter"),
        "scores": None if scores is None else json.dumps(scores),
        "self_consistency": None if own is None else json.dumps(own),
    }
    for kind in ("touchdown", "liftoff"):
        columns[f"{kind}_delay"] = (told.get(f"{kind}_delay") or {}).get("median")
        for prefix, found in (("", told), ("consistency_", said)):
            for timing in found.get(kind) or ():
                ahead = f"{prefix}{kind}_{round(1e3 * timing['horizon'])}ms"
                columns |= {
                    f"{ahead}_error": timing["error_median"],
                    f"{ahead}_events": timing["events"],
                    f"{ahead}_missed": timing["missed"],
                    f"{ahead}_false": timing["false"],
                }
    return columns
