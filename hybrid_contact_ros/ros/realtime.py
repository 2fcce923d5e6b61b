"""What a node asks of the operating system so that states are answered on time: ``realtime.*`` of its parameters.

Nothing of this is needed to run. What the process may not do is said in the log and in the diagnostics, with what would
give it the right, and the node goes on without.

Which thread gets what:

- The executor's thread, which answers states, gets ``realtime.priority``, and so do the threads of the middleware: a
  state that was not received cannot be answered, and above the executor they would interrupt it for messages that wait
  until it has answered anyway.
- The thread of the impact sets gets one less. With an ordinary priority, any process that takes its processor while it
  has Python's lock would stop the states too.
- The thread of ``~/predict_impact``, those of the numerical libraries, and what is no part of the node stay ordinary.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hybrid_contact_ros.config import RealtimeConfig

_PR_SET_TIMERSLACK = 29
_SLACK_NS = 1000
_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4
_CAP_IPC_LOCK = 1 << 14
_Scheduling = tuple[set[int], int, os.sched_param]
_TASKS, _STATUS = Path("/proc/self/task"), Path("/proc/self/status")


def precise_waits() -> None:
    """Let timed waits of this thread, and of those that it starts, end within a microsecond. Linux adds 50 by default,
    which is more than the time after which a thread asks another one for Python's lock."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(_SLACK_NS), 0, 0, 0)


