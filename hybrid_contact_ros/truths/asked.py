"""How a truth is asked for: ``[NAMES=]TOPIC``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """A topic, and the contacts that its values are of.

    Attributes:
        names: of each value, in order, the contacts that it is of: several where a force plate carries several feet.
            Empty where the messages have names of their own.
    """

    topic: str
    names: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def parsed(cls, text: str) -> Asked:
        """Read ``TOPIC``, ``left=TOPIC``, ``FR,FL,RR,RL=TOPIC`` or ``left+right=TOPIC``.

        Raises:
            ValueError: a name or the topic is missing.

        Example:
            >>> Asked.parsed("left,right=/loads").names
            (('left',), ('right',))
        """
        before, equals, topic = text.rpartition("=")
        names = tuple(tuple(part.strip() for part in name.split("+")) for name in before.split(",")) if equals else ()
        if not topic.strip() or any(not part for name in names for part in name):
            raise ValueError(f"{text!r} is no truth: TOPIC, NAME=TOPIC or NAME,NAME,…=TOPIC is needed")
        return cls(topic.strip(), names)
