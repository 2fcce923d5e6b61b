"""Chatters that were cut off: the derivative of the truncated execution, and how far it may be from the limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.orbits.instants import ends_chatter, instant_saltation
from hybrid_contact_ros.orbits.variation import Variation
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.saltation import Saltation
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind

Array = NDArray[np.float64]
_STEPS = 2  # of Runge and Kutta's method over the time between two bounces
_ROUNDING = 1e-9  # relative: smaller terms are rounding
_SETTLED = 0.95  # a series whose terms shrink by less has not settled


class _Bounce(NamedTuple):
    event: ExecutionEvent
    before: ContactMode
    columns: Array  # before the bounce


class Bounces:
    """The last bounces of a flow, and what a truncation after them leaves out.

    Let D_k be the derivative, right after the k-th bounce, of the execution truncated there: the contact stops in it
    and is closed from then on. Between the impacts of a chatter speeds and times shrink by e, so that the execution
    truncated one bounce earlier differs by terms of a geometric series,

        D_k − D_∞ = Σ_j≥k (D_j − D_j+1) ≈ (D_k−1 − D_k) r / (1 − r),

    D_k−1 taken along the closed mode to the time of bounce k. r = |D_k−1 − D_k| / |D_k−2 − D_k−1| is measured; it is e
    where effects are of first order in the remaining time, as friction that acts on closed contacts alone, and e² or
    less where the closed contact's force replaces the bounces' impulses to first order; a parameter has a ratio of its
    own (that of e falls to e slowly). Where there are only two bounces r is e. Later modes take this difference along
    as they take other changes of the state. This is an estimate, right to the order of the next term, not a bound.
    """

    def __init__(self, system: AdaptedSystem, variation: Variation) -> None:
        self._system, self._variation = system, variation
        self._bounces: list[_Bounce] = []
        self.unknown = ""

    def after(
        self, jump: Saltation, events: Sequence[ExecutionEvent], before: ContactMode, mode: ContactMode, now: Array
    ) -> Array:
        """The columns after an instant, and from the first truncation on those of its error behind them."""
        found = self._variation.after(jump, now)
        columns = self._variation.size + len(self._variation.names)
        if not ends_chatter(self._system, events, mode):
            if events[0].bounced:
                self._bounces = [*self._bounces[-3:], _Bounce(events[0], before, now[:, :columns])]
            return found
        if found.shape[1] == columns:
            found = np.hstack((found, np.zeros_like(found)))
        found[:, columns:] += self._left_out(events, mode, found[:, :columns])
        self._bounces = []
        return found

    def _left_out(self, events: Sequence[ExecutionEvent], mode: ContactMode, found: Array) -> Array:
        """D_k − D_∞ of the state's and the parameters' columns."""
        last = events[-1]
        earlier = [b for b in self._bounces if b.event.contacts == events[0].contacts][-2:]
        try:
            series = [self._closed_early(bounce, last, mode) for bounce in earlier]
        except (Unsolvable, ValueError) as error:
            self.unknown = f"an earlier bounce could not be taken for the last: {error}"
            return np.zeros_like(found)
        if not series:
            self.unknown = f"contacts {sorted(events[0].contacts)} have not bounced before"
            return np.zeros_like(found)
        steps = [a - b for a, b in zip(series, [*series[1:], found], strict=True)]
        problem = self._system.problem(last.q, last.velocity_before, last.time, last.before.closed)
        left_out = np.zeros_like(found)
        small = _ROUNDING * float(np.abs(found).max())
        for columns in (slice(0, self._variation.size), *range(self._variation.size, found.shape[1])):
            ratio = float(problem.restitution[sorted(events[0].contacts)].max())
            sizes = [float(np.abs(step[:, columns]).max()) for step in steps]
            if len(sizes) == 2 and sizes[0] > small:
                ratio = sizes[1] / sizes[0]
            if ratio > _SETTLED and sizes[-1] > small:
                self.unknown = f"the last bounces of contacts {sorted(events[0].contacts)} add no smaller terms"
                break
            left_out[:, columns] = steps[-1][:, columns] * min(ratio, _SETTLED) / (1.0 - min(ratio, _SETTLED))
        return left_out

    def _closed_early(self, bounce: _Bounce, last: ExecutionEvent, mode: ContactMode) -> Array:
        """The columns at the time of the truncation, had it been at this bounce."""
        event = bounce.event
        cut = replace(
            event,
            kind=ExecutionEventKind.TRUNCATION,
            contacts=last.contacts,
            after=last.after,
            velocity_before=event.velocity_after,
            bounced=frozenset(),
        )
        jump = instant_saltation(self._system, [event, cut], bounce.before, mode, truncated=True)
        now = self._variation.after(jump, bounce.columns)
        if jump.velocity is None:
            return now
        q, v = event.q, jump.velocity
        step = (last.time - event.time) / _STEPS
        for _ in range(_STEPS):
            now = _runge_kutta(lambda there: self._variation.rate(event.time, q, v, mode, there), now, step)
        return now


def _runge_kutta(rate: Callable[[Array], Array], now: Array, step: float) -> Array:
    a = rate(now)
    b = rate(now + 0.5 * step * a)
    c = rate(now + 0.5 * step * b)
    d = rate(now + step * c)
    return np.asarray(now + step / 6.0 * (a + 2.0 * b + 2.0 * c + d))
