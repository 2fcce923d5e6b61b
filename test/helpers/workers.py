"""Which process runs which file of tests; and processes that die: the run says how, goes on, and ends."""

from __future__ import annotations

import signal
import subprocess
from contextlib import suppress
from typing import Any

from xdist.scheduler import LoadFileScheduling

LONG = (
    "test/test_wheel.py",
    "test/test_documentation.py",
    "test/fleets/test_fleet.py",
    "test/fleets/test_command.py",
    "test/ros/test_fault_matrix.py",
    "test/bags/test_streams.py",
    "test/benchmarks/test_live.py",
    "test/estimation/test_event_records.py",
    "test/examples/test_examples.py",
    "test/fleets/test_dataset.py",
    "test/estimation/test_impact.py",
    "test/commands/test_demo.py",
    "test/demo/test_go2_simulation.py",
    "test/ros/test_executables.py",
    "test/kernels/test_kernel_cache.py",
)
"""Files whose tests take longest, longest first, as the summary of a whole run lists them."""
_PATIENCE = 5.0  # s until a process that closed its pipe is gone


def rank(nodeid: str) -> int:
    """The place of a test's file among those that take long, which begin first; all others come after them."""
    file = nodeid.partition("::")[0]
    return LONG.index(file) if file in LONG else len(LONG)


class Scheduling(LoadFileScheduling):
    """A file of tests goes to one process, as ``--dist loadfile`` has it, also where a process died.

    pytest-xdist 3.8 gives the next processes all files of a dead one again, those that are done, too. It sends these
    without a test, hears nothing of them, and so never sends what comes after them: the run waits for ever. Here the
    others get what is left. The test that ran when the process died has failed, and is not run a second time.
    """

    def remove_node(self, node: Any) -> str | None:
        left = {scope: unit for scope, unit in self.assigned_work[node].items() if not all(unit.values())}
        self.assigned_work[node] = left
        crashed = next((test for unit in left.values() for test, done in unit.items() if not done), None)
        if crashed is not None:
            scope = self._split_scope(crashed)
            left[scope][crashed] = True
            if all(left[scope].values()):
                del left[scope]
        super().remove_node(node)
        return crashed

    def schedule(self) -> None:
        super().schedule()
        for node in self.nodes:  # a new process that was given the last test waits to hear whether there is another
            self._reschedule(node)


def end_of(node: Any) -> str:
    """How the process of a node that is down ended, in words."""
    code = None
    with suppress(AttributeError, OSError, subprocess.TimeoutExpired):  # remote processes have none that we could ask
        code = node.gateway._io.popen.wait(timeout=_PATIENCE)
    if code is None:
        return "it still runs, or nobody knows how it ended"
    if code < 0:
        with suppress(ValueError):
            return f"{signal.Signals(-code).name} ended it"
        return f"signal {-code} ended it"
    return f"it ended by itself, with exit status {code}"
