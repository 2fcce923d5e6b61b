"""What drives were foreseen to do before the last touches, and how far off that was.

To follow drives to a touch costs as much as a set, so that it is not done for every state that might once
teach something. A state keeps what was told by then. Its error is found when a landing is foreseen in a situation like
it, once, and with a deadline for one state a set: after a few sets all that are needed are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.drive_commands import CommandsSeen

Array = NDArray[np.float64]


class Told:
    """A state with all that its drives had been told by then.

    Attributes:
        q (nq,), v (nv,), effort (nv,) or None: of the state. closed: its closed contacts. commands: of its drives; None
            where nobody tells, for drives that answer a push.
    """

    __slots__ = ("_came", "_error", "_seconds", "closed", "commands", "effort", "q", "v")

    def __init__(
        self, q: Array, v: Array, effort: Array | None, closed: NDArray[np.uint8], commands: CommandsSeen | None
    ) -> None:
        self.q, self.v = q.copy(), v.astype(np.float64)
        self.effort = None if effort is None else effort.copy()
        self.closed, self.commands = np.flatnonzero(closed), commands
        self._seconds, self._came = np.nan, self.v
        self._error: Array | None = None

    def ended(self, seconds: float, came: Array) -> None:
        """A contact touched: v (nv,) that ``came`` so long after the state, before it."""
        self._seconds, self._came, self._error = seconds, came.copy(), None

    @property
    def known(self) -> bool:
        """Whether its error was found already."""
        return self._error is not None

    def error(self, follow: Callable[[Told, float], Array | None]) -> Array:
        """What came, less what drives were foreseen to do (nv,); NaN where nothing was. ``follow`` foresees it."""
        if self._error is None:
            foreseen = follow(self, self._seconds)
            self._error = np.full(self.v.size, np.nan) if foreseen is None else self._came - foreseen
        return self._error


def errors_of(
    told: Sequence[Told], follow: Callable[[Told, float], Array | None], most: int | None
) -> tuple[Array, list[int]]:
    """Errors (n, nv), and of which states they are, of those that can be told. ``most``: that are found anew, the
    latest first; None for all."""
    found: dict[int, Array] = {}
    for i in reversed(range(len(told))):
        one = told[i]
        if not one.known:
            if most == 0:
                continue
            most = None if most is None else most - 1
        error = one.error(follow)
        if np.isfinite(error).all():
            found[i] = error
    chosen = sorted(found)
    return np.array([found[i] for i in chosen]), chosen
