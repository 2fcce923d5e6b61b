"""What a live node computes when its stream comes faster than it can answer. Replay has all the time it needs.

Left out in this order: the impact set, the stability flags, the sequence of modes. The contact mode always stays. What
is left out is not published, and of the sequence ``ContactMode.validity`` says so; nothing is computed less exactly.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.state import RobotState

OUTPUTS = {
    Parts.IMPACT: "impact_set",
    Parts.STABILITY: "constraint_stability",
    Parts.SEQUENCE: "the sequence in contact_mode",
}
"""Parts that may be left out, in this order, and what is then not published."""

_WINDOW = 1_000_000_000  # ns of wall time that states are counted over: a stride, whose touchdowns' sets cost the most
_IN_A_ROW = 2  # windows in which too much is lost until a part goes
_BUSY = 0.5  # share of its time that a node computes at least, where the loss is for want of time
_SATURATED = 0.95  # where losses cannot be counted exactly, a node that computes all the time is taken to lose states
_PATIENCE, _LONGEST = 4, 64  # windows of that until one returns: at first, and after it had to go again and again


class Budget:
    """Decides from counts of the states so far, and from nothing else, which parts the next one is answered with.

    Args:
        wanted: parts that the node publishes. kept: those of them that are never left out.
        most: share of states that may be lost before a part is left out; 1: none ever is.

    Attributes:
        parts: those to compute now.
    """

    def __init__(self, wanted: Parts, kept: Parts, most: float) -> None:
        self.parts = self._wanted = wanted
        self._most = most
        self._order = [part for part in OUTPUTS if part & wanted & ~kept]
        self._gone = 0
        self._patience = _PATIENCE
        self._bad = self._good = 0  # windows in a row
        self._returned = False
        self._begin = self._lost = self._answered = self._cost = 0

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the outputs that are left out."""
        return tuple(OUTPUTS[part] for part in self._order[: self._gone])

    def spent(self, now_ns: int, cost_ns: int, lost: int, exact: bool) -> None:
        """A state was answered with :attr:`parts`.

        Args:
            now_ns: by a steady clock. cost_ns: what the answer took. lost: states lost since the start, and whether
                they are counted exactly (:class:`~hybrid_contact_ros.messages.stamps.StreamRate`).
        """
        if not self._begin:
            self._begin, self._lost = now_ns, lost
            return
        self._answered += 1
        self._cost += cost_ns
        elapsed = now_ns - self._begin
        if elapsed < _WINDOW:
            return
        missing = max(0, lost - self._lost)
        share, busy = missing / (missing + self._answered), self._cost / elapsed
        self._begin, self._lost, self._answered, self._cost = now_ns, lost, 0, 0
        if (share > self._most and busy > _BUSY) or (not exact and busy > _SATURATED and self._most < 1.0):
            self._bad, self._good = self._bad + 1, 0
        else:
            # No second, lower limit: what other processes cost would then keep a part out for good. Patience serves.
            self._bad, self._good = 0, self._good + 1
        if self._bad >= _IN_A_ROW and self._gone < len(self._order):
            if self._returned:
                self._patience = min(2 * self._patience, _LONGEST)
            self._go(self._gone + 1, returned=False)
        elif self._good >= self._patience:
            if self._gone:
                self._go(self._gone - 1, returned=True)
            elif self._returned:  # all is back and has proven itself
                self._returned, self._patience = False, _PATIENCE

    def _go(self, gone: int, returned: bool) -> None:
        self._gone, self._returned = gone, returned
        self._bad = self._good = 0
        self.parts = self._wanted
        for part in self._order[:gone]:
            self.parts &= ~part


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a robot's states with all contacts that can be closed closed: s for an update without set (median and worst),
    and for a set on top. closed: contacts that were."""

    update: float
    worst: float
    impact: float
    closed: int


def measure(estimator: ContactEstimator, parts: Parts, states: int = 10, most: float = 1.0) -> Cost | None:
    """What states cost on this machine, by trying some that are made up: the base lowered until every contact with a
    plane is at or below it, joints near zero, noise like that of sensors. None where none of them can be computed with.
    Forgets earlier states.

    Takes about ``most`` s at longest, and fewer ``states`` then.
    """
    model = estimator.model
    generator = np.random.default_rng(0)
    still = np.zeros(model.nv)
    q = model.bent()
    joints = model.nv - 6 * model.floating_base
    if model.floating_base and model.contacts:
        plane = np.linalg.norm(model.contact_normals, axis=1) > 0.0
        gap = model.problem(RobotState(0, q, still)).gap[plane]
        if gap.size:
            # Against the mean of the normals; planes that face each other cannot all be touched.
            normal = model.contact_normals[plane].mean(axis=0)
            q[:3] -= (max(0.0, float(gap.max())) + 1e-3) * normal / max(float(np.linalg.norm(normal)), 1e-9)
    update: list[float] = []
    impact: list[float] = []
    closed = 0
    begin = time.perf_counter()
    for k in range(states):
        step = np.concatenate([np.zeros(model.nv - joints), 1e-4 * generator.standard_normal(joints)])
        v, effort = 1e-2 * generator.standard_normal(model.nv), generator.standard_normal(model.nv)
        effort[: model.nv - joints] = 0.0
        state = RobotState((k + 1) * 2_000_000, model.integrate(q, step), v, effort)
        try:
            start = time.perf_counter()
            prediction = estimator.update(state, parts & ~Parts.IMPACT)
            update.append(time.perf_counter() - start)
            closed = max(closed, int(prediction.mode.closed.sum()))
            if parts & Parts.IMPACT and model.contacts and k < 3:
                start = time.perf_counter()
                estimator.impact(state, contacts=range(model.contacts))
                impact.append(time.perf_counter() - start)
        except ValueError:  # a posture that cannot be computed with says nothing of others
            pass
        if time.perf_counter() - begin > most:
            break
    estimator.reset()
    if not update:
        return None
    return Cost(float(np.median(update)), max(update), float(np.median(impact)) if impact else 0.0, closed)
