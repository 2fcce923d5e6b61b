"""What a worker process of this machine loads before its first recording (Dask calls that a preload)."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the one that was started: it ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
