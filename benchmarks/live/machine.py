"""Processor time: of processes, of the machine, and of what others took of it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

_TICK = 1.0 / os.sysconf("SC_CLK_TCK")
_BUSY = (0, 1, 2, 5, 6)  # user, nice, system, irq, softirq of the first line of /proc/stat
_STEAL = 7


def processor_time(pid: int) -> float:
    """Seconds of processor time of a process with all its threads, to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3), which Python does not have for processes


@dataclass(frozen=True)
class Reading:
    """Clocks read at one time, s. ``busy`` and ``stolen`` are of all processors together, ``used`` by process."""

    wall: float
    busy: float
    stolen: float
    used: tuple[float, ...]


def read(pids: list[int]) -> Reading:
    """Read all clocks now."""
    with open("/proc/stat") as file:
        fields = [int(x) for x in file.readline().split()[1:]]
    used = tuple(processor_time(pid) for pid in pids)
    busy, stolen = _TICK * sum(fields[i] for i in _BUSY), _TICK * fields[_STEAL]
    return Reading(time.perf_counter(), busy, stolen, used)


@dataclass(frozen=True)
class Load:
    """What happened between two readings.

    Attributes:
        seconds: that passed.
        used: processor time of each process, s.
        others: share of the machine that other processes and its host took, 0 to 1.
        stolen: share that the host of a virtual machine took alone.
    """

    seconds: float
    used: tuple[float, ...]
    others: float
    stolen: float


def between(first: Reading, last: Reading, processors: int | None = None) -> Load:
    """The load from ``first`` to ``last``, which were read of the same processes."""
    seconds = last.wall - first.wall
    used = tuple(b - a for a, b in zip(first.used, last.used, strict=True))
    stolen = last.stolen - first.stolen
    others = max(0.0, last.busy - first.busy + stolen - sum(used))
    whole = seconds * (processors or os.cpu_count() or 1)
    return Load(seconds, used, others / whole, stolen / whole)
