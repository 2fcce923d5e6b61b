"""A foot that is unloaded as it was before its last liftoff leaves as long after that; dips of the load are none."""

import numpy as np
import pytest

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.stride_course import event_skill, forget_skill, stride_course
from hybrid_contact_ros.kernels.estimation.event_skill import PATH, learn_skill
from hybrid_contact_ros.kernels.estimation.event_sources import EventsGiven, EventsTold, weigh_sources
from hybrid_contact_ros.kernels.estimation.event_times import follow_line
from hybrid_contact_ros.kernels.estimation.load_course import REPEATS
from hybrid_contact_ros.kernels.estimation.stride_course import MISMATCH, TRACKED

LIFTOFF = int(EventKind.LIFTOFF)
FULL = 80.0  # N


def ramp(left):
    """N, ``left`` s before a liftoff: half of the load goes within 8 ms, the rest within 24 ms, ever faster."""
    return FULL * np.interp(left, [0.0, 0.01, 0.024, 0.032], [0.0, 0.3, 0.5, 1.0])


class Feet:
    """Contacts whose loads are given, on a gait of which nothing else is known."""

    def __init__(self, contacts=1, step=0.001):
        self.m, self.step, self.now = contacts, step, 0.0
        self.skill = event_skill(contacts)
        self.course = stride_course(contacts, np.zeros(1), np.zeros(1), False, True)
        self.lines = np.full((contacts, 2, 3), -1.0)

    def state(self, loads, weight=1.0, due=np.inf, lost=False):
        """Kind and time (s from now) of the first contact's next event; loads of 0 are open feet. ``due``: s from now,
        of the liftoff that the rhythm foretells. ``lost``: the last stride was followed, and is no longer."""
        m, self.now = self.m, self.now + self.step
        closed = np.array([load > 0.0 for load in loads], np.uint8)
        for i in range(m):
            if closed[i]:
                follow_line(self.step, 0.01, loads[i], self.lines[i, 0])
            else:
                self.lines[i, 0, 2] = -1.0
        told = EventsTold(np.zeros(m, np.uint8), np.zeros(m, np.uint8), np.full((m, 3), np.nan))
        expected = np.full((m, 2, 3), np.inf)
        expected[:, 1] = due, due - 0.005, due + 0.005
        given = EventsGiven(
            self.now, self.step, 2.0, 0.1, lost, closed, np.ones(m), -np.ones(m), expected,
            np.array(loads, np.float64), np.full(m, weight), self.lines, np.full((m, 3), -1.0), 0.001, 0.008,
            np.zeros(m, np.uint8), np.full(m, 0.02), np.full(m, 0.001),
        )  # fmt: skip
        weigh_sources(given, self.course, self.skill, told)
        return int(told.kind[0]), float(told.times[0, 0])

    def stance(self, loads, contact=0, lost=False):
        """The contact carries ``loads`` and leaves. What was told at each state, with the s that were left."""
        rest, told = [FULL] * self.m, []
        end = self.now + (len(loads) + 1) * self.step
        for load in loads:
            rest[contact] = load
            kind, time = self.state(rest, lost=lost)
            told.append((end - self.now, kind, time))
        rest[contact] = 0.0
        self.state(rest)
        learn_skill(contact, 1, end, self.skill)
        for _ in range(40):
            self.state(rest)
        return told


def unloaded(stand=0.1, step=0.001):
    """Loads of a stance of so many s that ends like :func:`ramp`."""
    left = np.arange(stand, 0.5 * step, -step)
    return [max(ramp(t), 0.1) for t in left]


def test_a_foot_leaves_as_long_after_its_load_falls_as_it_did_before():
    feet = Feet()
    for stand in (0.1, 0.15, 0.12):
        feet.stance(unloaded(stand))
    told = {round(1e3 * left): (kind, time - left) for left, kind, time in feet.stance(unloaded(0.25))}
    for ms in (5, 10, 15, 20):
        kind, error = told[ms]
        assert kind == LIFTOFF and abs(error) < 0.0015
    assert told[60][0] == 0  # it is not unloaded yet


