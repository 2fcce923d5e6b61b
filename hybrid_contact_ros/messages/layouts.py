"""The layouts of the messages of a stream that were met lately."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LAYOUTS = 16  # that are remembered of an input


class Layouts:
    """The layouts that were met lately, to be found by a message.

    Args:
        make: makes one of a message. most: that are remembered; with 0 every message is unusual.
    """

    def __init__(self, make: Callable[[Any], Any], most: int = LAYOUTS) -> None:
        self._make, self._most = make, most
        self._known: list[Any] = []

    def find(self, data: bytes | memoryview) -> Any:
        """The layout that a message fits, or None."""
        for place, layout in enumerate(self._known):
            if layout.fits(data):
                if place:  # what was met last is looked at first
                    self._known.insert(0, self._known.pop(place))
                return layout
        return None

    def learn(self, data: bytes | memoryview) -> Any:
        """The layout of a message, or None where it has none (``make`` raises ValueError then) or none is kept."""
        if not self._most:
            return None
        try:
            made = self._make(data)
        except ValueError:
            return None
        self._known.insert(0, made)
        del self._known[self._most :]  # texts that change with every message must not fill the memory
        return made
