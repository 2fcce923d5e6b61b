"""The boundary between the suite's own faults and the node of a robot.

Inside of it a fault of the input is a named exception (``ValueError``, ``RefusedError``, ``RMWError``) and is handled
where it is understood. What reaches the boundary is a fault of the suite. It must not take down the node of a robot,
and it must not look like anything else: the log gets the traceback, the diagnostics or the client get "internal error".
Nowhere else in the nodes is ``Exception`` caught and not raised again.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_EVERY = 5.0  # s between two tracebacks in the log


@contextmanager
def protected(logger: Any, told: Callable[[str], object]) -> Iterator[None]:
    """A block whose faults end in the log and not in the executor.

    Args:
        logger: of the node.
        told: called with one sentence on the fault.
    """
    try:
        yield
    except Exception as error:
        logger.error(traceback.format_exc(), throttle_duration_sec=_EVERY)
        told(f"internal error: {error!r}")