@pytest.mark.parametrize("step", [0.001, 0.002, 0.004])
def test_it_does_so_in_streams_of_other_rates(step):
    feet = Feet(step=step)
    for _ in range(4):
        told = feet.stance(unloaded(0.12, step))
    errors = [time - left for left, kind, time in told if kind == LIFTOFF and left <= 0.015]
    assert len(errors) >= 2 and np.abs(errors).max() < 0.004


def test_nothing_is_told_before_a_forecast_came_true():
    feet = Feet()
    assert not any(kind for _ in range(2) for _, kind, _ in feet.stance(unloaded()))


def test_a_load_that_jumps_down_or_stays_low_is_no_unloading():
    feet = Feet()
    for _ in range(4):
        feet.stance(unloaded())
    for loads in ([FULL] * 30 + [0.4 * FULL - 0.01 * k for k in range(60)], np.linspace(FULL, 0.35 * FULL, 400)):
        assert not any(feet.state([load])[0] for load in loads)
        feet.stance(unloaded())


def test_a_foot_without_a_liftoff_of_its_own_is_unloaded_like_the_others():
    feet = Feet(2)
    for _ in range(6):
        feet.stance(unloaded(), contact=1)
    assert feet.skill.fell[0] == 0
    assert any(kind == LIFTOFF for _, kind, _ in feet.stance(unloaded()))


def test_dips_silence_the_load():
    feet = Feet()
    for _ in range(4):
        feet.stance(unloaded())
    dip = [*unloaded(0.1)[:-8], *np.linspace(0.25 * FULL, FULL, 30), *[FULL] * 30]
    told = [any(feet.state([load])[0] for load in dip) for _ in range(6)]
    assert told[0] and not any(told[3:])


def test_forces_that_are_not_believed_tell_nothing():
    feet = Feet()
    for _ in range(4):
        feet.stance(unloaded())
    assert not any(feet.state([load], weight=0.2)[0] for load in unloaded())


def test_reset_forgets_how_feet_were_unloaded():
    feet = Feet()
    for _ in range(4):
        feet.stance(unloaded())
    forget_skill(feet.skill)
    assert not any(feet.state([load])[0] for load in unloaded()) and feet.skill.forecast[0, PATH] == np.inf


def test_loads_tell_nothing_while_the_motion_leaves_the_last_stride():
    """A robot that stops in its stride puts feet down, and takes load off others that stay."""
    told = []
    for mismatch in (1.0, 12.0):
        feet = Feet()
        for _ in range(4):
            feet.stance(unloaded())
        feet.course.lag[TRACKED], feet.course.lag[MISMATCH] = 1.0, mismatch
        told.append([feet.state([load])[0] for load in unloaded()].count(LIFTOFF))
    assert told[0] > 5 and told[1] == 0


def taken_off(stand):
    """Loads of a stance of so many s, of which the last 24 ms take all load off at one rate."""
    return [max(FULL * min(left / 0.024, 1.0), 0.1) for left in np.arange(stand, 0.0005, -0.001)]


def test_a_foot_that_still_bears_its_load_does_not_leave_at_once_whatever_the_rhythm_says():
    feet = Feet()
    for stand in (0.1, 0.15):
        feet.stance(taken_off(stand))
    for _ in range(20):
        feet.state([FULL])
    told = [feet.state([FULL], due=due)[0] for due in (0.05, 0.015, 0.01, 0.005)]
    assert told == [LIFTOFF, 0, 0, 0]  # 50 ms ahead it may still be unloaded in time
    assert feet.state([FULL], weight=0.0, due=0.01)[0] == LIFTOFF  # nothing is known of its load
    fresh = Feet()
    for _ in range(20):
        fresh.state([FULL])
    assert fresh.state([FULL], due=0.01)[0] == LIFTOFF  # nor of how it is unloaded


