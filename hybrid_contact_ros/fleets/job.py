"""One recording scored by one process: what a worker of a fleet does.

The row that comes out depends on recording, configuration, model and version alone, and so is the same on every worker:
post-impact sets are complete, and what does depend on the machine (times) stands apart in ``timing``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import fsspec

from hybrid_contact_ros import __version__
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.fleets.columns import score_columns
from hybrid_contact_ros.fleets.find import Bag
from hybrid_contact_ros.kernels.warm import enable_compilation
from hybrid_contact_ros.replay.score import score_bag
from hybrid_contact_ros.truths.asked import Asked
from hybrid_contact_ros.truths.levels import Levels

_BLOCK = 1 << 22  # bytes that are read at once
_NAME = re.compile(r"[^\w.-]+")
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done with every recording.

    Attributes:
        config: of the estimator; None where ``estimate`` is scored. urdf: text of the model, or None for that of each
        recording. streams: topics and namespace, as keyword arguments of ``score_bag``.
        truth: what to score against, each ``[NAMES=]TOPIC``. Topics that a recording does not have are left out of its
        score.
        robot: name of the robot, or None: the namespace of the recording, or else the URDF's name.
        pattern: regular expression whose first group is the robot's name in the URL of a recording, or None.
        results: folder for the result file of each recording (docs/scoring.md), or None for none.
        estimate: topic of another estimator that is scored instead of the engine. threshold: between loads, as of
        ``score_bag``. definitions: folder of message packages, and ``defined`` the hash of what is in it.
        version: of the package on the machine that started it.
    """

    config: EstimatorConfig | None
    urdf: str | None
    streams: dict[str, Any]
    truth: tuple[str, ...] = ()
    robot: str | None = None
    pattern: str | None = None
    results: str | None = None
    estimate: str | None = None
    threshold: Levels | None = None
    definitions: str | None = None
    defined: str = ""
    version: str = __version__

    @property
    def hash(self) -> str:
        """Of all that decides what a recording's scores are, beside the recording itself."""
        config = None if self.config is None else asdict(self.config)
        levels = None if self.threshold is None else asdict(self.threshold)
        told = (config, self.urdf, sorted(self.streams.items()), self.truth, self.robot, self.pattern, self.estimate)
        text = json.dumps([*told, levels, self.defined, self.version], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


class NotScoredError(ValueError):
    """A recording that cannot be scored, and why; the fault is not one of this package."""


def content_of(bag: Bag) -> str:
    """Hash of the content of a recording, whatever its name is.

    Raises:
        NotScoredError: it cannot be read.
    """
    try:
        with _here(bag) as path:
            return _hash(path)
    except (ValueError, OSError, ImportError) as error:
        raise NotScoredError(str(error) or type(error).__name__) from error


def run(bag: Bag, task: Task) -> dict[str, Any]:
    """Score one recording.

    Returns:
        ``{"row": columns of the dataset, "timing": what depends on the machine}``.

    Raises:
        NotScoredError: it cannot be scored; the text says why.
    """
    if task.version != __version__:
        raise NotScoredError(
            f"the worker on {socket.gethostname()} has hybrid_contact_ros {__version__}, and the fleet was started by "
            f"{task.version}: install the same version on all"
        )
    begin = time.perf_counter()
    try:
        with _here(bag) as path:
            try:
                row, timing = _scored(bag, path, task, _hash(path))
            except (ValueError, OSError) as error:
                raise NotScoredError(str(error).replace(str(path), bag.url) or type(error).__name__) from error
    except (OSError, ImportError) as error:
        raise NotScoredError(str(error) or type(error).__name__) from error
    timing.update(seconds=time.perf_counter() - begin, worker=f"{socket.gethostname()}:{os.getpid()}")
    return {"row": row, "timing": timing}


@contextmanager
def _here(bag: Bag) -> Iterator[Path]:
    """The recording as a local path: its own where it has one, or a copy while the block runs."""
    if "://" not in bag.url:
        yield Path(bag.url)
        return
    with tempfile.TemporaryDirectory(prefix="hybrid-contact-") as scratch:
        folder = Path(scratch) / Path(bag.url).name
        single = len(bag.files) == 1 and bag.files[0][1] == bag.url
        for name, url in bag.files:
            target = Path(scratch) / name if single else folder / name
            target.parent.mkdir(exist_ok=True)
            fs, path = fsspec.core.url_to_fs(url)
            fs.get_file(path, str(target))
        yield Path(scratch) / bag.files[0][0] if single else folder


def _hash(path: Path) -> str:
    """Of the content of a recording, whatever its name is."""
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
    for file in files:
        digest.update(f"{file.suffix} {file.stat().st_size}\n".encode())
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _scored(bag: Bag, path: Path, task: Task, content: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with BagReader(path) as reader:
        namespace, urdf, truth = _found(reader, task)
        start_ns = reader.start_ns
    enable_compilation()  # a worker may have frozen its kernels on another robot
    place = None if task.results is None else Path(task.results) / f"{content}.result.zip"
    made = score_bag(
        path, task.config, urdf, place, **task.streams, truth=truth, estimate=task.estimate, threshold=task.threshold,
        definitions=task.definitions, complete_sets=True, force=True,
    ).summary  # fmt: skip
    day = datetime.fromtimestamp(start_ns * 1e-9, timezone.utc)
    faults = made.get("faults") or {}
    row = {
        "robot": _robot(bag, task, namespace, urdf or ""),
        "day": day.strftime("%Y-%m-%d"),
        "bag": bag.url,
        "content": content,
        "fingerprint": bag.fingerprint,
        "configuration": task.hash,
        "urdf": None if urdf is None else hashlib.sha256(urdf.encode()).hexdigest(),
        "version": __version__,
        "start_ns": start_ns,
        **{name: made.get(name) for name in ("duration", "states", "messages", "sets", "events")},
        "faults": sum(faults.values()),
        "faults_by_reason": json.dumps(dict(sorted(faults.items()))),
        # A copy's own path is another one each time.
        "damage": None if made["damage"] is None else made["damage"].replace(str(path), bag.url),
        "warnings": json.dumps([text.replace(str(path), bag.url) for text in made["warnings"]]),
        "contacts": json.dumps(made["contacts"]),
        "truth": json.dumps(truth),
        "estimate": task.estimate,
        **score_columns(made["scores"], made["self_consistency"]),
    }
    compute = (made.get("latency") or {}).get("compute") or {}
    return row, {f"compute_{name}": compute.get(name) for name in ("p50", "p99")}


def _found(reader: BagReader, task: Task) -> tuple[str, str | None, list[str]]:
    """Of a recording its namespace, the text of its model (None where none is needed), and what it has of the truth."""
    names = {key: value for key, value in task.streams.items() if key != "twist_in_world"}
    streams, urdf = Streams(**names), task.urdf
    if task.estimate is None and task.config is not None:
        streams = streams.found_in(reader, task.config.floating_base and task.config.input.base == "odometry")
        urdf = str(streams.urdf(reader, task.urdf))
    truth = [text for text in task.truth if streams.absolute(Asked.parsed(text).topic) in reader.topics]
    return streams.namespace, urdf, truth


def _robot(bag: Bag, task: Task, namespace: str, urdf: str) -> str:
    """The name of the robot, fit for the name of a folder."""
    name = task.robot
    if name is None and task.pattern is not None:
        found = re.search(task.pattern, bag.url)
        if found is None:
            raise NotScoredError(f"--robot-pattern {task.pattern} does not match {bag.url}")
        name = found[1]
    if name is None:
        model = re.search(r"<robot\b[^>]*\bname\s*=\s*[\"']([^\"']*)[\"']", urdf)
        name = namespace.strip("/") or (model[1] if model else "")
    return _NAME.sub("_", name).strip("._") or UNKNOWN
