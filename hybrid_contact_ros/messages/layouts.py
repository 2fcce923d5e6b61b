"""The layouts of the messages of a stream that were met lately."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Layouts:
    """The layouts that were met lately, to be found by a message.

    Args:
        make: makes one of a message. most: that are remembered.
    """

    def __init__(self, make: Callable[[bytes], Any], most: int = 16) -> None:
        self._make, self._most = make, most
        self._known: list[Any] = []

    def find(self, data: bytes) -> Any:
        """The layout that a message fits, or None."""
        for place, layout in enumerate(self._known):
            if layout.fits(data):
                if place:  # what was met last is looked at first
                    self._known.insert(0, self._known.pop(place))
                return layout
        return None

    def learn(self, data: bytes) -> Any:
        """The layout of a message, or None where it has none; ``make`` raises ValueError then."""
        try:
            made = self._make(data)
        except ValueError:
            return None
        self._known.insert(0, made)
        del self._known[self._most :]  # texts that change with every message must not fill the memory
        return made
