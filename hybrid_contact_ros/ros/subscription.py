"""Subscriptions whose callbacks learn the sequence number that the publisher gave a message."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class Numbered:
    """Makes a callback ``(message, number, writer)`` one for ``create_subscription``. Number and writer are None where
    the middleware has no sequence numbers.

    rclpy hands the information about a message to callbacks of two arguments, which it recognises by their signature.
    The EventsExecutor of rclpy 9.1 hands over a tuple of both instead, and its process ends when the callback refuses
    it. This class takes either.
    """

    __signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("message", "info")]
    )

    def __init__(self, callback: Callable[[Any, int | None, Any], None]) -> None:
        self._callback = callback

    def __call__(self, *given: Any) -> None:
        message, info = given if len(given) == 2 else given[0]
        number = info.get("publication_sequence_number")
        if number is None:
            self._callback(message, None, None)
        else:
            self._callback(message, number, info.get("publisher_gid", {}).get("data"))
