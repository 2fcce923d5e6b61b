"""Events before they happen: how near the predicted times are, what is missed and what is invented, whether bounds hold
and whether probabilities are frequencies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from benchmarks.estimation_scores.answers import KINDS, Ahead, Answers
from benchmarks.estimation_scores.blocks import binomial_interval
from benchmarks.estimation_scores.density import distance, of_quantiles
from benchmarks.estimation_scores.episodes import Array, Bools, Episode
from benchmarks.estimation_scores.scores import true_events
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.scoring.event_timing import asked_at, event_timing
from hybrid_contact_ros.time_density import TimeDensity

HORIZONS = (0.01, 0.02, 0.05)
LONGEST = 0.1  # s; events later than this are not extrapolated
OFF = 0.01  # s; a prediction that is further off counts as none
_AFTER = 0.03  # s, of a recording, that must follow an announcement before it is called false
REBOUND = 0.05  # s, within which a foot that has touched touches again because it has rebounded
_STRIDES, _CHANGE = 3, 0.15  # strides after which a gait counts as steady, and by how much they may differ
_BINS, _LEAST = 10, 20  # of probabilities; a bin is told of that many separate events
_DRAWS = 500


@dataclass(slots=True)
class Horizon:
    """Predictions that are made a horizon before the true events.

    Attributes:
        events, missed: true ones, and those that are not announced then. off: announced ones whose time is off by more
            than 10 ms. false: announcements that nothing follows.
        feet: number of contacts. errors: s, predicted less true time of the others.
        held: how many of these lie within their bounds. low, high: (s) the half-widths of these bounds.
        transforms, logs: where in its density each true time lies, and the log of the density there, a ms. valid:
            whether the density was said to be calibrated.
    """

    events: int = 0
    missed: int = 0
    off: int = 0
    false: int = 0
    held: int = 0
    feet: int = 0
    errors: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    transforms: list[float] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)

    def add(self, time: Array, ahead: Ahead, foot: int, true: Array, horizon: float) -> None:
        """Take true events (k,), s, of one foot, and what was foretold of each in the last state that is not later than
        the ``horizon`` (s) before it. Truths and what is foretold date an event alike, by the first state at or after
        it."""
        when, earliest, latest = (x[:, foot] for x in (ahead.time, ahead.earliest, ahead.latest))
        for t, k in zip(true, asked_at(time, true, horizon), strict=True):
            if k < 0:
                continue
            self.events += 1
            if not np.isfinite(when[k]):
                self.missed += 1
                continue
            error, left = float(time[k] + when[k] - t), t - time[k]
            self.errors.append(error)
            self.off += abs(error) > OFF
            self.held += bool(earliest[k] <= left <= latest[k])
            self.low.append(float(when[k] - earliest[k]))
            self.high.append(float(latest[k] - when[k]))
            if ahead.quantiles is not None and ahead.valid is not None:
                said = TimeDensity(ahead.quantiles[k, foot], np.nan, bool(ahead.valid[k, foot]))
                self.transforms.append(float(said.cdf(left)))
                self.logs.append(float(said.log_density(left)) - float(np.log(1e3)))
                self.valid.append(said.valid)

    def told(self) -> str:
        """Errors, ms, median (95 %)."""
        size = np.abs(np.array(self.errors))
        return f"{1e3 * np.median(size):.1f} ({1e3 * np.quantile(size, 0.95):.1f})" if size.size else "–"

    def cells(self) -> list[str]:
        """Errors, ms, median (95 %); missed and off of true; false an event, and a foot; share of bounds that hold, and
        its interval; what the densities are worth (:mod:`.density`)."""
        told, size = self.told(), len(self.errors)
        false = f"{self.false / max(self.feet, 1):.2f} a foot"
        if self.events:
            false = f"{self.false / self.events:.2f}, {false}"
        low, high = binomial_interval(self.held, size) if size else (0.0, 1.0)
        share = f"{self.held / size:.2f} [{low:.2f}, {high:.2f}]" if size else "–"
        worth = of_quantiles(self.errors, self.transforms, self.logs).text()
        if any(self.valid):
            calibrated = np.array(self.valid)
            u = np.array(self.transforms)[calibrated]
            worth += f"; {calibrated.mean():.0%} valid: {distance(u):.2f}"
        return [told, f"{self.missed}+{self.off}/{self.events}", false, share, worth]


def steady_spans(time: Array, true: Array) -> tuple[Bools, Bools]:
    """Which events (k,) of one foot are those of a steady gait, and which samples (n,) lead up to them: from the third
    stride on, where a stride is within 15 % as long as the one before it."""
    steady = np.zeros(true.size, dtype=bool)
    samples = np.zeros(time.size, dtype=bool)
    for k in range(_STRIDES, true.size):
        now, before = true[k] - true[k - 1], true[k - 1] - true[k - 2]
        if abs(now - before) <= _CHANGE * before:
            steady[k] = True
            samples |= (time > true[k - 1]) & (time <= true[k])
    return steady, samples


def follow(times: Array, others: Array, within: float) -> Bools:
    """Which of the ``times`` (k,) follow one of the ``others`` by less than ``within``, s."""
    return np.array([np.any((others > t - within) & (others < t)) for t in times], dtype=bool)


def horizons(found: list[Episode], told: list[Answers], kind: str, steady: bool) -> dict[float, Horizon]:
    """Pooled over contacts and episodes: of steady gaits, or of all the rest.

    The rest are starts, stops, stumbles, drops and rebounds. A touchdown within 50 ms of another one of its foot, of
    any label, is of a rebound, and no stride ends there. What is foretold is the next event. A horizon before the
    second touchdown of a foot that bounces, that is the first one, however short: an event is left out at horizons
    within which there is another one of its foot and kind; of touchdowns, another one of any label. Liftoffs of labels
    that chatter are of a foot that stands.
    """
    pooled = {h: Horizon() for h in HORIZONS}
    for episode, answers in zip(found, told, strict=True):
        ahead, time = answers.ahead[kind], answers.time
        for i, (true, every, _) in enumerate(true_events(episode, kind)):
            others = every if kind == "touchdown" else true
            rebounds = follow(true, every, REBOUND if kind == "touchdown" else 0.0)
            events = np.zeros(true.size, dtype=bool)
            events[~rebounds], samples = steady_spans(time, true[~rebounds])
            mine, where = (true[events], samples) if steady else (true[~events], ~samples)
            event = np.where(np.isfinite(ahead.time[:, i]), np.uint8(KINDS[kind]), np.uint8(EventKind.NONE))
            here = np.where(where, event, np.uint8(EventKind.NONE))
            for h, into in pooled.items():
                next_then = mine[~follow(mine, others, h)]
                into.add(time, ahead, i, next_then, h)
                # A bounce that the smoothed truth leaves out is no false event; nor is what comes after the end.
                seen = np.where(time <= time[-1] - h - _AFTER, here, np.uint8(EventKind.NONE))
                into.false += event_timing(time, seen, ahead.time[:, i], np.unique(every), KINDS[kind], h).false
                into.feet += 1
    return pooled


def extrapolated(time: Array, gap: Array, rate: Array) -> Ahead:
    """Touchdowns by plain extrapolation of the gap (n, k), m, with its rate and the slope of the rate over 20 ms; what
    any prediction has to be better than. It has no bounds."""
    lag = np.maximum(np.searchsorted(time, time - 0.02 + 1e-6, side="right") - 1, 0)
    past = np.maximum(time - time[lag], 1e-3)[:, None]
    slope = (rate - rate[lag]) / past
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(rate**2 - 2.0 * slope * gap)
        # The smaller positive root of gap + rate t + slope t² / 2, in the form that no small slope spoils.
        when = -2.0 * gap / (rate - root)
        other = -2.0 * gap / (rate + root)
    roots = np.stack([when, other])
    roots[~(roots > 0.0)] = np.inf
    first = roots.min(axis=0)
    first[(first > LONGEST) | (gap <= 0.0)] = np.nan
    return Ahead(first, np.full_like(first, np.nan), np.full_like(first, np.nan))


@dataclass(frozen=True, slots=True)
class Reliability:
    """One bin of probabilities: how many samples of how many stretches between events, what was said, how often it was
    true, with a 95 % interval from drawing the stretches again."""

    samples: int
    events: int
    said: float
    true: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the interval meets the probability ± 0.1."""
        return self.low <= self.said + 0.1 and self.high >= self.said - 0.1