class Realtime:
    """Applies a :class:`~hybrid_contact_ros.config.RealtimeConfig` to this process, and takes it back.

    Attributes:
        faults: a sentence on each setting that could not be made.
        made: what was set, in words.
    """

    def __init__(self, logger: Any) -> None:
        self._logger = logger
        self._undo: list[Callable[[], object]] = []
        self._settled: set[int] = set()
        self._collect = False
        self.faults: list[str] = []
        self.made: list[str] = []

    def begin(self, config: RealtimeConfig, sets: Iterable[int] = (), requests: Iterable[int] = ()) -> None:
        """Make the settings. Call it in the executor's thread when the node is complete: everything that answering a
        state touches is in memory then, and all threads are there.

        Args:
            sets, requests: native ids of the threads that compute impact sets, and of those that answer requests.
        """
        self.end()
        sets, requests = tuple(sets), tuple(requests)
        before = _scheduling(threading.get_native_id())
        self._garbage(config.garbage_collection)
        if config.lock_memory:
            self._try("lock_memory", self._lock_memory)
        if config.cpus:
            self._try("cpus", lambda: self._pin(config.cores, [t for t in _threads() if t not in (*sets, *requests)]))
        if config.worker_cpus or config.cpus:
            name = "worker_cpus" if config.worker_cpus else "cpus"
            self._try(
                name, lambda: self._pin(config.worker_cores or config.cores, [*sets, *requests], "those of sets ")
            )
        if config.priority:
            self._try("priority", lambda: self._raise(config.priority, sets))
        if config.cpus or config.priority:
            self._settled = set(_threads())
            self._undo.append(lambda: self._newcomers(before))
        for fault in self.faults:
            self._logger.warning(fault)
        if self.made:
            self._logger.info(f"real time: {', '.join(self.made)}")

    def idle(self) -> None:
        """Nothing is to be answered now."""
        if self._collect:
            gc.collect()

    def end(self) -> None:
        """Take everything back."""
        while self._undo:
            with suppress(OSError):  # a thread that has ended
                self._undo.pop()()
        self._collect = False
        self.faults, self.made = [], []

    def _newcomers(self, before: _Scheduling) -> None:
        """Threads that were started meanwhile, as the middleware does for a new peer, have what their parent had."""
        cores, policy, param = before
        for thread in set(_threads()) - self._settled:
            with suppress(OSError):
                os.sched_setaffinity(thread, cores)
                os.sched_setscheduler(thread, policy, param)

    def _try(self, name: str, make: Callable[[], str]) -> None:
        try:
            self.made.append(make())
        except (OSError, AttributeError) as error:  # no right to it, or not Linux
            text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.faults.append(f"realtime.{name} has no effect: {text}")

    def _garbage(self, how: str) -> None:
        gc.freeze()  # the garbage collector must not walk through the compiler's objects again and again
        self._undo.append(gc.unfreeze)
        if how != "automatic" and gc.isenabled():
            gc.disable()
            self._undo.append(gc.enable)
            self.made.append(f"garbage collection {how}")
        self._collect = how == "idle"

    def _lock_memory(self) -> str:
        libc = ctypes.CDLL(None, use_errno=True)
        limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        if limit != resource.RLIM_INFINITY and not _capabilities() & _CAP_IPC_LOCK:
            # Later allocations beyond the limit would fail, and end the node.
            raise OSError(0, f"memory is not locked, for {limit // 1024} kB may be: 'ulimit -l unlimited' is needed")
        # On fault: locking also what was reserved and never touched would more than double the node's memory.
        if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT):
            raise OSError(0, f"memory is not locked: {os.strerror(ctypes.get_errno())}")
        self._undo.append(libc.munlockall)
        return "memory locked"

    def _pin(self, cores: tuple[int, ...], threads: Iterable[int], which: str = "threads ") -> str:
        used: set[int] = set()
        for thread in threads:
            with suppress(ProcessLookupError):  # it has just ended
                before = os.sched_getaffinity(thread)
                try:
                    os.sched_setaffinity(thread, cores)
                except OSError as error:
                    here = ", ".join(str(core) for core in sorted(before))
                    text = f"{which}cannot run on {_listed(cores)} ({error.strerror}); they may on {here}"
                    raise OSError(0, text) from None
                self._undo.append(lambda thread=thread, before=before: os.sched_setaffinity(thread, before))  # type: ignore[misc]
                used |= os.sched_getaffinity(thread)
        unknown = sorted(set(cores) - used)
        if used and unknown:  # Linux takes the others without a word
            self.faults.append(f"{which}are not on {_listed(unknown)}, which this process does not have")
        return f"{which}on {_listed(sorted(used))}"

    def _raise(self, priority: int, sets: Iterable[int]) -> str:
        me = threading.get_native_id()
        chosen = {me: priority, **dict.fromkeys(_foreign(me), priority)}
        chosen.update(dict.fromkeys(sets, max(1, priority - 1)))
        for thread, level in chosen.items():
            with suppress(ProcessLookupError):
                policy, param = os.sched_getscheduler(thread), os.sched_getparam(thread)
                try:
                    os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(level))
                except OSError as error:
                    limit, _ = resource.getrlimit(resource.RLIMIT_RTPRIO)
                    text = f"SCHED_FIFO {level} is refused ({error.strerror}): rtprio is limited to {limit} (ulimit -r)"
                    raise OSError(0, text) from None
                self._undo.append(
                    lambda thread=thread, policy=policy, param=param: os.sched_setscheduler(thread, policy, param)  # type: ignore[misc]
                )
        return f"SCHED_FIFO {priority}"


def _scheduling(thread: int) -> _Scheduling:
    return os.sched_getaffinity(thread), os.sched_getscheduler(thread), os.sched_getparam(thread)


def _threads() -> list[int]:
    return sorted(int(task.name) for task in _TASKS.iterdir())


def _foreign(thread: int) -> list[int]:
    """The threads of the middleware: not Python's, and with names of their own, unlike those of numerical libraries."""
    known = {each.native_id for each in threading.enumerate()}
    name = _name(thread)
    return [other for other in _threads() if other not in known and _name(other) not in ("", name)]


def _name(thread: int) -> str:
    with suppress(OSError):
        return (_TASKS / str(thread) / "comm").read_text().strip()
    return ""


def _capabilities() -> int:
    """The effective ones of this process, as a mask."""
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith("CapEff:"):
                return int(line.split()[1], 16)
    return 0


def _listed(cores: Sequence[int]) -> str:
    return f"core{'s' * (len(cores) > 1)} {', '.join(str(core) for core in cores)}"
