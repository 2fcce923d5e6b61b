"""Sources of event times count by what their errors were, and are silenced where what they foretell does not come."""

import numpy as np
import pytest

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.stride_course import event_skill, stride_course
from hybrid_contact_ros.kernels.estimation.event_skill import STATE, STRIDE, TOLD, learn_skill, learn_slip
from hybrid_contact_ros.kernels.estimation.event_sources import EventsGiven, EventsTold, weigh_sources
from hybrid_contact_ros.kernels.estimation.events_together import together
from hybrid_contact_ros.kernels.estimation.stride_course import COUNT, LAG, LAG_VARIANCE, PLACE, TRACKED

TOUCHDOWN, LIFTOFF, SLIP = int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF), int(EventKind.SLIP)
STEP = 0.002


class Foot:
    """One contact. ``expected`` is s from now by the rhythm; ``found`` by the state, or the line of the load."""

    def __init__(self):
        self.skill = event_skill(1)
        self.course = stride_course(1, np.zeros(1), np.zeros(1), False, True)
        self.now = 0.0

    def state(
        self,
        closed,
        expected=np.inf,
        found=np.nan,
        kind=0,
        lost=False,
        backed=True,
        gap=None,
        rate=-1.0,
        line=None,
        idle=0,
        ground=0.001,
    ):
        """(kind, time, earliest, latest) of the next event. Without a ``gap`` the foot is where it is to touch then."""
        gap = np.nanmin([1.0, found, expected]) if gap is None else gap
        due = np.full((1, 2, 3), np.inf)
        due[0, int(closed)] = expected, expected - 0.004, expected + 0.004
        told = EventsTold(
            np.array([kind], np.uint8),
            np.array([kind if backed else 0], np.uint8),
            np.array([[found, found - 0.002, found + 0.002]]),
        )
        one = np.ones(1)
        closed = np.array([closed], np.uint8)
        line = np.full((1, 3), -1.0) if line is None else line
        given = EventsGiven(
            self.now, STEP, 2.0, 0.1, lost, closed, gap * one, rate * one, due, one, np.zeros(1),
            np.zeros((1, 2, 3)), line, 0.001, 0.008, np.array([idle], np.uint8),
            0.02 * one, ground * one,
        )  # fmt: skip
        weigh_sources(given, self.course, self.skill, told)
        self.now += STEP
        return int(told.kind[0]), *told.times[0]

    def lifts(self, rhythm, times=1):
        """Liftoffs before which the rhythm is wrong by so many s."""
        for _ in range(times):
            end = self.now + 0.2
            for _ in range(100):
                left = end - self.now
                self.state(True, left + rhythm)
            learn_skill(0, 1, end, self.skill)
            for _ in range(30):
                self.state(False)


def test_mean_square_errors_become_those_of_the_source():
    foot = Foot()
    foot.lifts(0.006, 12)
    square = foot.skill.square[0, 1, STATE]
    assert np.sqrt(square) == pytest.approx(0.006, rel=0.2)
    assert (foot.skill.events[0, 1, STRIDE] == 1.0).all()  # it said nothing


def test_one_error_that_is_out_of_all_proportion_counts_for_little():
    foot = Foot()
    foot.lifts(0.001, 12)
    before = foot.skill.square[0, 1, STATE, 1]
    foot.lifts(0.025)
    assert foot.skill.square[0, 1, STATE, 1] < before + (0.004) ** 2


def test_a_source_whose_events_do_not_come_is_silenced_and_heard_again_when_they_do():
    foot = Foot()
    told = []
    for _ in range(6):
        for k in range(60):
            kind = foot.state(True, expected=0.05 - k * STEP)[0]
        told.append(kind)
        for _ in range(5):
            told[-1] = max(told[-1], foot.state(True, expected=0.05)[0])
    assert told[0] == LIFTOFF and told[-1] == 0
    foot.skill.pending[:] = np.nan
    foot.lifts(0.001, 4)
    assert foot.state(True, expected=0.05)[0] == LIFTOFF


def test_a_rhythm_is_not_told_while_the_motion_no_longer_repeats_itself():
    foot = Foot()
    assert foot.state(True, expected=0.03)[0] == LIFTOFF
    assert foot.state(True, expected=0.03, lost=True)[0] == 0
    assert foot.state(False, found=0.03, kind=TOUCHDOWN, lost=True)[0] == TOUCHDOWN  # the state tells of it
    assert foot.state(False, found=0.03, kind=TOUCHDOWN, lost=True, backed=False)[0] == 0  # only the rhythm does


def test_a_robot_of_which_nothing_tells_how_far_its_stride_is_foretells_no_liftoff():
    """It stopped with all feet on the ground: what it does is like the last stride, as far as it shows."""
    foot = Foot()
    foot.course.lag[TRACKED], foot.course.lag[LAG] = 1.0, 0.5
    for variance, told in ((0.004**2, LIFTOFF), (0.03**2, 0)):
        foot.course.lag[LAG_VARIANCE] = variance
        assert foot.state(True, expected=0.03)[0] == told
    foot.course.lag[TRACKED] = 0.0  # no stride was ever followed: the clock is all there is
    assert foot.state(True, expected=0.03)[0] == LIFTOFF


