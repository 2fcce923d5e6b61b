"""From what was measured to parameters: which values a recording speaks for, and why the others keep theirs.

A standard deviation is written as it was measured, but not below a third of what it was: one recording does not show
all that a robot meets. How feet move in the air is told and not written: values of one gait made another one worse. A
tolerance (a threshold that standing feet must stay within) is only widened: a narrower one needs a truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from hybrid_contact_ros.config import Environment, EstimatorConfig
from hybrid_contact_ros.identification.ground_planes import LEVEL
from hybrid_contact_ros.identification.intervals import Found
from hybrid_contact_ros.identification.noise import Measured

LEAST_PART = 1.0 / 3.0  # of a standard deviation that may be left
_SIGMAS = 3.0
_LEAST_DELAY = 0.0015  # s: less is not worth a parameter (estimation/stream_offsets.py)
_LEAST_HEIGHT = 0.0005  # m: less is not worth a parameter, as ground.plane_sigma says
_WANDERS = 0.003  # m, half-width of a height's interval beyond which the base's drift is what it shows
GROUPS = {
    "planes": "height and slope of the planes",
    "ground": "steps of the ground, feet and drift",
    "sensors": "noise of gaps, rates and joints",
    "tolerances": "thresholds of standing feet",
}
"""Which values are tried together."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One parameter. path: dotted name. value: proposed. default: what it was. found: what it was measured as.
    kept: why it keeps its value; empty where the recording speaks for another."""

    group: str
    path: str
    value: Any
    default: Any
    found: tuple[Found, ...] = ()
    kept: str = ""
    note: str = ""


def get(config: EstimatorConfig, path: str) -> Any:
    """The value of a parameter by its dotted name."""
    node: Any = config
    for name in path.split("."):
        node = node[name] if isinstance(node, dict) else getattr(node, name)
    return node


def applied(config: EstimatorConfig, values: dict[str, Any]) -> EstimatorConfig:
    """A configuration with other values, checked as a file would be.

    Raises:
        ValueError: values that are out of range, or contradict each other.
    """
    data = plain(config)
    for path, value in values.items():
        node = data
        *above, name = path.split(".")
        for each in above:
            node = node[each]
        node[name] = value
    return EstimatorConfig.from_mapping(data)


def plain(config: Any) -> Any:
    """A configuration as nested mappings."""
    if hasattr(config, "__dataclass_fields__"):
        return {f.name: plain(getattr(config, f.name)) for f in fields(config)}
    if hasattr(config, "items"):
        return {key: plain(value) for key, value in config.items()}
    return config


def propose(measured: Measured, config: EstimatorConfig) -> list[Proposal]:
    """All parameters that measurements speak of."""
    found = [p for name, plane in measured.planes.items() for p in _planes(name, plane, config)]
    stance, swing, ground = measured.stance, measured.swing, next(iter(measured.planes.values()), None)

    def add(
        group: str, path: str, of: Found, make: Callable[[float, float], float] = lambda new, old: new, note: str = ""
    ) -> None:
        default = get(config, path)
        if not of.known:
            found.append(Proposal(group, path, default, default, (of,), of.why, note))
            return
        value = make(of.value, default)
        kept = "standing feet stay well within it" if value == default and group == "tolerances" else ""
        if group != "tolerances" and of.covers(default):
            kept = "it is within the interval of what was measured"
        if value > of.value and value == LEAST_PART * default:
            note = "not below a third of what it was"
        found.append(Proposal(group, path, _rounded(value), default, (of,), kept, note))

    def sigma(new: float, old: float) -> float:
        return max(new, LEAST_PART * old)

    if ground is not None:
        add("ground", "ground.step_sigma", ground.steps, sigma)
        add("ground", "ground.foot_sigma", _feet(ground.feet), sigma)
        add("ground", "ground.drift", ground.drift, sigma)
    add("sensors", "activation.gap_sigma", stance["gap"], sigma)
    add("sensors", "activation.velocity_sigma", stance["rate"], sigma)
    add("sensors", "activation.force_sigma", stance["load"], sigma)
    for channel, path in (("joint positions", "joint_position_sigma"), ("joint velocities", "joint_velocity_sigma")):
        add("sensors", f"sensitivity.{path}", measured.channels[channel].sigma, sigma)
    gap = stance["gap"]
    spread = math.hypot(gap.value, *(f.value for f in _known(ground))) if gap.known else math.nan
    told = replace(gap, name="gap noise, steps and feet together", value=spread) if gap.known else gap
    add("tolerances", "activation.gap_on", told, lambda new, old: max(_SIGMAS * new, old), f"{_SIGMAS:g} deviations")
    off = 2.0 * _SIGMAS
    add("tolerances", "activation.gap_off", told, lambda new, old: max(off * new, old), f"{off:g} deviations")
    add(
        "tolerances",
        "activation.velocity_tolerance",
        stance["rate"],
        lambda new, old: max(_SIGMAS * new, old),
        f"{_SIGMAS:g} deviations",
    )
    add("tolerances", "activation.slip_off", stance["slide"], lambda new, old: max(new, old), "99 % of the time")
    add(
        "tolerances",
        "activation.slip_on",
        stance["slide"],
        lambda new, old: max(1.5 * new, old),
        "99 % of the time, times 1.5",
    )
    for name, path in (("height", "swing_height"), ("speed", "swing_speed"), ("slide", "swing_slide")):
        old = get(config, f"belief.{path}")
        why = swing[name].why or "it is this recording's motion and no noise: another gait has another"
        found.append(Proposal("swing", f"belief.{path}", old, old, (swing[name],), why))
    return [*found, _delay(measured.delay, config)]


def _planes(name: str, plane: Any, config: EstimatorConfig) -> list[Proposal]:
    old: Environment = config.environments[name]
    height, told = plane.height, (plane.height, *plane.slopes)
    path = f"environments.{name}"
    if plane.moved is None:
        return [Proposal("planes", f"{path}.offset", old.offset, old.offset, told, height.why)]
    if 0.5 * (height.high - height.low) > _WANDERS:
        between = f"{1e3 * height.low:.1f} to {1e3 * height.high:.1f} mm"
        why = f"its height is {between}: the base drifts, or the ground is not flat"
        return [Proposal("planes", f"{path}.offset", old.offset, old.offset, told, why)]
    tilted = any(s.known and not s.covers(0.0) and abs(s.value) > LEVEL for s in plane.slopes)
    if not tilted and (height.covers(0.0) or abs(height.value) < _LEAST_HEIGHT):
        return [Proposal("planes", f"{path}.offset", old.offset, old.offset, told, "the configured plane is as good")]
    found = [Proposal("planes", f"{path}.offset", _rounded(plane.moved.offset), old.offset, told)]
    if tilted:
        normal = tuple(_rounded(x) for x in plane.moved.normal)
        found.append(Proposal("planes", f"{path}.normal", normal, old.normal, plane.slopes))
    return found


def _feet(feet: dict[str, Found]) -> Found:
    """What feet stand higher or lower than the others, root mean square."""
    known = [f for f in feet.values() if f.known]
    if len(known) < 2:
        why = next((f.why for f in feet.values()), "there is one foot")
        return Found("feet of other radii than configured", "m", why=why)
    value, low, high = (
        math.sqrt(sum(x * x for x in values) / len(values))
        for values in (
            [f.value for f in known],
            [0.0 if f.covers(0.0) else min(abs(f.low), abs(f.high)) for f in known],
            [max(abs(f.low), abs(f.high)) for f in known],
        )
    )
    return Found("feet of other radii than configured", "m", value, low, high, known[0].samples, known[0].blocks)


def _known(ground: Any) -> list[Found]:
    return [] if ground is None else [f for f in (ground.steps, _feet(ground.feet)) if f.known]


def _delay(found: Found, config: EstimatorConfig) -> Proposal:
    path = "input.odometry_delay"
    old = config.input.odometry_delay
    note = "checked by feet that stand: it is where they move least"
    if not found.known:
        return Proposal("delay", path, old, old, (found,), found.why)
    if found.low <= _LEAST_DELAY and found.high >= -_LEAST_DELAY:
        return Proposal("delay", path, old, old, (found,), f"it may be less than {1e3 * _LEAST_DELAY:g} ms")
    return Proposal("delay", path, _rounded(old + found.value), old, (found,), "", note)


def _rounded(x: float) -> float:
    return float(f"{x:.4g}")