def reliability(probability: list[Array], truth: list[Bools], certain: list[Bools]) -> list[Reliability]:
    """Of columns (n, k), one array an episode. Bins with fewer than 20 separate events are left out: probabilities
    between 0 and 1 come in runs around touchdowns and liftoffs, and the samples of a run are one observation."""
    rows = []
    event = 0
    for p, y, c in zip(probability, truth, certain, strict=True):
        for i in range(p.shape[1]):
            # A stretch reaches from the middle between two events to the next one: one event, and what is said of it.
            edges = np.flatnonzero(np.diff(y[:, i].astype(int))) + 1
            middles = (edges[1:] + edges[:-1]) // 2
            stretch = event + np.searchsorted(middles, np.arange(len(p)), side="right")
            event = int(stretch[-1]) + 1
            rows.append(np.column_stack([p[:, i], y[:, i], stretch])[c[:, i]])
    table = np.concatenate(rows)
    place = np.clip((table[:, 0] * _BINS).astype(int), 0, _BINS - 1)
    rng, found = np.random.default_rng(2), []
    for b in range(_BINS):
        mine = table[place == b]
        stretches, index = np.unique(mine[:, 2], return_inverse=True)
        if stretches.size < _LEAST:
            continue
        n, hits = np.bincount(index), np.bincount(index, mine[:, 1])
        draws = rng.multinomial(n.size, np.full(n.size, 1.0 / n.size), size=_DRAWS)
        low, high = np.quantile((draws @ hits) / (draws @ n), [0.025, 0.975])
        found.append(Reliability(len(mine), stretches.size, float(mine[:, 0].mean()), float(mine[:, 1].mean()),
                                 float(low), float(high)))  # fmt: skip
    return found
