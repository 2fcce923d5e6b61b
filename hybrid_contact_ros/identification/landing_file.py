"""Identified landings as a part of a ROS parameter file."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from hybrid_contact_ros.identification.landings import LandingIdentification


def parameter_file(found: LandingIdentification) -> str:
    """The group ``landing`` as a part of a ROS parameter file."""
    terms, calibration = found.terms, found.calibration
    low, middle, high = (1e3 * value for value in found.durations)
    seconds = found.time_constant
    of_drive = "every joint: armature, and damping gain times duration"
    if seconds is not None:
        of_drive = (
            f"the damping gain, {found.damping:g} N m s/rad, times {1e3 * seconds[0]:.2g}-{1e3 * seconds[1]:.2g} ms"
        )
    said = {
        "duration_min": f"s; recorded landings took {low:.1f} to {high:.1f} ms, median {middle:.1f} ms",
        "rebound_min": "part of the approach of a hitting foot; below 0 it approaches still",
        "drive_min": f"kg m^2; {of_drive}",
        "drive_own": "kg m^2, of each joint by itself, above and below",
        "slip": "part of its approach that a hitting foot moves along the ground",
        "creep": "part of its tangential speed that a hitting foot keeps",
        "settling": "part of its velocity by which a standing, moving foot changes",
        "bounce": "part of the fastest approach, along the normal of such a foot",
        "margin": "of the nominal jump, relative to which distances are measured",
        "level": f"on average over calibrations and landings of episodes like the {found.episodes} recorded ones",
    }
    lines = [
        "/**:",
        "  ros__parameters:",
        "    landing:",
        f"      # Identified from {found.landings} landings of {found.episodes} episodes: {found.fitted} fitted the",
        f"      # intervals, {calibration.count} calibrated the margin, {found.tested} tested both.",
    ]
    values: dict[str, Any] = {f.name: getattr(terms, f.name) for f in fields(terms) if f.name != "friction"}
    values |= {
        "level": float(f"{calibration.level:.3g}"),
        "calibration_count": calibration.count,
        "calibration_method": calibration.method,
    }
    for name, value in values.items():
        text = f"{name}: {_plain(value)}"
        lines.append(f"      {text:<28}# {said[name]}" if name in said else f"      {text}")
    return "\n".join(lines) + "\n"


def _plain(value: float | int | str) -> str:
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.6f}".rstrip("0")
    return text + "0" if text.endswith(".") else text
