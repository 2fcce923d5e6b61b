"""With which exit code a command ends that has read a recording, and why it is not 0."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from hybrid_contact_ros.commands.terminal import console
from hybrid_contact_ros.messages.refusals import refused

MANY = 0.1
"""Of the messages: where more were refused, the answer is not that of the recording."""
INCOMPLETE = "3, the recording is cut or damaged, or more than a tenth of its messages was refused, and what could be"
"""Of the help, which goes on with what was done."""


def exit_code(states: int, messages: int, faults: Mapping[str, int], damage: str | None) -> int:
    """0: all was read. 1: no state came of it. 3: not all of it could be used; where many messages were
    refused, a line on stderr says so."""
    if not states:
        return 1
    lost = refused(faults)
    if lost > MANY * messages:
        why = max(faults, key=lambda reason: refused({reason: faults[reason]}))
        said = f"{lost} of {messages} messages were refused, most of them as {why}: what is told is of the others alone"
        console(stderr=True).print(Text(said, style="yellow"), soft_wrap=True)
        return 3
    return 0 if damage is None else 3
