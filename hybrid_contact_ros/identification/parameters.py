"""Parameters of a robot from its recordings: measured, tried on a part that they were not taken from, and told with
reasons.

1. Values are measured on the first 60 % (of four episodes or more: on the first ones).
2. Groups of them are tried one after the other on the rest. A group is taken if the score is not lower than without
   it; without a truth and with fewer than 10 events nothing can be tried, and only the planes and what no decision
   depends on are taken.
3. With a truth, parameters that nothing measures are turned one after the other on the first part. All that gains
   there is taken together, if it scores no worse on the rest, and if the gain on both parts is beyond its 95 %
   interval: one by one, gains are too small to be told from chance.
4. Values of the groups that were taken are measured again, on everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.held_out import Check, check, halves
from hybrid_contact_ros.identification.noise import Episodes, Measured, measure_noise
from hybrid_contact_ros.identification.proposals import GROUPS, Proposal, applied, get, propose
from hybrid_contact_ros.mechanics.model import RigidBodyModel

Make = Callable[[EstimatorConfig], RigidBodyModel]

FACTORS = {
    "activation.gap_off": (0.5, 2.0, 4.0),
    "activation.gap_on": (0.5, 2.0),
    "activation.gap_sigma": (0.3, 3.0),
    "activation.velocity_sigma": (0.3, 3.0),
    "belief.gap_sigma": (0.5, 2.0),
    "belief.swing_height": (0.3, 2.0),
    "belief.swing_speed": (0.5, 2.0),
    "belief.load_level": (0.5, 2.0),
    "belief.touchdown_rate": (0.3, 3.0),
}
"""Parameters that a truth may turn, and by what."""
_UNDECIDING = ("sensitivity.joint_position_sigma", "sensitivity.joint_velocity_sigma", "input.odometry_delay")
_GAIN = 1e-4  # of the score on the first part: less is no reason to turn a parameter
_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class Tried:
    """A group of values that was tried. score: on the held-out part, with it; before: without it; taken: whether it
    was."""

    what: str
    before: float
    score: float
    low: float
    high: float
    taken: bool


@dataclass(frozen=True, slots=True)
class Parameters:
    """What was identified.

    Attributes:
        config: with the values that are written. values: those, by dotted name. proposals: all that were looked at,
            with the reason where the old value is kept. turned: those that a truth chose. measured: on everything.
            tried: what was tried, in turn.
        with_truth: whether scores are against a truth; else of announced events. default, score: on the held-out part.
        states, episodes: how many there were.
    """

    config: EstimatorConfig
    values: dict[str, Any]
    proposals: list[Proposal]
    turned: dict[str, float]
    measured: Measured
    tried: list[Tried]
    with_truth: bool
    default: Check
    score: Check
    states: int
    episodes: int


def identify_parameters(
    make: Make, config: EstimatorConfig, episodes: Episodes, told: Callable[[str], None] = lambda text: None
) -> Parameters:
    """All parameters that recordings speak of.

    Args:
        make: the robot's model for a configuration. told: is given a line about what is done.

    Raises:
        ValueError: there are too few states.
    """
    if min((len(states) for states in episodes.states), default=0) < 20:
        raise ValueError("20 states or more of each recording are needed")
    first, rest = halves(episodes)
    told(f"measuring on {first.samples} states")
    proposals = propose(measure_noise(make(config), config, first, with_efforts=False), config)
    default = best = check(make, config, rest)
    current, tried, groups = config, [], set()
    for group, what in GROUPS.items():
        values = _values(proposals, group)
        deciding = {path: x for path, x in values.items() if path not in _UNDECIDING}
        if not deciding:
            continue
        told(f"trying {what}")
        trial, score = _trial(make, current, deciding, rest)
        if trial is None or score is None:
            continue
        took = score.score >= best.score - _NOISE if best.tells else group == "planes"
        tried.append(_tried(what, best, score, took))
        if took:
            current, best = trial, score
            groups.add(group)
    turned: dict[str, float] = {}
    if episodes.truth is not None:
        current, best, turned = _turn(make, config, current, best, (first, rest), tried, told)
    told("measuring on all states")
    measured = measure_noise(make(config), config, episodes)
    proposals = [_decided(p, groups, best.tells, turned) for p in propose(measured, config)]
    values = {p.path: p.value for p in proposals if not p.kept} | turned
    return Parameters(
        _fitting(config, values), values, proposals, turned, measured, tried, episodes.truth is not None, default, best,
        episodes.samples, len(episodes.states),
    )  # fmt: skip


def _values(proposals: list[Proposal], group: str) -> dict[str, Any]:
    return {p.path: p.value for p in proposals if p.group == group and not p.kept and p.value != p.default}


def _trial(
    make: Make, config: EstimatorConfig, values: dict[str, Any], episodes: Episodes
) -> tuple[EstimatorConfig | None, Check | None]:
    try:
        trial = applied(config, values)
    except ValueError:  # values that contradict each other, or are out of range
        return None, None
    return trial, check(make, trial, episodes)


def _tried(what: str, before: Check, score: Check, taken: bool) -> Tried:
    return Tried(what, before.score, score.score, *score.better_than(before)[1:], taken)


def _turn(
    make: Make,
    given: EstimatorConfig,
    current: EstimatorConfig,
    best: Check,
    parts: tuple[Episodes, Episodes],
    tried: list[Tried],
    told: Callable[[str], None],
) -> tuple[EstimatorConfig, Check, dict[str, float]]:
    """Turn parameters by a truth: one after the other on the first part, all of them together held against the rest.

    Values are multiples of those of ``given``: what was measured meanwhile may be out of reach of any factor.
    """
    first, rest = parts
    before = fitted = check(make, current, first)
    trial, turned = current, dict[str, float]()
    for path, factors in FACTORS.items():
        told(f"turning {path}")
        for factor in factors:
            value = float(f"{factor * get(given, path):.4g}")
            config, score = _trial(make, trial, {path: value}, first)
            if config is not None and score is not None and score.score > fitted.score + _GAIN:
                trial, fitted, turned[path] = config, score, value
    if not turned:
        return current, best, {}
    held = check(make, trial, rest)
    _, low, _ = held.with_others(fitted).better_than(best.with_others(before))
    took = held.score >= best.score - _NOISE and low > 0.0
    what = ", ".join(f"{path} = {value:g}" for path, value in turned.items())
    tried.append(_tried(f"{what}, by the truth", best, held, took))
    return (trial, held, turned) if took else (current, best, {})


def _decided(p: Proposal, groups: set[str], tells: bool, turned: dict[str, float]) -> Proposal:
    """A proposal with the reason why it is kept, if it is."""
    if p.path in turned:
        return Proposal(p.group, p.path, turned[p.path], p.default, p.found, "", "chosen by the truth")
    if p.kept or p.group == "delay" or p.path in _UNDECIDING or p.group in groups:
        return p
    if p.value == p.default:
        return Proposal(p.group, p.path, p.default, p.default, p.found, "it is what was measured")
    why = (
        f"with {GROUPS[p.group]} as measured ({p.path.rpartition('.')[2]}: {p.value}) the held-out part scores worse"
        if tells else f"too few events in the held-out part to try what was measured ({p.value})"
    )  # fmt: skip
    return Proposal(p.group, p.path, p.default, p.default, p.found, why)


def _fitting(config: EstimatorConfig, values: dict[str, Any]) -> EstimatorConfig:
    """The configuration with all values. Measured again, thresholds may contradict each other: the wider ones give
    way."""
    off = values.get("activation.gap_off", config.activation.gap_off)
    if values.get("activation.gap_on", config.activation.gap_on) > off:
        values["activation.gap_off"] = values["activation.gap_on"]
    return applied(config, values)
