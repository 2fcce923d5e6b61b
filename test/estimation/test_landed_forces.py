"""How wrong the observed force of a foot is: in the air, and just after it has landed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.belief import Belief, evidence
from hybrid_contact_ros.kernels.estimation import belief_likelihoods as likelihoods
from hybrid_contact_ros.kernels.estimation.felt_forces import is_unfelt, note_pressing, presses, told_by_stillness
from hybrid_contact_ros.kernels.estimation.landed_forces import (
    FELT,
    LEFT,
    PRESSED,
    SECONDS,
    SINCE,
    STOOD,
    falls_through,
    flies,
    force_error,
    force_memory,
    has_landed,
    leaves_unfelt,
    load_doubt,
    note_force,
    take_fading,
    weight_of_force,
)

CONFIG = Belief(1).settings
SHARE = CONFIG.share
ALOFT = {"gap": 0.1, "rate": 0.0, "touching": 0, "load": 0.0}


def told(seconds, memory=None, variance=1e-6, **state):
    """The memory of a foot after so long a time of the same state."""
    memory = force_memory(1) if memory is None else memory
    for _ in range(round(1e3 * seconds)):
        note_force(0, CONFIG, evidence(1, **state), variance, memory)
    return memory


@settings(deadline=None, max_examples=40)
@given(st.floats(-0.6, 0.6), st.floats(0.3, 2.0))
def test_the_error_of_a_force_is_what_the_foot_seems_to_bear_in_the_air(part, seconds):
    memory = told(0.2, stood=1)
    assert force_error(0, CONFIG, memory) == CONFIG.force_part
    memory = told(0.02, memory, force=0.9 * SHARE, **ALOFT)
    assert force_error(0, CONFIG, memory) == CONFIG.force_part  # a force that fades is no error
    memory = told(seconds, memory, force=part * SHARE, **ALOFT)
    error = force_error(0, CONFIG, memory)
    assert min(0.9 * abs(part), CONFIG.force_part) <= error <= max(abs(part), CONFIG.force_part)
    if abs(part) < 0.01 and seconds > 1.5:
        assert error == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(
    "state",
    [{"gap": 0.005}, {"weight": 0.0}, {"stood": 1}, {"variance": 0.03**2}],
    ids=["near the ground", "efforts that are not believed", "closed", "a ground that is not known"],
)
def test_nothing_is_learned_of_forces_that_may_be_there_or_are_not_believed(state):
    memory = told(1.0, **{**ALOFT, "force": 0.02 * SHARE, **state})
    assert memory[0, SECONDS] == 0.0


def test_what_an_average_keeps_of_the_force_with_which_a_tip_opened_is_none():
    memory, lag, kept = force_memory(1), 0.02, np.zeros(2)
    take_fading(lag, np.ones(1, np.uint8), memory, np.array([17.0]))
    assert memory[0, LEFT] == 17.0
    kept[:] = 17.0
    for k in range(60):
        memory[0, SINCE] = 1e-3 * k
        force = np.array([kept[1]])
        take_fading(lag, np.zeros(1, np.uint8), memory, force)
        assert abs(force[0]) < 0.02 * 17.0  # of the two low-passes of averaged_forces.py
        kept[0] *= np.exp(-2e-3 / lag)
        kept[1] += (1.0 - np.exp(-2e-3 / lag)) * (kept[0] - kept[1])
    force = np.array([5.0])
    take_fading(0.0, np.zeros(1, np.uint8), memory, force)  # nothing is averaged: nothing fades
    assert force[0] == 5.0


@pytest.mark.parametrize(
    ("force", "load", "felt", "stood", "told"),
    [
        (0.0, 0.0, 1.0, 0.2, 0.25), (0.03, 0.0, 1.0, 0.2, 0.6), (0.0, 0.03, 1.0, 0.2, 0.6), (0.3, 0.0, 1.0, 0.2, 1.0),
        (0.0, 0.0, 0.08, 0.2, 1.0), (0.0, 0.0, 1.0, 0.03, 1.0), (0.0, 0.0, np.inf, 0.2, 1.0),
    ],
    ids=["unloaded", "nearly", "by the mode", "loaded", "never loaded", "just landed", "no forces before"],
)  # fmt: skip
def test_stillness_tells_little_of_a_foot_that_has_just_been_unloaded(force, load, felt, stood, told):
    state = evidence(1, force=force * SHARE, load=load * SHARE, stood=1, covariance=np.zeros((1, 1)))
    memory = force_memory(1)
    memory[0, FELT], memory[0, STOOD] = felt * SHARE, stood
    assert told_by_stillness(0, CONFIG, state, memory) == pytest.approx(told)
    sole = state._replace(link_of=np.zeros(2, np.int64))
    assert told_by_stillness(0, CONFIG, sole, memory) == 1.0


def test_what_has_just_been_unloaded_is_not_held_by_its_stillness():
    def after(force):
        belief, noise = Belief(1), np.eye(1) * (0.15 * SHARE) ** 2
        for _ in range(100):
            belief.step(force=SHARE, load=SHARE, stood=1, covariance=noise, doubt=noise[0, 0])
        for _ in range(8):
            p = belief.step(
                force=force * SHARE, load=force * SHARE, stood=1, covariance=noise, doubt=noise[0, 0]
            )  # fmt: skip
        return p[0, 0]

    assert after(0.01) < 0.4 and after(0.3) > 0.9


def test_a_light_force_tells_of_a_touch_where_swings_show_none_and_not_where_they_do():
    def closing(part):
        belief = Belief(1)
        belief.step(gap=0.1, force=0.0, touching=0)
        for _ in range(1000):
            belief.step(gap=0.1, rate=-0.3, force=part * SHARE, touching=0)
        return belief.step(gap=0.0, rate=-0.1, force=0.35 * SHARE, touching=0, covariance=1e-4 * np.eye(1))[0, 0]

    assert closing(0.0) > 0.9 and closing(0.2) < 0.2


def test_a_foot_that_has_landed_after_a_swing_is_not_opened_by_a_force_that_is_missing_until_it_rises():
    landed = told(0.005, told(0.2, force=0.0, **ALOFT), stood=1, gap=-0.0004)
    for gap, rate, so in (
        (0.0, 0.0, True), (0.0, -0.2, True), (0.0, 0.05, True),
        (0.0, 0.1, False), (-0.0004, 0.1, True), (-0.0004, 0.2, False),  # thrown back, or pressed in by the impact
    ):  # fmt: skip
        state = evidence(1, stood=1, gap=gap, rate=rate, force=0.0)
        assert has_landed(0, state, landed) == so
        assert (weight_of_force(0, CONFIG, state, landed) < 1.0) == so
    assert weight_of_force(0, CONFIG, evidence(1, stood=1, force=SHARE), landed) == 1.0  # what is there is believed
    later = told(0.02, landed.copy(), stood=1)
    again = told(0.005, told(0.01, told(0.2, stood=1), force=0.0, **ALOFT), stood=1)
    for memory in (later, again):  # after a while; and what flickers at the end of a stance has not landed
        assert not has_landed(0, evidence(1, stood=1), memory)


@pytest.mark.parametrize("load", [-1.0, -0.1])
def test_negative_loads_and_missing_forces_do_not_open_a_foot_in_the_first_milliseconds_of_a_landing(load):
    lacks = {"load": load * SHARE, "force": -0.1 * SHARE, "covariance": 1e-4 * np.eye(1)}

    def after(swing, standing):
        belief = Belief(1)
        for _ in range(swing):
            belief.step(gap=0.1, rate=-0.3, force=0.0, touching=0)
        for _ in range(standing):
            belief.step(stood=1, load=SHARE, force=SHARE)
        return [belief.step(stood=1, **lacks)[0, 0] for _ in range(3)][-1]

    assert after(200, 5) > 0.9 > 0.5 > after(200, 100)


def test_a_force_that_certainly_presses_is_not_contradicted_by_a_mode_that_knows_no_impact():
    memory = told(0.5, force=0.0, **ALOFT)
    struck = evidence(1, stood=0, force=0.8 * SHARE, load=-SHARE, covariance=1e-4 * np.eye(1))
    assert presses(0, CONFIG, struck, memory)
    for other in ({"stood": 1}, {"weight": 0.3}, {"force": 0.1 * SHARE}, {"covariance": np.eye(1) * SHARE**2}):
        values = {"stood": 0, "force": 0.8 * SHARE, "load": -SHARE, "covariance": 1e-4 * np.eye(1), **other}
        assert not presses(0, CONFIG, evidence(1, **values), memory)
    found = np.zeros((2, 3))
    for row, load in zip(found, (-SHARE, SHARE), strict=True):
        state = struck._replace(load=np.full(1, load))
        likelihoods.single_likelihoods(0, CONFIG, state, np.zeros(1), memory.copy(), row)
    assert found[0, 1] - found[0, 0] == pytest.approx(found[1, 1] - found[1, 0], abs=6.0)
    assert found[0, 1] >= found[0, 0]


@pytest.mark.parametrize(("part", "state", "so"), [
    (0.0, {}, True), (0.5, {}, False), (0.0, {"stood": 1}, False), (0.0, {"weight": 0.0}, False),
])  # fmt: skip
def test_a_contact_that_was_open_and_seems_to_bear_nothing_is_unfelt_where_its_force_is_believed(part, state, so):
    memory = told(1.0, force=0.0, **ALOFT)
    assert is_unfelt(0, CONFIG, evidence(1, force=part * SHARE, **state), memory) == so


@pytest.mark.parametrize(("before", "lands"), [(0.0, True), (1.0, False), (None, False)])
def test_what_presses_has_begun_to_unless_it_did_all_the_time_or_nobody_knows(before, lands):
    """A crane that lowers a robot lets its feet seem to carry it from the first state that knows forces."""
    memory = force_memory(1)
    for _ in range(200):
        state = evidence(1, dt=1e-3, force=0.0 if before is None else before * SHARE)
        note_pressing(0, bool(before), state._replace(observed=before is not None), memory)
    assert not memory[0, PRESSED] or before
    for _ in range(30):
        note_pressing(0, True, evidence(1, dt=1e-3, force=SHARE), memory)
        assert bool(memory[0, PRESSED]) == lands
    note_pressing(0, False, evidence(1, dt=1e-3, force=0.0), memory)
    assert not memory[0, PRESSED]


@pytest.mark.parametrize(("load", "part"), [(1.0, 0.0), (1.0, 0.5)])
def test_what_a_mode_would_need_to_hold_a_foot_does_not_close_it_while_nothing_presses(load, part):
    """From outside: feet that are set down slowly were closed 25 to 36 ms before they touched, at gaps of 3 mm."""
    belief = Belief(1)
    belief.step(gap=0.1, force=0.0, touching=0)
    for _ in range(1000):
        belief.step(gap=0.1, rate=-0.3, force=0.0, touching=0)
    state = {"gap": 0.003, "rate": -0.05, "slide": 0.05, "load": load * SHARE, "force": part * SHARE}
    closed = max(belief.step(**state, rate_sigmas=1e-3, covariance=1e-4 * np.eye(1))[0, 0] for _ in range(20))
    assert (closed > 0.9) == (part > 0.0)
    assert belief.record.forces[0, PRESSED] == (part > 0.0)


def test_the_load_of_a_state_in_which_the_foot_was_still_being_stopped_is_not_used_with_the_next():
    def closed(before, load):
        memory, out = told(0.5, force=0.0, **ALOFT), np.zeros(3)
        for rate, value in ((before, 0.0), (-0.01, load)):
            state = evidence(1, stood=0, rate=rate, load=value * SHARE, force=0.0)
            likelihoods.single_likelihoods(0, CONFIG, state, np.zeros(1), memory, out)
        return out[1] - out[0]

    assert closed(-0.5, -1.0) == closed(-0.5, 1.0)
    assert closed(-0.01, -1.0) < closed(-0.01, 1.0) - 1.0


def test_stillness_counts_once_where_the_efforts_of_a_limb_are_not_believed_though_forces_are_observed():
    still = {"gap": 0.0045, "rate": 0.0, "slide": 0.0, "force": 0.0, "load": 0.0, "touching": 0, "weight": 0.0}
    held, memory, gained = np.full(1, 0.01), force_memory(1), []
    for _ in range(300):
        out = np.zeros(3)
        likelihoods.single_likelihoods(0, CONFIG, evidence(1, stood=0, **still), held, memory, out)
        gained.append(out[1] - out[0])
    alone = np.zeros(3)
    likelihoods.single_likelihoods(
        0, CONFIG, evidence(1, stood=0, **still)._replace(rate_sigmas=np.full(1, 1e6)), np.zeros(1), memory, alone
    )
    gap = alone[1] - alone[0]  # what the gap says by itself, in each state
    assert gained[0] > gap + 0.5 and gained[-1] == pytest.approx(gap, abs=0.2)


@pytest.mark.parametrize("part", [0.04, 0.06, 0.08])
def test_a_foot_that_is_held_over_where_it_stood_is_not_closed_by_its_stillness_whatever_little_it_seems_to_bear(part):
    def closed(surface):
        belief = Belief(1)
        belief.step(gap=0.02, rate=0.1, force=0.0, load=0.0, touching=0)
        held = {"gap": 0.0045, "gap_sigmas": 1.6e-3, "own": surface, "force": part * SHARE, "load": part * SHARE}
        return [belief.step(touching=1, **held)[0, 0] for _ in range(400)][-1]

    assert closed(1e-4) < min(0.2, closed(6e-3))


def test_a_foot_is_raised_where_it_is_open_and_surely_above_the_ground_that_it_stood_on():
    for gap, stood, so in ((0.004, 0, True), (0.002, 0, False), (0.004, 1, False), (-0.004, 0, False)):
        assert likelihoods.is_raised(0, evidence(1, gap=gap, gap_sigmas=1e-3, own=1e-3, stood=stood)) == so
    assert not likelihoods.is_raised(0, evidence(1, gap=0.004, gap_sigmas=1e-3, own=6e-3, stood=0))


@pytest.mark.parametrize(
    ("state", "so"),
    [
        ({"gap": 0.03, "rate": 0.8}, True),
        ({"gap": 0.03, "slide": 1.4}, True),  # at the apex of its swing
        ({"gap": 0.05}, False),  # on a step that nobody knows
        ({"gap": 0.03, "rate": 0.12}, True),  # lifted slowly, as by a robot on its knees
        ({"gap": 0.01, "rate": 0.12}, False),  # not by much
        ({"gap": 0.03, "rate": -0.12}, False),  # it comes down
        ({"gap": 0.004, "rate": 0.8}, False),  # where it stood
        ({"gap": 0.03, "rate": 0.8, "own": 0.02}, False),  # on ground that gives way
        ({"gap": 0.03, "rate": 0.7, "spread": 0.25**2}, False),  # velocities are noisy
    ],
)
def test_no_force_presses_on_a_foot_that_moves_above_the_ground(state, so):
    given = evidence(1, stood=1, force=SHARE, **state)
    assert flies(0, given, told(0.2, stood=1)) == so
    assert (weight_of_force(0, CONFIG, given, told(0.2, stood=1)) < 0.01) == so
    pulled = evidence(1, stood=1, force=-SHARE, **state)
    assert weight_of_force(0, CONFIG, pulled, told(0.2, stood=1)) == 1.0  # what opens it is believed


def test_the_load_of_what_skims_the_ground_is_doubted_by_what_seemed_to_press_in_the_air():
    """Efforts that were led by 6 ms of a late base had 15 N on a foot that swung at 0.6 m/s, 3 mm up."""
    aloft = told(1.0, force=0.25 * SHARE, stood=0, **ALOFT)
    clean = told(1.0, force=0.0, stood=0, **ALOFT)
    skims, rests = evidence(1, stood=1, slide=0.6), evidence(1, stood=1, slide=0.1)
    noisy = evidence(1, stood=1, slide=0.6, spread=0.2**2)
    assert load_doubt(0, CONFIG, skims, aloft) == pytest.approx((0.25 * SHARE) ** 2, rel=0.1)
    assert load_doubt(0, CONFIG, rests, aloft) == load_doubt(0, CONFIG, noisy, aloft) == 0.0
    assert load_doubt(0, CONFIG, skims, clean) == 0.0
    assert load_doubt(0, CONFIG, evidence(1, stood=1, slide=0.6, doubt=9.0 * SHARE**2), aloft) == 9.0 * SHARE**2


@pytest.mark.parametrize(
    ("state", "so"),
    [
        ({"gap": -0.04, "rate": -1.0}, True),
        ({"gap": -0.02, "rate": -1.0}, False),
        ({"gap": -0.04, "rate": -0.2}, False),
        ({"gap": -0.04, "rate": -1.0, "stood": 1}, False),
        ({"gap": -0.04, "rate": -1.0, "rate_sigmas": 0.3}, False),
    ],
    ids=["a step down", "soft ground", "a foot that is slowed down", "a foot that stands", "noise"],
)
def test_a_foot_that_falls_on_below_the_expected_ground_has_not_met_it(state, so):
    assert falls_through(0, evidence(1, **state)) == so


def test_however_uncertain_the_height_of_a_step_is_a_foot_that_falls_through_it_stays_open():
    belief = Belief(1)
    for gap in np.arange(0.05, -0.12, -0.0015):
        p = belief.step(trusted=False, observed=False, gap=gap, surfaces=0.042, own=0.042, rate=-1.5)[0, 0]
    assert p < 0.45


@pytest.mark.parametrize("part", [0.4, 1.0, 2.0])
def test_a_foot_that_rises_from_where_it_stood_opens_whatever_seems_to_press_on_it(part):
    """Efforts 7 ms late, and an observer that lags: a robot that galloped had a foot closed for 90 ms of flight."""
    belief, opened = Belief(1), None
    for _ in range(300):
        belief.step(stood=1, surfaces=0.006, own=0.001)
    for k in range(60):
        p = belief.step(gap=1e-3 * k, rate=1.0, slide=0.8, force=part * SHARE, load=part * SHARE, stood=1, own=0.001)
        opened = k if opened is None and p[0, 0] < 0.1 else opened
    assert opened is not None and opened <= 25  # mm


RISING = {"stood": 1, "gap": 0.0005, "rate": 0.2}


def test_late_efforts_do_not_hold_a_foot_that_stood_and_rises_for_twice_the_time_by_which_they_are():
    late = 0.006
    memory = told(0.005, told(0.1, stood=1), **RISING)
    state = evidence(1, force=SHARE, late=late, **RISING)
    assert leaves_unfelt(0, state, memory) and weight_of_force(0, CONFIG, state, memory) < 0.01
    assert weight_of_force(0, CONFIG, state._replace(force=-state.force), memory) == 1.0  # what pulls does count
    assert not leaves_unfelt(0, state._replace(late=0.0), memory)
    opened = told(0.002, memory.copy(), **{**RISING, "stood": 0})  # it may not be closed again by them
    assert leaves_unfelt(0, state, opened)
    told(0.008, memory, **RISING)
    assert not leaves_unfelt(0, state, memory) and weight_of_force(0, CONFIG, state, memory) == 1.0


def test_late_efforts_do_not_close_a_foot_again_that_has_just_opened_and_rises():
    """The efforts of a swing come late: what they throw up seems to be pushed."""
    late, air = 0.006, {**RISING, "stood": 0}
    memory = told(0.005, told(0.003, told(0.1, stood=1), stood=0), late=late, **air)
    assert leaves_unfelt(0, evidence(1, late=late, **air), memory)
    rebounds = told(0.005, told(0.003, told(0.02, stood=1), stood=0), late=late, **air)
    assert not leaves_unfelt(0, evidence(1, late=late, **air), rebounds)
    later = told(0.005, told(0.02, told(0.1, stood=1), stood=0), late=late, **air)
    assert not leaves_unfelt(0, evidence(1, late=late, **air), later)


@pytest.mark.parametrize(
    ("stance", "state"),
    [(0.02, RISING), (0.1, {**RISING, "rate": 0.05}), (0.1, {**RISING, "rate_sigmas": 0.06})],
    ids=["has just landed", "rises slowly", "may be noise"],
)
def test_what_may_stand_on_is_held_by_late_efforts(stance, state):
    memory = told(0.005, told(stance, stood=1), **state)
    assert not leaves_unfelt(0, evidence(1, late=0.006, **state), memory)


@pytest.mark.parametrize(("late", "closed"), [(0.0, True), (0.006, False)])
def test_a_foot_that_rises_opens_before_late_efforts_say_so(late, closed):
    belief = Belief(1)
    for _ in range(100):
        belief.step(stood=1, late=late)
    for k in range(8):
        p = belief.step(late=late, **{**RISING, "gap": 0.0002 * (k + 1)})[0, 0]
    assert (p > 0.9) if closed else (p < 0.2)
