"""How good a configuration is on a part of the recording that its values were not taken from.

With a truth, or what hindsight makes of the recording (:mod:`.hindsight`): F1 of closed and of open contacts, the mean
of both. With neither, what the estimator foretold is held against what it then told: each touchdown and liftoff that
was detected should have been announced 20 ms before, within 10 ms, and each announcement should be followed by one.
That is consistency and not truth: it costs a configuration whose contacts flicker, open or close unforeseen, and does
not see an error that foretelling and detection share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.noise import Episodes
from hybrid_contact_ros.identification.observed_contacts import Seen, see
from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]

AHEAD, NEAR, FOLLOWED = 0.02, 0.01, 0.03  # s: announced this long before, within; and followed within
BLOCK = 0.5  # s
FEWEST_EVENTS = 10
"""Fewer events tell nothing of a configuration without a reference."""
_DRAWS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """What a configuration is worth. table: (blocks, 4) of true and false positives, false and true negatives;
    without any reference of announced events, false announcements and missed events, and zeros. of_contacts: which it
    is."""

    table: Array
    of_contacts: bool

    @property
    def score(self) -> float:
        return float(_score(self.table.sum(axis=0), self.of_contacts))

    @property
    def events(self) -> int:
        """Without a reference: that could be announced."""
        return int(self.table[:, 0].sum() + self.table[:, 2].sum())

    @property
    def tells(self) -> bool:
        """Whether it can tell configurations apart at all."""
        return self.of_contacts or self.events >= FEWEST_EVENTS

    def with_others(self, other: Check) -> Check:
        """Of both parts of the recording."""
        return Check(np.concatenate([self.table, other.table]), self.of_contacts)

    def better_than(self, other: Check) -> tuple[float, float, float]:
        """The difference of scores, with a 95 % interval from blocks that are drawn for both alike."""
        n = len(self.table)
        chosen = np.random.default_rng(3).multinomial(n, np.full(n, 1.0 / n), size=_DRAWS)
        draws = _score(chosen @ self.table, self.of_contacts) - _score(chosen @ other.table, self.of_contacts)
        low, high = np.quantile(draws, [0.025, 0.975])
        return self.score - other.score, float(low), float(high)


def check(make: Callable[[EstimatorConfig], RigidBodyModel], config: EstimatorConfig, episodes: Episodes) -> Check:
    """Run a configuration over episodes. ``make``: the robot's model with the contacts and planes of a
    configuration. The truth of the episodes may be hindsight."""
    model = make(config)
    rows = []
    for k, states in enumerate(episodes.states):
        seen = see(model, config, states)
        if episodes.truth is None:
            rows.append(_of_events(seen))
        else:
            rows.append(_of_truth(seen, episodes.truth[k], None if episodes.certain is None else episodes.certain[k]))
    return Check(np.concatenate(rows), episodes.truth is not None)


def _blocks(time: Array) -> NDArray[np.intp]:
    return np.asarray((time - time[0]) / BLOCK, dtype=np.intp)


def _of_truth(seen: Seen, truth: NDArray[np.bool_], certain: NDArray[np.bool_] | None) -> Array:
    code = np.where(truth, np.where(seen.told, 0, 2), np.where(seen.told, 1, 3))
    block = np.broadcast_to(_blocks(seen.time)[:, None], code.shape)
    table = np.zeros((int(block.max()) + 1, 4))
    used = np.ones(code.shape, dtype=np.bool_) if certain is None else certain
    np.add.at(table, (block[used], code[used]), 1.0)
    return table


def _of_events(seen: Seen) -> Array:
    time, block = seen.time, _blocks(seen.time)
    table = np.zeros((int(block.max()) + 1, 4))
    for ahead, times in ((seen.touchdown_in, seen.touched), (seen.liftoff_in, seen.lifted)):
        for i, told in enumerate(times):
            told = told[told > time[0] + AHEAD]
            for t in told:
                k = int(np.searchsorted(time, t - AHEAD + 1e-6, side="right")) - 1
                hit = abs(time[k] + ahead[k, i] - t) <= NEAR  # NaN: nothing was announced
                table[block[min(int(np.searchsorted(time, t)), len(time) - 1)], 0 if hit else 2] += 1.0
            near = ahead[:, i] <= AHEAD
            for begin in (np.flatnonzero(near[1:] & ~near[:-1]) + 1).tolist():
                at = time[begin]
                if at + FOLLOWED < time[-1] and not ((told >= at - NEAR) & (told <= at + FOLLOWED)).any():
                    table[block[begin], 1] += 1.0
    return table


def _score(table: Array, of_contacts: bool) -> Array:
    tp, fp, fn, tn = np.moveaxis(np.asarray(table, dtype=np.float64), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.stack([2 * tp / (2 * tp + fp + fn), 2 * tn / (2 * tn + fp + fn)][: 2 if of_contacts else 1])
    some = np.isfinite(both)
    return np.asarray(np.where(some, both, 0.0).sum(axis=0) / np.maximum(some.sum(axis=0), 1))


def halves(episodes: Episodes, share: float = 0.6) -> tuple[Episodes, Episodes]:
    """What values are taken from, and what they are checked on: of four episodes or more whole ones, else the
    beginning and the rest of each."""
    n = len(episodes.states)
    parts: tuple[list[Episodes], list[Episodes]] = ([], [])
    for k, states in enumerate(episodes.states):
        whole, cut = len(states), round(share * len(states))
        if n >= 4:
            parts[k >= round(share * n)].append(episodes.part(k, 0, whole))
        else:
            parts[0].append(episodes.part(k, 0, cut))
            parts[1].append(episodes.part(k, cut, whole))
    return _joined(parts[0]), _joined(parts[1])


def _joined(parts: Sequence[Episodes]) -> Episodes:
    found = parts[0]
    for part in parts[1:]:
        found = found + part
    return found
