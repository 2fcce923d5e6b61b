"""Threads that are run soon after they wake up, without any rights: short slices of Linux's fair scheduler.

Since 6.12 a thread that wakes up takes the processor from one whose slice is longer, as far as its fair share allows.
With equal slices it waits until the other one's ends, which is noticed at the next tick of the system only, up to 4 ms
later. The other one may be the node's own thread that computes an impact set. Shares stay as they were. Older kernels
take the request and ignore it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

SLICE_NS = 100_000
"""The shortest that Linux knows."""
_CALLS = {"x86_64": (314, 315), "aarch64": (274, 275)}  # sched_setattr, sched_getattr; not in every C library
_ATTRIBUTES = struct.Struct("=IIQiIQQQII")  # size, policy, flags, nice, priority, runtime, deadline, period, clamps
_RUNTIME = 5


def short_slices(thread: int = 0) -> bool:
    """Ask for short slices for a thread (its native id; 0: this one) and those that it starts from now on.

    Returns:
        Whether the system took it: only Linux does, and only for threads of ordinary priority.
    """
    calls = _CALLS.get(platform.machine())
    if sys.platform != "linux" or calls is None:
        return False
    fields = _read(thread, calls[1])
    if fields is None or fields[1] not in (os.SCHED_OTHER, os.SCHED_BATCH):
        return False
    fields[_RUNTIME] = SLICE_NS
    return bool(ctypes.CDLL(None).syscall(calls[0], thread, _ATTRIBUTES.pack(*fields), 0) == 0)


def slice_ns(thread: int = 0) -> int | None:
    """The slice of a thread, ns; 0 where the kernel knows none, None where it does not tell."""
    calls = _CALLS.get(platform.machine())
    fields = _read(thread, calls[1]) if sys.platform == "linux" and calls is not None else None
    return None if fields is None else int(fields[_RUNTIME])


def _read(thread: int, call: int) -> list[int] | None:
    memory = ctypes.create_string_buffer(_ATTRIBUTES.size)
    if ctypes.CDLL(None).syscall(call, thread, memory, _ATTRIBUTES.size, 0) != 0:
        return None
    return list(_ATTRIBUTES.unpack(memory.raw))
