"""Subscriptions whose callbacks learn the sequence number that the publisher gave a message, and when it came."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class Numbered:
    """Makes a callback ``(message, number, writer, received)`` one for ``create_subscription``. Number and writer are
    None where the middleware has no sequence numbers; ``received`` is when the middleware got the message, in ns of the
    system's clock, and 0 where it does not tell.

    rclpy hands the information about a message to callbacks of two arguments, which it recognises by their signature.
    The EventsExecutor of rclpy 9.1 hands over a tuple of both instead, and its process ends when the callback refuses
    it. This class takes either.
    """

    __signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("message", "info")]
    )

    def __init__(self, callback: Callable[[Any, int | None, Any, int], None]) -> None:
        self._callback = callback

    def __call__(self, *given: Any) -> None:
        message, info = given if len(given) == 2 else given[0]
        number = info.get("publication_sequence_number")
        received = info.get("received_timestamp") or 0
        if number is None:
            self._callback(message, None, None, received)
        else:
            self._callback(message, number, info.get("publisher_gid", {}).get("data"), received)
