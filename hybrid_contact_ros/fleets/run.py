"""A fleet's recordings through the workers of a Dask cluster, on this machine or on many."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import dask
from distributed import Client, Future, KilledWorker, LocalCluster, as_completed

from hybrid_contact_ros.fleets import worker_setup
from hybrid_contact_ros.fleets.dataset import Dataset
from hybrid_contact_ros.fleets.find import Bag
from hybrid_contact_ros.fleets.job import NotScoredError, Task, content_of, run

ATTEMPTS = 3
"""How often a worker may die under a recording before it is given up: the recording may well be the cause."""
_AHEAD = 4  # recordings that are handed out for each processor of the cluster
_FOLD = 5000  # rows, after which the journal goes into its partitions
_POLL, _GONE = 0.02, 120.0  # s, between two looks for what is done; without any worker, after which none will come
_FETCH = 30.0  # s, for a row that is done; it takes milliseconds
_START = "120s"  # in which a process must have started: a busy machine takes longer than Dask expects


@dataclass(slots=True)
class Outcome:
    """What came of a run.

    Attributes:
        scored, skipped: number of recordings. same: those of ``skipped`` whose content was scored under another name.
        damaged: those of ``scored`` that could not be read to their end, with what is missing.
        without_truth: how many of ``scored`` have no topic of the truth that was asked for.
        failed: reasons, by URL. deaths: sentences on workers that died.
        robot_seconds: length of what was scored, s. seconds: how long it took.
    """

    scored: int = 0
    skipped: int = 0
    same: int = 0
    damaged: dict[str, str] = field(default_factory=dict)
    without_truth: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    deaths: list[str] = field(default_factory=list)
    robot_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Hours of robot time that were scored in a minute."""
        return self.robot_seconds / 60.0 / self.seconds if self.seconds > 0.0 else 0.0


@contextmanager
def cluster(jobs: int | None, scheduler: str | None) -> Iterator[Client]:
    """A client of so many processes on this machine, or of the cluster at an address.

    Raises:
        ValueError: there is no scheduler at that address, or it has no worker.
    """
    settings = {
        "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
        "distributed.comm.timeouts.connect": _START,
        # A process that died is started again; one that takes longer than this would be closed for good.
        "distributed.deploy.lost-worker-timeout": _START,
    }
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(settings))
        if scheduler is None:
            local = LocalCluster(
                n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=":0",
                silence_logs=logging.CRITICAL, preload=[worker_setup.__name__],
            )  # fmt: skip
            client = stack.enter_context(Client(stack.enter_context(local)))
        else:
            try:
                client = stack.enter_context(Client(scheduler, timeout="10s"))
            except (OSError, ValueError) as error:
                raise ValueError(f"no Dask scheduler answers at {scheduler}: {error}") from error
            if not client.scheduler_info()["workers"]:
                raise ValueError(f"the scheduler at {scheduler} has no worker: start `dask worker {scheduler}` on them")
        yield client


def score(
    bags: list[Bag],
    task: Task,
    dataset: Dataset,
    client: Client,
    tell: Callable[[Outcome, int], None] = lambda outcome, total: None,
    again: bool = False,
) -> Outcome:
    """Score all recordings that have not been, and keep each as soon as it is done.

    Args:
        tell: called with what there is so far, and how many recordings there are, after each of them and each death.
        again: also score those that have been scored with the same configuration.

    Raises:
        WorkersGoneError: all workers are gone, and none came within ``_GONE`` s. What was scored is kept.
    """
    outcome, begin, total = Outcome(), time.monotonic(), len(bags)
    known, contents = ({}, frozenset()) if again else dataset.done(task.hash)
    waiting = iter([bag for bag in bags if known.get(bag.url) != bag.fingerprint])
    outcome.skipped = sum(known.get(bag.url) == bag.fingerprint for bag in bags)
    doing: dict[Future, Bag] = {}
    completed = as_completed()
    suspects: list[Bag] = []
    rows = 0

    def submit(bag: Bag | None, function: Callable[..., Any]) -> bool:
        if bag is None:
            return False
        # Nothing is kept on the workers between recordings, so that nothing is lost with them.
        future = client.submit(function, *((bag,) if function is content_of else (bag, task)), pure=False)
        doing[future] = bag
        completed.add(future)
        return True

    # What has another name or time than before may still be what was scored: that is told by its content.
    first = content_of if contents else run
    client.subscribe_topic("all", lambda event: _died(event, outcome))
    try:
        while len(doing) < _AHEAD * max(1, sum(client.nthreads().values())) and submit(next(waiting, None), first):
            pass
        tell(outcome, total)
        for future in _as_they_end(completed, client):
            bag = doing.pop(future)
            found, error = _ended(future)
            if isinstance(found, str):
                if found not in contents:
                    submit(bag, run)
                    continue
                dataset.same(bag.url, bag.fingerprint, task.hash)
                outcome.skipped += 1
                outcome.same += 1
            elif isinstance(error, KilledWorker | LostRowError):
                suspects.append(bag)  # perhaps it only waited on a worker that died of another one
            else:
                rows += _kept(found, error, bag, task, dataset, outcome)
            submit(next(waiting, None), first)
            if rows >= _FOLD:
                dataset.fold()
                rows = 0
            outcome.seconds = time.monotonic() - begin
            tell(outcome, total)
        for bag in suspects:  # one at a time: now it is known of which one workers die
            alone = as_completed([client.submit(run, bag, task, pure=False)])
            for future in _as_they_end(alone, client):
                _kept(*_ended(future), bag, task, dataset, outcome)
            tell(outcome, total)
    finally:
        client.unsubscribe_topic("all")
    dataset.fold()
    dataset.failed(outcome.failed)
    outcome.seconds = time.monotonic() - begin
    return outcome


