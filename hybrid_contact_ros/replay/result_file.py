"""The result file of a replay, from its session and its counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hybrid_contact_ros.bags.folder import check_folder
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.replay.result import ReplayResult
from hybrid_contact_ros.replay.session import Session
from hybrid_contact_ros.results.file import Result, result_path
from hybrid_contact_ros.results.scored import with_truth
from hybrid_contact_ros.results.summary import latencies, span


def check_result(result: str | Path | None, force: bool) -> Path | None:
    """Check that a result can be written, before any work is done for it. The answer is its whole name.

    Raises:
        BagError: it cannot.
    """
    if result is None:
        return None
    path = result_path(result)
    if path.is_dir():
        raise BagError(f"{path} is a folder: name a file for the result")
    if path.exists() and not force:
        raise BagError(f"{path} exists already: name another file, or replace it (--force)")
    check_folder(path)
    return path


def result_of(replayed: ReplayResult, session: Session, about: dict[str, Any], truth: Sequence[str] = ()) -> Result:
    """The result of a replay that has ended.

    Args:
        about: what :func:`~hybrid_contact_ros.results.summary.described` says of program, robot and parameters.
        truth: topics that were scored against.
    """
    assert session.recorder is not None
    tables = session.recorder.tables()
    states = tables["states"]
    summary = about | {
        "bag": str(replayed.bag),
        **span(states["stamp_ns"], replayed.duration),
        "messages": replayed.messages,
        "sets": replayed.sets,
        "events": replayed.events,
        "groups": [],
        "estimate": None,
        "truth": list(truth),
        "reasons": session.recorder.reasons,
        "latency": latencies(states["compute_ns"], states["input_age_ns"]),
        "faults": replayed.faults,
        "last_fault": None if replayed.last_fault is None else list(replayed.last_fault),
        "warnings": list(replayed.warnings),
        "damage": replayed.damage,
    }
    board = session.board
    return with_truth(Result(summary, tables), None if board is None else board.truth_told())
