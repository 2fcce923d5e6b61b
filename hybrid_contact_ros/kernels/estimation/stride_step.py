"""The two steps of an update that foretell events from the last stride, and learn from those that come."""

from __future__ import annotations

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.event_skill import learn_skill, learn_slip, pause_skill
from hybrid_contact_ros.kernels.estimation.event_sources import EventsGiven, EventsTold, weigh_sources
from hybrid_contact_ros.kernels.estimation.rate_lines import smooth_gaps
from hybrid_contact_ros.kernels.estimation.stride_begin import note_event
from hybrid_contact_ros.kernels.estimation.stride_course import (
    COUNT,
    LAG,
    ORIGIN,
    TRACKED,
    USED,
    follow_course,
)
from hybrid_contact_ros.kernels.estimation.update_records import NEXT_EVENT

_TOUCHDOWN, _LIFTOFF = int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_SLIP = int(EventKind.SLIP)


@kernel
def weigh_events(
    settings, given, weight, idle, robot, problem, here, tracker, rate_lines, lines, scratch, course, skill, ahead, out,
):  # fmt: skip
    """Replace the next touchdown or liftoff of each contact by what all sources say of it, with the times' bounds."""
    if course.place[USED] == 0:
        return
    beside = scratch.vectors[0][: weight.shape[0]]
    smooth_gaps(tracker.closed, problem.gap, rate_lines, beside)
    for i in range(beside.shape[0]):
        beside[i] -= problem.gap[i]
    now = follow_course(given.dt, given.stamp, given.first, robot.normals, problem.position, beside, course)
    if course.place[COUNT] <= 1:
        pause_skill(skill)
    lost = course.lag[LAG] > 0.0 and course.lag[TRACKED] == 0.0
    weigh_sources(
        EventsGiven(
            now, given.dt, settings.sigmas, settings.horizon, lost, tracker.closed, problem.gap, here.gap_velocity,
            scratch.expected, scratch.load, weight, lines, rate_lines, settings.gap_sigma, settings.gap_off, idle,
            here.velocity_sigmas, here.gap_sigmas,
        ),
        course, skill, EventsTold(out.codes[NEXT_EVENT], ahead.backed, ahead.event_times),
    )  # fmt: skip


@kernel
def learn_events(detected, events, course, skill):
    """Take the events that are ``detected``: the first rows of ``events``, as of ``events_to_learn``."""
    if course.place[USED] == 0:
        return
    for k in range(detected):
        contact, kind, time = events[k, 0], events[k, 1], 1e-9 * (events[k, 2] - course.place[ORIGIN])
        if kind == _SLIP:
            learn_slip(contact, time, skill)
        if kind != _TOUCHDOWN and kind != _LIFTOFF:
            continue
        lifts = 1 if kind == _LIFTOFF else 0
        if note_event(contact, lifts, time, course):
            learn_skill(contact, lifts, time, skill)
