"""The result file of a replay, from its session and its counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.replay.result import ReplayResult
from hybrid_contact_ros.replay.session import Session
from hybrid_contact_ros.results.file import Result, result_path
from hybrid_contact_ros.results.summary import latencies, span, truth_groups


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
    if not path.absolute().parent.is_dir():
        raise BagError(f"{path} cannot be written: there is no folder {path.absolute().parent}")
    return path


def result_of(replayed: ReplayResult, session: Session, about: dict[str, Any]) -> Result:
    """The result of a replay that has ended.

    Args:
        about: what :func:`~hybrid_contact_ros.results.summary.described` says of program, robot and parameters.
    """
    assert session.recorder is not None
    tables = session.recorder.tables()
    names, board = session.estimator.model.contact_names, session.board
    groups = truth_groups(names, board.groups if board is not None else ())
    if groups and board is not None:
        stamps, closed = board.truths
        order = np.argsort(stamps, kind="stable")
        tables["truth"] = {"stamp_ns": stamps[order], "closed": closed[order]}
    states = tables["states"]
    summary = about | {
        "bag": str(replayed.bag),
        **span(states["stamp_ns"]),
        "messages": replayed.messages,
        "groups": groups,
        "reasons": session.recorder.reasons,
        "latency": latencies(states["compute_ns"], states["input_age_ns"]),
        "scores": None if replayed.scores is None else replayed.scores.to_dict(),
        "faults": replayed.faults,
        "last_fault": None if replayed.last_fault is None else list(replayed.last_fault),
        "warnings": list(replayed.warnings),
        "damage": replayed.damage,
    }
    return Result(summary, tables)