class WorkersGoneError(ValueError):
    """Nobody is left who could score."""


def _as_they_end(completed: as_completed, client: Client) -> Iterator[Future]:
    """The futures of ``completed``, to which more may be added meanwhile, as they end.

    Raises:
        WorkersGoneError: none ended, and there was no worker for ``_GONE`` s.
    """
    seen = looked = time.monotonic()
    while not completed.is_empty():
        batch = completed.next_batch(block=False)
        yield from batch
        now = time.monotonic()
        if batch:
            seen = looked = now
        elif now - looked > 1.0:
            looked = now
            seen = now if client.nthreads() else seen
            if now - seen > _GONE:
                raise WorkersGoneError(
                    f"all workers are gone, and none came within {_GONE:g} s; what was scored is kept: the same "
                    "command goes on with the rest"
                )
        if not batch:
            time.sleep(_POLL)


class LostRowError(RuntimeError):
    """The worker that had scored a recording is gone, and its row with it."""


def _ended(future: Future) -> tuple[Any, BaseException | None]:
    """What a future that has ended came to: its result, or else its error.

    Its worker may die before the result is fetched. Dask then has it computed anew, and whoever asks waits, at times
    for ever: a row that does not come at once is lost.
    """
    try:
        return future.result(timeout=_FETCH), None
    except (TimeoutError, asyncio.TimeoutError):
        future.cancel()
        return None, LostRowError()
    except (Exception, asyncio.CancelledError) as error:
        return None, error


def _kept(found: Any, error: BaseException | None, bag: Bag, task: Task, dataset: Dataset, outcome: Outcome) -> int:
    """Keep what came of a recording; 1 where that is a row."""
    if error is not None:
        outcome.failed[bag.url] = _reason(error)
        return 0
    row = found["row"]
    dataset.add(row, found["timing"])
    outcome.scored += 1
    outcome.robot_seconds += row["duration"]
    outcome.without_truth += bool(task.truth) and not json.loads(row["truth"])
    if row["damage"]:
        outcome.damaged[bag.url] = row["damage"]
    return 1


def _reason(error: BaseException) -> str:
    if isinstance(error, NotScoredError):
        return str(error)
    if isinstance(error, LostRowError):
        return "its worker died when it had been scored; the same command tries it again"
    if isinstance(error, KilledWorker):
        return (
            f"its worker died each of {ATTEMPTS} times, also when nothing else ran: is there too little memory for it, "
            "or does it crash a library? "
            "`hybrid-contact replay` on it alone shows what happens"
        )
    return f"a fault of hybrid_contact_ros: {type(error).__name__}: {error}"


def _died(event: tuple[float, Any], outcome: Outcome) -> None:
    """Note the death of a worker, of which the scheduler tells."""
    told = event[1]
    if isinstance(told, dict) and told.get("action") == "remove-worker" and not told.get("expected"):
        had = len(told.get("processing-tasks") or ())
        said = f"the worker {told.get('worker')} is gone; its {had} recordings are done anew by others"
        outcome.deaths.append(said)
        print(f"hybrid-contact fleet: {said}", file=sys.stderr, flush=True)
