"""What a person with the truth would do: turn one parameter after the other, and keep what scores better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from benchmarks.estimation_scores.answers import answers
from benchmarks.estimation_scores.blocks import counts, macro_f1, stride_blocks
from benchmarks.estimation_scores.episodes import Array, Episode, Source, override
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator

_LEAST = 1e-4  # of macro F1: less is no reason to turn a parameter
SCALED = {
    "activation.gap_on": (0.5, 2.0, 5.0),
    "activation.gap_off": (0.5, 2.0, 4.0),
    "activation.gap_sigma": (0.3, 3.0),
    "activation.velocity_sigma": (0.3, 3.0),
    "activation.force_off": (0.2, 5.0, 20.0),
    "belief.gap_sigma": (0.3, 2.0),
    "belief.swing_height": (0.3, 2.0),
    "belief.swing_speed": (0.5, 2.0),
    "belief.load_level": (0.5, 2.0),
    "belief.touchdown_rate": (0.3, 3.0),
}
"""Factors of the value that a parameter has by then."""
SHIFTS = (-0.01, -0.005, 0.005, 0.01)
"""Of the height of the ground, m."""


def tables(source: Source, config: EstimatorConfig, episodes: list[Episode]) -> list[Array]:
    """Counts (blocks, 4) of each episode, where the truth is certain, for the estimator with this configuration."""
    estimator = ContactEstimator(source.model(config), config)
    found = []
    for episode in episodes:
        told = answers(source, estimator, episode)
        found.append(counts(told.closed, episode.truth, episode.certain, stride_blocks(episode)))
    return found


def macro(found: list[Array]) -> float:
    """Over all episodes."""
    return float(macro_f1(sum(table.sum(axis=0) for table in found)))


def tuned(source: Source, episodes: list[Episode], told: Callable[[str], None] = lambda text: None) -> list[str]:
    """Settings as of :func:`~benchmarks.estimation_scores.episodes.override` that score best on these episodes."""
    settings: dict[str, float] = {}

    def score(changes: dict[str, float]) -> float:
        config = plain_override(source.config, _texts({**settings, **changes}))
        return macro(tables(source, config, episodes))

    best = score({})
    told(f"default: {best:.4f}")
    tries: list[tuple[str, list[float]]] = [("environments.ground.offset", list(SHIFTS))]
    tries += [(name, [_value(source.config, name) * factor for factor in factors]) for name, factors in SCALED.items()]
    for name, values in tries:
        for value in values:
            try:
                found = score({name: value})
            except ValueError:  # thresholds that contradict each other: a person would not set them
                continue
            if found > best + _LEAST:
                best, settings[name] = found, value
                told(f"{name}={value:g}: {best:.4f}")
    return _texts(settings)


def _texts(settings: dict[str, float]) -> list[str]:
    return [f"{name}={value:g}" for name, value in settings.items()]


def _value(config: EstimatorConfig, name: str) -> float:
    group, field = name.split(".")
    return float(getattr(getattr(config, group), field))


def plain_override(config: EstimatorConfig, settings: list[str]) -> EstimatorConfig:
    """A configuration with settings, checked as a file would be.

    Raises:
        ValueError: values that are out of range, or contradict each other.
    """
    return EstimatorConfig.from_mapping(asdict(override(config, settings)))
