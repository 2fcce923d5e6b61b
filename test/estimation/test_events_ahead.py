"""Which events are ahead of a state, and which of them belong together."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import free
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.events_ahead import EventsAhead

TOUCHDOWN, LIFTOFF, STICK = EventKind.TOUCHDOWN, EventKind.LIFTOFF, EventKind.STICK


def ahead(*events):
    """Of contacts in turn: (kind, s)."""
    m = len(events)
    times = np.full((m, 3), np.nan)
    times[:, 0] = [when for _, when in events]
    kinds = np.array([int(kind) for kind, _ in events], np.uint8)
    none = np.zeros(m, np.uint8)
    return EventsAhead(
        state=free(0, 0.1), acceleration=np.zeros(6), closed=none, slipping=none, backed=kinds, event_times=times
    )


@pytest.mark.parametrize("horizon", [0.05, 0.1])
def test_a_cluster_that_straddles_the_horizon_is_whole(horizon):
    """Cut in two, either touchdown would be certain to come first."""
    (event,) = ahead((TOUCHDOWN, 0.0505), (TOUCHDOWN, 0.0497)).events(horizon, 0.01)
    assert event.contacts == (0, 1) and event.time == pytest.approx(0.0501)


def test_what_begins_beyond_the_horizon_is_left_out():
    found = ahead((TOUCHDOWN, 0.051), (TOUCHDOWN, 0.02), (STICK, 0.2), (LIFTOFF, 0.03), (LIFTOFF, 0.06)).events(
        0.05, 0.01
    )
    assert [(event.kind, event.contacts) for event in found] == [(TOUCHDOWN, (1,)), (LIFTOFF, (3,))]


def test_touchdowns_that_are_further_apart_than_the_window_are_clusters_of_their_own():
    found = ahead((TOUCHDOWN, 0.02), (TOUCHDOWN, 0.029), (TOUCHDOWN, 0.031), (TOUCHDOWN, np.nan)).events(0.05, 0.01)
    assert [event.contacts for event in found] == [(0, 1), (2,)]


def test_what_is_due_is_due_now():
    (event,) = ahead((TOUCHDOWN, -0.001)).events(0.05, 0.01)
    assert event.time == 0.0
