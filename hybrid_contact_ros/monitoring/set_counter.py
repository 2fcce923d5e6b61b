"""What becomes of the impact sets, which a thread of their own computes."""

from __future__ import annotations

import numpy as np

_KEPT = 1024  # times kept of one period


class SetCounter:
    """Counts of one period. The thread of the sets and that of the states write different members, and numbers only
    grow, so that nothing is lost between them; :meth:`values` takes differences.

    Attributes:
        overtaken: number of states whose set was not begun, because that of a newer state took its place.
        made, cut: number of sets that were published, and of those that a deadline cut.
        failures, failure: number of internal errors, and the last of them in words.
    """

    def __init__(self) -> None:
        self.overtaken = self.made = self.cut = self.failures = 0
        self.failure = ""
        self._times = np.zeros(_KEPT)
        self._told = (0, 0, 0)

    def published(self, cost_ns: int, truncated: bool) -> None:
        """A set was published, ``cost_ns`` after its computation began."""
        self._times[self.made % _KEPT] = 1e-6 * cost_ns
        self.made += 1
        self.cut += truncated

    def failed(self, sentence: str) -> None:
        """A set could not be computed, through a fault of the suite."""
        self.failure = sentence
        self.failures += 1

    def values(self, seconds: float) -> dict[str, str]:
        """What to tell of the period of this length that ends now. The next one begins."""
        now = made, cut, overtaken = self.made, self.cut, self.overtaken
        last, self._told = self._told, now
        times = self._times[np.arange(max(last[0], made - _KEPT), made) % _KEPT]
        values = {"impact sets rate [Hz]": f"{(made - last[0]) / seconds:.1f}"}
        for q in (50, 99):
            values[f"impact set p{q} [ms]"] = f"{np.percentile(times, q):.3f}" if times.size else "nan"
        values["impact sets cut by their deadline"] = str(cut - last[1])
        values["impact sets overtaken before they began"] = str(overtaken - last[2])
        return values
