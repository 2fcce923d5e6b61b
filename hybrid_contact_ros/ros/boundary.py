"""The boundary between the suite's own faults and the node of a robot.

Inside of it a fault of the input is a named exception (``ValueError``, ``RefusedError``, ``RMWError``) and is handled
where it is understood. What reaches the boundary is a fault of the suite. It must not take down the node of a robot,
and it must not look like anything else: the log gets the traceback, the diagnostics or the client get "internal error".
Nowhere else in the nodes is ``Exception`` caught and not raised again.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

_EVERY = 5.0  # s between two tracebacks in the log


class protected:  # noqa: N801 - a block, as of contextlib.contextmanager, which takes a microsecond longer
    """A block whose faults end in the log and not in the executor.

    Args:
        logger: of the node.
        told: called with one sentence on the fault.
    """

    __slots__ = ("_logger", "_told")

    def __init__(self, logger: Any, told: Callable[[str], object]) -> None:
        self._logger, self._told = logger, told

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._logger.error("".join(traceback.format_exception(error)), throttle_duration_sec=_EVERY)
        self._told(f"internal error: {error!r}")
        return True
