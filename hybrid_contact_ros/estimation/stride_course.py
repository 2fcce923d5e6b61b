"""What is remembered of a robot's last stride, and of what was foretold from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.estimation.event_skill import (
    FIRST,
    FIRST_SUMS,
    HORIZONS,
    KINDS,
    PATH,
    RECENT,
    SLIPS,
    SOURCES,
    EventSkill,
)
from hybrid_contact_ros.kernels.estimation.load_course import COURSE, MARKS
from hybrid_contact_ros.kernels.estimation.stride_course import (
    EVENTS,
    KEPT,
    NUMBERS,
    POSITIONS,
    USED,
    StrideCourse,
)
from hybrid_contact_ros.kernels.estimation.unloading import UNLOADING

Array = NDArray[np.float64]
_BASE_Q, _BASE_V, _LINEAR = 7, 6, 3  # of a floating base
_UNPROVEN = 0.45  # share of liftoffs by the load that came true: one that comes makes it believed, at every contact


def stride_course(contacts: int, configuration: Array, velocity: Array, floating: bool, used: bool) -> StrideCourse:
    """Nothing is remembered yet. ``configuration`` (nq,) and ``velocity`` (nv,) are the arrays of the present state.

    Signals are the positions of the joints (where each has one coordinate and one velocity), their velocities, and the
    turning rates of a floating base. A body without joints has no gait: nothing is remembered of it.
    """
    nq, nv = configuration.size, velocity.size
    base_q, base_v = (_BASE_Q, _BASE_V) if floating else (0, 0)
    positions = nq - base_q if nq - base_q == nv - base_v else 0
    s = positions + nv - (_LINEAR if floating else 0)
    used = used and nv > (_BASE_V if floating else 0)
    kept = KEPT if used else 1
    place = np.zeros(5, dtype=np.int64)
    place[POSITIONS], place[USED] = positions, used
    return StrideCourse(
        configuration=configuration,
        velocity=velocity,
        times=np.zeros(kept),
        signals=np.zeros((kept, s)),
        heights=np.zeros((kept, contacts)),
        place=place,
        now=np.zeros(s),
        past=np.zeros((2, s)),
        noise=np.zeros((3, s)),
        lag=np.zeros(NUMBERS),
        events=np.zeros((contacts, EVENTS)),
        lifted=np.full((contacts, EVENTS), -1, dtype=np.int64),
        undone=np.full((contacts, 3), -1.0),
    )


def event_skill(contacts: int) -> EventSkill:
    """Of m contacts, before anything is known."""
    m, indices = contacts, np.int64
    skill = EventSkill(
        square=np.zeros((m + 1, 2, SOURCES, HORIZONS)),
        events=np.zeros((m + 1, 2, SOURCES, HORIZONS)),
        share=np.zeros((m, KINDS, SOURCES)),
        recent=np.zeros((RECENT, m, SOURCES)),
        recent_time=np.zeros(RECENT),
        recent_kind=np.zeros((RECENT, m), dtype=indices),
        recent_place=np.zeros(2, dtype=indices),
        pending=np.zeros((m, KINDS, SOURCES)),
        path=np.zeros((m, 4)),
        sigma=np.zeros(m),
        forecast=np.zeros((m, SOURCES)),
        estimate=np.zeros(3),
        lean=np.zeros(5),
        recent_lean=np.zeros((RECENT, 2)),
        recent_load=np.zeros((RECENT, m)),
        unloading=np.zeros((m + 1, UNLOADING)),
        fell=np.zeros(m + 1, dtype=indices),
        pressed=np.zeros(m),
        alone=np.zeros((m, 3)),
        shed=np.zeros((m + 2, COURSE + 1)),
        marks=np.zeros((m, MARKS), dtype=indices),
    )
    forget_skill(skill)
    return skill


def forget_skill(skill: EventSkill) -> None:
    """Think of all sources as before anything was known."""
    skill.square[:] = np.square(FIRST)
    skill.events[:] = 1.0
    skill.share[:] = 1.0
    skill.share[:, 1, PATH] = skill.share[:, SLIPS] = _UNPROVEN
    skill.alone[:] = _UNPROVEN, 0.0, 0.0
    skill.lean[:] = FIRST_SUMS
    for array in (skill.fell, skill.pressed, skill.marks):
        array.fill(0)
    skill.pending[:] = np.nan
    skill.sigma[:] = np.nan
    skill.path[:] = 0.0
    skill.recent_place[:] = 0
