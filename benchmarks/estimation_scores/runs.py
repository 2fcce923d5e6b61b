"""The estimator over the recordings of a source: what every table begins with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.estimation_scores.answers import Answers, answers
from benchmarks.estimation_scores.episodes import Episode, Source, override
from benchmarks.estimation_scores.faults import FAULTS, noisy
from benchmarks.estimation_scores.scores import Scores
from benchmarks.estimation_scores.steps import STEPS, maker, possible
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel


@dataclass(frozen=True, slots=True)
class Options:
    """``states``: "recorded", "noise", or a name of :data:`~benchmarks.estimation_scores.faults.FAULTS`.
    ``seconds``: of each recording. ``after``: s from its beginning, from which on samples are scored.
    ``settings``: parameters that are changed. ``uncertain``: samples are scored where the truths disagree, too.
    ``efforts``: whether they are given. ``chatter``: whether samples are scored at which a foot is open between two
    impulses a few milliseconds apart, where that is known (:mod:`.chatter`)."""

    states: str = "recorded"
    seconds: float | None = None
    settings: tuple[str, ...] = ()
    uncertain: bool = False
    efforts: bool = True
    chatter: bool = True
    after: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Episodes as the estimator saw them, and what it said."""

    source: Source
    model: RigidBodyModel
    episodes: list[Episode]
    told: list[Answers]

    def scores(self) -> Scores:
        scores = Scores(self.source.window)
        for episode, told in zip(self.episodes, self.told, strict=True):
            scores.add(episode, told)
        return scores


class Runner:
    """One estimator for all the runs of a source: it is compiled and warmed once."""

    def __init__(self, source: Source, options: Options) -> None:
        config = override(source.config, list(options.settings))
        self.source, self.options = source, options
        self.model = source.model(config)
        self.estimator = ContactEstimator(self.model, config)
        self.estimator.warm(parts=Parts.MODE)
        self.recorded = source.load()
        if options.seconds is not None:
            self.recorded = [e.part(e.recording.time <= e.recording.time[0] + options.seconds) for e in self.recorded]

        if not options.efforts:
            self.recorded = [replace(e, recording=replace(e.recording, effort=None)) for e in self.recorded]
        if not options.chatter:
            self.recorded = [e.without_chatter() for e in self.recorded]
        if options.uncertain:
            self.recorded = [replace(e, certain=np.ones_like(e.certain)) for e in self.recorded]
        if options.after > 0.0:
            self.recorded = [e.scored_after(options.after) for e in self.recorded]

    def step(self, name: str) -> Run | None:
        """With what a step of :data:`~benchmarks.estimation_scores.steps.STEPS` gives; None where that is not there."""
        step = STEPS[name]
        if not all(possible(step, self.model, e) for e in self.recorded):
            return None
        change = noisy if self.options.states == "noise" else FAULTS["none"]
        seen = [change(e) for e in self.recorded]
        make = maker(self.source, step)
        return Run(self.source, self.model, seen, [answers(self.source, self.estimator, e, make) for e in seen])

    def run(self, states: str | None = None) -> Run:
        states = states or self.options.states
        change = noisy if states == "noise" else FAULTS["none" if states == "recorded" else states]
        seen = [change(e) for e in self.recorded]
        return Run(self.source, self.model, seen, [answers(self.source, self.estimator, e) for e in seen])
