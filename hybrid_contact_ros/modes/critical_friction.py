"""How near the configured friction of a robot is to the friction with which slides jam, found before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import ModeWorkspace

Array = NDArray[np.float64]

POSTURES = 300
_SWING = 1.5  # rad, m: joints without narrower limits are drawn within this of zero
_STANDING_DEPTH = 0.3  # a contact may stand where it is this part of the lowest one's depth below the root link
_NAMED = 4  # contacts whose names fit into a line
_REPORTED_SHARE = 0.02  # a contact is reported where its slides jam in a larger part of the postures than this


@dataclass(frozen=True, slots=True)
class CriticalFriction:
    """Critical friction of one contact over the postures of a robot: a slide with more jams (Painlevé).

    Attributes:
        contact: its name. friction: the configured coefficient.
        low, median: 5 % quantile and median of the critical friction over the postures in which the contact may stand,
            for the worst direction of the slide (inf where it never jams).
        share: the part of these postures in which the configured friction is within ten per cent of the critical one,
            or above it.
    """

    contact: str
    friction: float
    low: float
    median: float
    share: float

    @property
    def reported(self) -> bool:
        """Whether slides jam often enough to tell the user."""
        return self.share > _REPORTED_SHARE


def jamming(found: Sequence[CriticalFriction]) -> tuple[str, str] | None:
    """What to tell the user of all contacts, in one line, and with what stands behind it; None where slides hardly ever
    jam."""
    told = [each for each in found if each.reported]
    if not told:
        return None
    names = [each.contact for each in told]
    shown = names if len(names) <= _NAMED else [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    friction = _range([f"{each.friction:g}" for each in sorted(told, key=lambda each: each.friction)])
    share = _range([f"{100 * each.share:.0f}" for each in sorted(told, key=lambda each: each.share)])
    line = f"slides of {', '.join(shown)} may jam (Painlevé) in {share} % of postures with friction {friction}"
    detail = [
        "Slides jam where friction is near or above a critical value that depends on the posture; the contact is then",
        "taken to stick. Such legs are like that, it is no mistake. A lower friction, if the ground allows it, helps.",
        *(
            f"{each.contact}: friction {each.friction:g}; the critical one is below {each.low:.2f} in 5 % of postures, "
            f"below {each.median:.2f} in half of them; jams in {100 * each.share:.0f} %"
            for each in told
        ),
    ]
    return line, "\n".join(detail)


def _range(ordered: list[str]) -> str:
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


def critical_friction(model: RigidBodyModel, postures: int = POSTURES, seed: int = 0) -> tuple[CriticalFriction, ...]:
    """Draw postures and compute the critical friction of each contact alone, G_nn / ‖G_nt‖
    (:mod:`~hybrid_contact_ros.kernels.modes.jamming`).

    Joints are drawn uniformly within their limits, and within 1.5 rad of zero. A floating base is level, and a contact
    counts in postures where it is below the base. Contacts without friction, such as joint limits, never jam.
    """
    m = model.contacts
    if not m:
        return ()
    pinocchio = model.pinocchio_model
    index = model.coordinates.position_index[~model.coordinates.continuous]
    neutral = model.neutral()
    low, high = (
        model.coordinates.reduced_position(np.asarray(limit))[index]
        for limit in (pinocchio.lowerPositionLimit, pinocchio.upperPositionLimit)
    )
    low, high = np.clip(low, -_SWING, _SWING), np.clip(high, -_SWING, _SWING)
    rng = np.random.default_rng(seed)
    work, scope = ModeWorkspace(model.nv, m, 2), np.zeros(m, dtype=np.uint8)
    found = np.full((postures, m), np.nan)
    for row in found:
        q = neutral.copy()
        q[index] = low + (high - low) * rng.random(index.size)
        work.solve(model.problem(RobotState(0, q, np.zeros(model.nv))), scope, np.inf)
        row[:] = work.critical_friction
        if model.floating_base:
            depth = -np.einsum("ij,ij->i", model.contact_normals, model.contact_positions)
            row[depth < _STANDING_DEPTH * depth.max()] = np.nan
    return tuple(_summary(model, i, found[:, i]) for i in range(m))


def _summary(model: RigidBodyModel, i: int, found: Array) -> CriticalFriction:
    known, friction = found[~np.isnan(found)], float(model.friction[i])
    if not known.size or friction <= 0.0:
        return CriticalFriction(model.contact_names[i], friction, np.inf, np.inf, 0.0)
    ordered = np.sort(known)  # quantiles by rank: infinities cannot be interpolated between
    share = float((friction >= CRITICAL_PART * known).mean())
    low, median = float(ordered[int(0.05 * known.size)]), float(ordered[known.size // 2])
    return CriticalFriction(model.contact_names[i], friction, low, median, share)
