"""What a live node computes when its stream comes faster than it can answer. Replay has all the time that it needs.

Outputs are left out in this order: sensitivities, the impact set, the stability flags, the sequence of modes. The
contact mode is never left out. What is left out is not published, and for the sequence ``ContactMode.validity`` says
so. Nothing is computed less exactly.

Sensitivities and impact sets have threads of their own, and cost states nothing as long as there is a processor for
them. They are left out only where the thread of the states waits in the middle of its work: for a processor, or for
Python's lock. Where it computes all the time and is too slow, it is the flags that go first.
"""

from __future__ import annotations

from hybrid_contact_ros.estimator import BESIDE, Parts

OUTPUTS = {
    Parts.SENSITIVITY: "event_sensitivity",
    Parts.IMPACT: "impact_set",
    Parts.STABILITY: "constraint_stability",
    Parts.SEQUENCE: "the sequence in contact_mode",
}
"""Parts that may be left out, in this order, and what is then not published."""

_WINDOW = 1_000_000_000  # ns of wall time over which states are counted: about a stride, with all its touchdowns
_LOSSY_WINDOWS = 2  # windows in a row in which too many states are lost, until a part is left out
_BUSY = 0.5  # share of its time that a node computes for, above which lost states are for want of time
_CROWDED = 0.1  # share of a state's time in which its thread does not run, above which impact sets may be the reason
_SATURATED = 0.95  # the same share, above which a node is taken to lose states where they cannot be counted exactly
_PATIENCE = 4  # windows in a row without such losses until a part returns, at first
_GREATEST_PATIENCE = 64  # the same for a part that had to be left out again and again


class Budget:
    """Decides which parts the next state is answered with, from counts of the states so far and from nothing else.

    Args:
        wanted: the parts that the node publishes.
        kept: those of them that are never left out.
        bearable: share of states that may be lost before a part is left out; with 1 no part ever is.

    Attributes:
        parts: the parts to compute now.
    """

    def __init__(self, wanted: Parts, kept: Parts, bearable: float) -> None:
        self.parts = self._wanted = wanted
        self._bearable = bearable
        self._order = [part for part in OUTPUTS if part & wanted & ~kept]
        self._gone: list[Parts] = []  # the last one returns first
        self._patience = _PATIENCE
        self._bad = self._good = 0  # windows in a row
        self._returned = False
        self._begin = self._lost = self._answered = self._cost = self._waited = 0

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the outputs that are left out."""
        return tuple(OUTPUTS[part] for part in OUTPUTS if part in self._gone)

    def spent(self, now_ns: int, cost_ns: int, lost: int, exact: bool, waited_ns: int = 0, unheard: int = 0) -> None:
        """A state was answered with :attr:`parts`.

        Args:
            now_ns: time by a steady clock, ns.
            cost_ns: time that the answer took, ns.
            lost: number of states lost since the start.
            exact: whether they are counted exactly (:class:`~hybrid_contact_ros.messages.stamps.StreamRate`).
            waited_ns: part of that time in which its thread did not run, ns.
            unheard: the parts (bits of Parts) that nobody listens to: it would save nothing to leave those out.
        """
        if not self._begin:
            self._begin, self._lost = now_ns, lost
            return
        self._answered += 1
        self._cost += cost_ns
        self._waited += waited_ns
        elapsed = now_ns - self._begin
        if elapsed < _WINDOW:
            return
        missing = max(0, lost - self._lost)
        share, busy = missing / (missing + self._answered), self._cost / elapsed
        crowded = self._waited > _CROWDED * self._cost
        self._begin, self._lost = now_ns, lost
        self._answered = self._cost = self._waited = 0
        if (share > self._bearable and busy > _BUSY) or (not exact and busy > _SATURATED and self._bearable < 1.0):
            self._bad, self._good = self._bad + 1, 0
        else:
            # There is no second, lower limit for a return: the load of other processes could then keep a part out for
            # good. Patience serves instead.
            self._bad, self._good = 0, self._good + 1
        going = self._next_to_go(crowded, unheard) if self._bad >= _LOSSY_WINDOWS else None
        if going is not None:
            if self._returned:
                self._patience = min(2 * self._patience, _GREATEST_PATIENCE)
            self._gone.append(going)
            self._changed(returned=False)
        elif self._good >= self._patience:
            if self._gone:
                self._gone.pop()
                self._changed(returned=True)
            elif self._returned:  # all is back and has proven itself
                self._returned, self._patience = False, _PATIENCE

    def _next_to_go(self, crowded: bool, unheard: int) -> Parts | None:
        for part in self._order:
            if part not in self._gone and not part & unheard and (crowded or not part & BESIDE):
                return part
        return None

    def _changed(self, returned: bool) -> None:
        self._returned = returned
        self._bad = self._good = 0
        self.parts = self._wanted
        for part in self._gone:
            self.parts &= ~part