def test_a_foot_that_is_to_be_unloaded_gently_at_first_is_seen_to_stand_then():
    feet = Feet()
    for stand in (0.1, 0.15):
        left = np.arange(stand, 0.0005, -feet.step)
        feet.stance(FULL * np.interp(left, [0.0, 0.01, 0.034], [0.0, 0.45, 1.0]))
    for _ in range(20):
        feet.state([FULL])
    assert [feet.state([FULL], due=due)[0] for due in (0.03, 0.02)] == [LIFTOFF, 0]


def test_a_foot_that_is_unloaded_as_before_leaves_when_the_rhythm_says():
    feet = Feet()
    for stand in (0.1, 0.15):
        feet.stance(taken_off(stand))
    loads = taken_off(0.1)
    told = [feet.state([load], due=(len(loads) - n) * feet.step)[0] for n, load in enumerate(loads)]
    assert all(kind == LIFTOFF for kind in told[20:])


def test_loads_foretell_first_strides_only_after_they_were_right_in_such():
    """A robot that trotted, stops and begins to walk shifts its load before it steps: that is no liftoff."""
    feet = Feet()
    for _ in range(6):
        feet.stance(unloaded())
    told = [any(kind for _, kind, _ in feet.stance(unloaded(), lost=True)) for _ in range(4)]
    assert not told[0] and all(told[2:])
    assert any(kind for _, kind, _ in feet.stance(unloaded()))


def test_while_no_stride_is_followed_loads_tell_of_what_is_near_alone():
    """A robot that begins to walk takes load off feet that stay."""
    feet = Feet()
    for k in range(12):
        feet.stance(unloaded(), lost=k > 5)
    for lost in (True, False):
        told = [left for left, kind, _ in feet.stance(unloaded(), lost=lost) if kind == LIFTOFF]
        assert told and (max(told) <= 0.0145) == lost  # within the error of what is told


def paced(stand=0.12):
    """Loads of a foot of a pace: other legs land 36 ms before it leaves, and it leaves from a load that rises."""
    left = np.arange(stand, 0.0005, -0.001)
    return FULL * np.interp(left, [0.0, 0.03, 0.034, 0.036, 0.04], [0.75, 0.1, 0.1, 0.6, 1.0])


@pytest.mark.parametrize("landing", [FULL, 4.4 * FULL])
def test_a_foot_whose_load_does_not_change_as_before_its_last_liftoffs_does_not_leave(landing):
    """A pace that stops with all feet on the ground: each goes on to bear what it does, however hard it landed."""
    feet, loads = Feet(), paced()
    loads[0] = landing
    for _ in range(3):
        feet.stance(loads)
    assert feet.skill.fell[0] < 3  # there is nothing that falls until it leaves
    goes_on = [feet.state([load], due=0.001 * (len(loads) - n))[0] for n, load in enumerate(loads)]
    assert all(kind == LIFTOFF for kind in goes_on[30:])
    feet.stance(loads[-1:])
    stops = np.where(np.arange(len(loads)) < 85, loads, 0.4 * FULL)
    told = [feet.state([load], due=max(0.001 * (len(loads) - n), 0.0))[0] for n, load in enumerate(stops)]
    assert told[60] == LIFTOFF and not any(told[-10:])
    assert not any(feet.state([0.4 * FULL], due=due)[0] for due in (0.09, 0.05, 0.01))  # until its load changes
    assert feet.state([0.4 * FULL], weight=0.0, due=0.01)[0] == LIFTOFF


def test_loads_that_never_repeated_themselves_deny_nothing():
    feet, rng = Feet(), np.random.default_rng(3)
    for _ in range(6):
        feet.stance(FULL * rng.uniform(0.2, 1.0, 120))
    told = [feet.state([0.5 * FULL], due=max(0.12 - 0.001 * n, 0.0))[0] for n in range(120)]
    assert all(kind == LIFTOFF for kind in told[30:])


def test_reset_forgets_the_course_of_loads():
    feet = Feet()
    for _ in range(3):
        feet.stance(paced())
    assert feet.skill.marks[0, REPEATS] == 1
    forget_skill(feet.skill)
    assert not feet.skill.marks.any()
    for _ in range(30):
        feet.state([FULL])
    assert feet.state([FULL], due=0.01)[0] == LIFTOFF