def test_bounds_are_as_wide_as_what_was_told_missed():
    foot = Foot()
    foot.lifts(0.002, 20)
    _, time, earliest, latest = foot.state(True, expected=0.05)
    deviation = np.sqrt(foot.skill.square[0, 1, TOLD, 2])
    assert (latest - time) / 2.0 == pytest.approx(deviation, rel=0.1)
    assert time - earliest == pytest.approx(latest - time)
    assert foot.skill.sigma[0] == pytest.approx(deviation, rel=0.1)


def test_a_slip_before_the_liftoff_is_told_where_slips_came_true():
    foot, at, heard = Foot(), {"expected": 0.05, "kind": SLIP}, []
    for slips in (True, True, True, False, False, False):  # three of four and more have to come
        heard.append(foot.state(True, found=0.01, **at)[:2])
        assert foot.state(True, found=0.08, **at)[0] == LIFTOFF  # it comes after the liftoff
        if slips:
            learn_slip(0, foot.now + 0.01, foot.skill)
        for _ in range(30):
            foot.state(True)
        foot.skill.pending[:, 1] = np.nan
    assert heard == [*3 * [(LIFTOFF, 0.05)], (SLIP, 0.01), *2 * [(LIFTOFF, 0.05)]]


def hovering(rate, seconds=0.05):
    """The line of a contact whose gap has changed at this rate for some time."""
    return np.array([[rate, 0.0, seconds]])


def test_what_hovers_near_the_ground_is_not_said_to_touch_it():
    foot, at = Foot(), {"kind": TOUCHDOWN, "found": 0.05}
    foot.state(False, gap=0.03)  # it has been up
    assert foot.state(False, gap=0.001, rate=-0.08, line=hovering(-0.01), **at)[0] == 0
    assert foot.state(False, gap=0.001, rate=-0.08, line=hovering(-0.08), **at)[0] == TOUCHDOWN
    assert foot.state(False, gap=0.001, rate=-0.08, **at)[0] == TOUCHDOWN  # no line is known


def test_what_turns_far_up_and_will_strike_is_said_to_touch():
    foot, at = Foot(), {"kind": TOUCHDOWN, "found": 0.05}
    assert foot.state(False, gap=0.02, rate=0.0, line=hovering(0.0), **at)[0] == TOUCHDOWN
    foot = Foot()
    assert foot.state(False, gap=0.0012, rate=0.0, line=hovering(0.0), **at)[0] == 0  # at 5 cm/s, which noise is, too


def test_where_the_ground_is_under_a_foot_that_hangs_lower_nobody_knows():
    foot, at = Foot(), {"kind": TOUCHDOWN, "found": 0.04, "rate": -0.2, "line": hovering(-0.2)}
    assert foot.state(False, gap=0.008, idle=1, **at)[0] == 0  # raised to gap_off
    assert foot.state(False, gap=0.009, idle=1, **at)[0] == TOUCHDOWN


def test_a_parabola_that_hardly_comes_down_denies_no_other_source():
    """A foot that slows down may turn or touch. By its record the state is the best source, by its bounds it is not."""
    for own, told in ((0.002, 0.08), (0.06, 0.03)):
        foot = Foot()
        foot.skill.square[:, 0, STATE], foot.skill.events[:, 0, STATE] = 0.001**2, 8.0
        foot.skill.forecast[0] = 0.08, 0.03, np.inf, np.nan
        assert together(0, 0, 0.1, 1.0, own, False, foot.skill)[0] == pytest.approx(told, abs=0.003)


@pytest.mark.parametrize("others", [np.inf, 0.05])
def test_a_touchdown_that_is_near_is_told_whatever_the_record_of_the_state_is(others):
    """Foretold touchdowns that did not come silence the state as a source; not where a foot is about to touch."""
    foot = Foot()
    foot.skill.share[0, 0, STATE] = 0.1
    assert foot.state(False, found=0.05, kind=TOUCHDOWN)[0] == 0
    kind, time, earliest, latest = foot.state(False, expected=others, found=0.005, kind=TOUCHDOWN)
    assert kind == TOUCHDOWN and time == pytest.approx(0.005) and earliest < 0.005 < latest


def test_a_foot_that_stands_but_is_called_open_is_not_said_to_touch():
    """Noise of a gap and of its rate has it touch at any time, where it neither was up nor comes down."""
    foot, at = Foot(), {"found": 0.01, "kind": TOUCHDOWN, "rate": -0.03}
    assert [foot.state(False, gap=gap, **at)[0] for gap in (0.0, -0.002, 0.001)] == [0, 0, 0]
    assert foot.state(False, gap=0.002, **(at | {"rate": -0.3}))[0] == TOUCHDOWN  # it falls
    assert foot.state(False, gap=0.001, **at)[0] == 0
    foot.state(False, gap=0.02, rate=0.0)
    assert foot.state(False, gap=0.001, **at)[0] == TOUCHDOWN  # it was up, and comes down softly
    foot.state(True)
    assert foot.state(False, gap=0.001, **at)[0] == 0  # since it stood again it was not


