"""One watch: its node and an executor, spun between two looks, until somebody ends it."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import rclpy
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.signals import SignalHandlerOptions

from hybrid_contact_ros.nodes.watch.recorder import Recorder
from hybrid_contact_ros.nodes.watch.watcher import Watcher
from hybrid_contact_ros.ros.executor import ignore_signals, interrupted_by_signals, make_executor


class WatchSession:
    """A watcher that spins while it is asked to.

    Attributes:
        watcher: the node. recorder: what records, or None. interrupted: says whether Ctrl-C, SIGTERM or the end of the
            terminal (SIGHUP, a lost ssh) has come.
    """

    def __init__(
        self, watcher: Watcher, recorder: Recorder | None, executor: Executor, interrupted: Callable[[], bool]
    ) -> None:
        self.watcher, self.recorder, self.interrupted = watcher, recorder, interrupted
        self._executor = executor

    def spin(self, seconds: float, ended: Callable[[], bool] = lambda: False) -> bool:
        """Listen for so long, or until ``ended``. False: the watch is over."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0 and not ended():
            if self.interrupted():
                return False
            try:
                self._executor.spin_once(timeout_sec=min(left, 0.05))
            except ExternalShutdownException:
                return False
        return not self.interrupted()


@contextmanager
def watching(
    namespaces: Sequence[str], flags: bool = True, record: Path | None = None, force: bool = False
) -> Iterator[WatchSession]:
    """A session, to be called in the main thread. A recording is complete when the block ends, however it ends.

    Raises:
        BagError: ``record`` cannot be written.
    """
    interrupted = interrupted_by_signals()
    signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGINT))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    watcher = Watcher(namespaces, flags)
    recorder = None
    executor = make_executor()
    try:
        recorder = Recorder(watcher, record, force) if record is not None else None
        executor.add_node(watcher)
        yield WatchSession(watcher, recorder, executor, interrupted)
    finally:
        if recorder is not None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # an impatient Ctrl-C must not cost the recording
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            recorder.close()
        with contextlib.suppress(ValueError):  # it was not added yet
            executor.remove_node(watcher)
        watcher.destroy_node()
        executor.shutdown()
        rclpy.try_shutdown()
        ignore_signals()
