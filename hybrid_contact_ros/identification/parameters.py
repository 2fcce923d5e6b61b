"""Parameters of a robot from its recordings: measured, tried on a part that they were not taken from, and told with
reasons.

1. What is right is a truth, or else what hindsight makes of the whole recording (:mod:`.hindsight`), or else which
   events were announced. With fewer than 10 of these nothing can be tried, and only the planes and what no decision
   depends on are taken.
2. Values are measured on the first 60 % (of four episodes or more: on the first ones).
3. Groups of them are tried one after the other on the rest. Planes, and with a truth other groups too, are taken if the
   score is not lower than without them. Without a truth a group must gain there, and on both parts beyond the 95 %
   interval: else the values of the given file stay.
4. With a truth or hindsight, parameters that nothing measures are turned one after the other on the first part. All
   that gains there is taken together, if it loses nothing on the rest (without a truth: gains there) and gains on both
   parts beyond the interval: one by one, gains are too small to be told from chance.
5. What is written of the groups that were taken is measured on everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.held_out import Check, check, halves
from hybrid_contact_ros.identification.hindsight import hindsight
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
"""Parameters that a truth, or hindsight, may turn, and by what."""
_WORTH = 0.002
"""Of the score without a truth: less is no reason to change a value, since what is not scored (hindsight is silent
about the milliseconds of an event) may lose as much."""
REFERENCES = {
    "truth": "F1 of closed and of open, mean",
    "hindsight": "F1 of closed and of open, mean, against what efforts and gaps tell afterwards",
    "events": "events that were announced 20 ms before",
}
"""What configurations are scored by."""
_UNDECIDING = ("sensitivity.joint_position_sigma", "sensitivity.joint_velocity_sigma", "input.odometry_delay")
_BY = {"truth": "the truth", "hindsight": "hindsight"}
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
        with_truth: whether there is a truth. reference: what scores are against, a key of ``REFERENCES``. default,
            score: on the held-out part.
        states, episodes: how many there were.
    """

    config: EstimatorConfig
    values: dict[str, Any]
    proposals: list[Proposal]
    turned: dict[str, float]
    measured: Measured
    tried: list[Tried]
    with_truth: bool
    reference: str
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
    told("looking for what is right")
    judged, reference = _reference(make(config), config, episodes)
    (first, _), (judged_first, rest) = halves(episodes), halves(judged)
    told(f"measuring on {episodes.samples} states")
    measured = measure_noise(make(config), config, episodes)
    told(f"measuring on {first.samples} states")
    of_first = propose(measure_noise(make(config), config, first, with_efforts=False), config)
    of_all = propose(measured, config)
    default = best = check(make, config, rest)
    before: Check | None = None  # on the first part, where that is asked for
    current, tried, groups = config, [], set()
    for group, what in GROUPS.items():
        values = _values(of_first, group)
        if group == "planes" and not any(p.found[0].known for p in of_first if p.group == group):
            values = _values(of_all, group)  # the first part is too short; heights are not measured by any score
        deciding = {path: x for path, x in values.items() if path not in _UNDECIDING}
        if not deciding:
            continue
        told(f"trying {what}")
        trial, score = _trial(make, current, deciding, rest)
        if trial is None or score is None:
            continue
        took, fitted = score.score >= best.score - _NOISE if best.tells else group == "planes", None
        if took and group != "planes" and reference != "truth":
            before = check(make, current, judged_first) if before is None else before
            fitted = check(make, trial, judged_first)
            took = _gains(score, fitted, best, before, reference)
        tried.append(_tried(what, best, score, took))
        if took:
            current, best, before = trial, score, fitted
            groups.add(group)
    turned: dict[str, float] = {}
    if judged.truth is not None:
        current, best, turned = _turn(make, config, current, best, (judged_first, rest), reference, tried, told)
    proposals = [_decided(p, groups, best.tells, turned, reference) for p in of_all]
    values = {p.path: p.value for p in proposals if not p.kept} | turned
    return Parameters(
        _fitting(config, values), values, proposals, turned, measured, tried, episodes.truth is not None, reference,
        default, best, episodes.samples, len(episodes.states),
    )  # fmt: skip


def _reference(model: RigidBodyModel, config: EstimatorConfig, episodes: Episodes) -> tuple[Episodes, str]:
    """The episodes with what they are judged by, and what that is."""
    if episodes.truth is not None:
        return episodes, "truth"
    found = hindsight(model, config, episodes)
    return (episodes, "events") if found is None else (found, "hindsight")


def _gains(held: Check, fitted: Check, best: Check, before: Check, reference: str) -> bool:
    """Whether a trial gains on both parts together (fitted over before on the first one, held over best on the rest)
    beyond the interval. On the rest, it may lose nothing by a truth, and must gain without one."""
    gain, low, _ = held.better_than(best)
    alone = gain >= -_NOISE if reference == "truth" else gain > _WORTH and low >= 0.0
    return alone and held.with_others(fitted).better_than(best.with_others(before))[1] > 0.0


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
    reference: str,
    tried: list[Tried],
    told: Callable[[str], None],
) -> tuple[EstimatorConfig, Check, dict[str, float]]:
    """Turn parameters by a truth or hindsight: one after the other on the first part, all of them together held
    against the rest.

    Values are multiples of those of ``given``: what was measured meanwhile may be out of reach of any factor.
    """
    first, rest = parts
    before = fitted = check(make, current, first)
    if reference != "truth" and max(before.score, best.score) > 1.0 - _WORTH:
        return current, best, {}
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
    took = _gains(held, fitted, best, before, reference)
    what = ", ".join(f"{path} = {value:g}" for path, value in turned.items())
    tried.append(_tried(f"{what}, by {_BY[reference]}", best, held, took))
    return (trial, held, turned) if took else (current, best, {})


def _decided(p: Proposal, groups: set[str], tells: bool, turned: dict[str, float], reference: str) -> Proposal:
    """A proposal with the reason why it is kept, if it is."""
    if p.path in turned:
        return Proposal(p.group, p.path, turned[p.path], p.default, p.found, "", f"chosen by {_BY[reference]}")
    if p.kept or p.group == "delay" or p.path in _UNDECIDING or p.group in groups:
        return p
    if p.value == p.default:
        return Proposal(p.group, p.path, p.default, p.default, p.found, "it is what was measured")
    why = (
        f"with {GROUPS[p.group]} as measured ({p.path.rpartition('.')[2]}: {p.value}) the rest scores no better"
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