def test_an_impact_of_another_foot_shakes_one_that_has_just_left_and_it_is_not_said_to_touch():
    foot, at = Foot(), {"found": 0.001, "kind": TOUCHDOWN, "rate": -0.4}
    foot.state(True)
    assert [foot.state(False, gap=gap, **at)[0] for gap in (-0.0006, 0.0004)] == [0, 0]
    assert foot.state(False, gap=-0.006, **at)[0] == TOUCHDOWN  # it falls, from an edge


@pytest.mark.parametrize(
    ("gap", "rate", "slope", "left", "told"),
    [
        (0.136, 0.88, 0.0, 0.04, False),  # drives slow it down by 220 m/s² for some milliseconds
        (0.097, -0.84, 0.0, 0.02, False),  # they pull it down by 550 m/s²
        (0.03, 0.0, 0.0, 0.025, True),  # 96 m/s² are those of a swing,
        (0.05, 0.0, -80.0, 0.025, True),  # and 160 m/s² where there have been 80
        (0.052, -3.6, 0.0, 0.0086, True),  # a robot that stops slams its foot down
        (0.005, 0.45, None, 0.022, False),  # it has just left: the drives may stop it anywhere
        (0.006, 0.1, None, 0.047, True),  # gravity alone brings it back
    ],
)
def test_a_foot_that_is_too_far_up_is_not_said_to_touch(gap, rate, slope, left, told):
    foot = Foot()
    line = None if slope is None else np.array([[rate, slope, 0.05]])
    assert (foot.state(False, gap=gap, rate=rate, line=line, found=left, kind=TOUCHDOWN)[0] == TOUCHDOWN) == told


def test_where_the_ground_may_be_higher_no_foot_is_too_far_up():
    foot, at = Foot(), {"gap": 0.06, "rate": -0.8, "line": hovering(-0.8), "found": 0.015, "kind": TOUCHDOWN}
    assert foot.state(False, **at)[0] == 0
    assert foot.state(False, ground=0.02, **at)[0] == TOUCHDOWN  # steps of 5 cm


@pytest.mark.parametrize(("left", "told"), [(0.015, False), (0.04, True)])
def test_of_a_foot_that_is_suddenly_pulled_down_nothing_tells_when_it_will_touch(left, told):
    """A robot that stops pulls a foot down 75 ms before its last stride has it touch; drives that shake it do not."""
    foot = Foot()
    gap = 0.5 * 400.0 * left**2  # m, at 400 m/s²
    state = {"gap": gap, "rate": 0.0, "line": hovering(0.0), "found": left, "kind": TOUCHDOWN}
    assert foot.state(False, **state)[0] != TOUCHDOWN  # by the state alone
    foot.skill.share[0, 0, STRIDE] = 1.0
    course = foot.course
    course.lag[LAG], course.lag[TRACKED], course.lag[LAG_VARIANCE] = 0.5, 1.0, 1e-6
    course.events[0, -2:], course.lifted[0, -2:] = (0.0, 0.09), (1, 0)
    foot.now = 0.5
    kind, time, *_ = foot.state(False, **state)
    assert (kind == TOUCHDOWN) == told
    if told:
        assert time == pytest.approx(0.09, abs=0.005)


@pytest.mark.parametrize(("phase", "sign"), [(0.05, 1.0), (0.1, -1.0)])  # s after it left; it swings for 0.14 s
def test_of_a_foot_that_still_rises_the_last_stride_is_heard_and_not_its_deceleration(phase, sign):
    """The state has it touch after 30 ms; a stride ago it did after what was left of its swing."""
    foot, t = Foot(), STEP * np.arange(300)
    course, period, swing = foot.course, 0.5, 0.14
    course.times[: t.size] = t
    course.heights[: t.size, 0] = 0.05 * np.sin(np.pi * np.clip((t - 0.1) / swing, 0.0, 1.0))
    course.place[COUNT] = course.place[PLACE] = t.size
    course.lag[LAG], course.lag[TRACKED], course.lag[LAG_VARIANCE] = period, 1.0, 1e-6
    course.events[0, -2:], course.lifted[0, -2:] = (0.1, 0.1 + swing), (1, 0)
    foot.now = 0.1 + period + phase
    gap, rate = 0.05 * np.sin(np.pi * phase / swing), 0.05 * np.pi / swing * np.cos(np.pi * phase / swing)
    assert np.sign(rate) == sign
    kind, time, *_ = foot.state(False, gap=gap, rate=rate, found=0.03, kind=TOUCHDOWN)
    assert kind == TOUCHDOWN
    assert np.isfinite(foot.skill.forecast[0, STATE]) == (sign < 0.0)
    if sign > 0.0:
        assert time == pytest.approx(swing - phase, abs=0.01)
