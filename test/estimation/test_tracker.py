"""Contact tracking: evidence of gap, load and slip."""

import numpy as np
import pytest

from helpers.steps import Tracker
from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.config import ActivationConfig
from hybrid_contact_ros.kernels.estimation.contact_tracking import candidates

CONFIG = ActivationConfig()
TANGENTS = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])


def step(tracker, gap=0.0, rate=0.0, slide=0.0, load=50.0, trusted=True, dt=1e-3):
    gaps, rates = np.array([gap]), np.array([rate])
    tracker.near(dt, gaps, rates, np.atleast_2d(slide if np.ndim(slide) else [slide, 0.0, 0.0]))
    status = tracker.decide(gaps, rates, np.array([load]), trusted)
    return ContactStatus(status[0])


def test_a_loaded_contact_at_rest_on_the_surface_sticks():
    assert step(Tracker(TANGENTS, CONFIG)) == ContactStatus.STICKING


@pytest.mark.parametrize("gap, rate", [(0.05, 0.0), (0.002, -1.0), (0.0, 0.5), (CONFIG.gap_off + 1e-6, 0.0)])
def test_far_fast_approaching_or_leaving_contacts_are_open(gap, rate):
    assert step(Tracker(TANGENTS, CONFIG), gap, rate) == ContactStatus.OPEN


def test_a_contact_that_hits_is_closed_once_its_gap_is_gone_whatever_the_load():
    assert step(Tracker(TANGENTS, CONFIG), gap=-1e-4, rate=-2.0, load=0.0) == ContactStatus.STICKING


def test_a_contact_at_rest_and_loaded_closes_although_the_ground_is_some_millimetres_off():
    assert step(Tracker(TANGENTS, CONFIG), gap=0.5 * (CONFIG.gap_on + CONFIG.gap_off)) == ContactStatus.STICKING


def states_until(tracker, status, **state):
    for count in range(1, 1000):
        if step(tracker, **state) == status:
            return count
    raise AssertionError("never")


def test_a_plain_load_or_pull_changes_a_contact_at_once_and_a_slight_one_when_it_has_lasted():
    tracker = Tracker(TANGENTS, CONFIG)
    assert states_until(tracker, ContactStatus.STICKING, load=30.0) == 1
    assert states_until(tracker, ContactStatus.OPEN, load=-30.0) == 1
    slow = states_until(tracker, ContactStatus.STICKING, load=CONFIG.force_on)
    assert 2 <= slow <= 20
    assert 2 <= states_until(tracker, ContactStatus.OPEN, load=0.5 * CONFIG.force_off) <= 30


def test_evidence_against_a_contact_is_forgotten_when_states_speak_for_it_again():
    tracker = Tracker(TANGENTS, CONFIG)
    step(tracker)
    for _ in range(1000):
        assert step(tracker, load=-5.0) == ContactStatus.STICKING
        assert tracker.doubted[0]
        assert step(tracker, load=20.0) == ContactStatus.STICKING
        assert not tracker.doubted[0]


def test_one_state_that_seems_to_leave_does_not_open_a_contact_and_two_do():
    tracker = Tracker(TANGENTS, CONFIG)
    step(tracker)
    leaving = CONFIG.velocity_tolerance + 0.5 * CONFIG.velocity_sigma
    for _ in range(100):
        assert step(tracker, rate=leaving) == ContactStatus.STICKING
        assert step(tracker) == ContactStatus.STICKING
    assert states_until(tracker, ContactStatus.OPEN, rate=leaving) == 2


def test_a_point_that_its_body_holds_at_rest_without_any_force_closes_near_the_ground_and_stays_closed():
    """A corner of a sole on four points: forces are not unique, and the model gives it none and nowhere to go."""
    tracker = Tracker(TANGENTS, CONFIG)
    assert states_until(tracker, ContactStatus.STICKING, gap=0.5 * CONFIG.gap_on, load=0.0) <= 10
    assert {step(tracker, load=0.0) for _ in range(200)} == {ContactStatus.STICKING}
    above = Tracker(TANGENTS, CONFIG)
    assert {step(above, gap=1.1 * CONFIG.gap_on, load=0.0) for _ in range(200)} == {ContactStatus.OPEN}


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1])
def test_velocity_noise_makes_no_standing_contact_slip_even_where_it_is_more_than_configured(noise):
    rng = np.random.default_rng(4)
    tracker = Tracker(TANGENTS, CONFIG)
    seen = [step(tracker, slide=noise * np.r_[rng.normal(size=2), 0.0]) for _ in range(5000)][300:]
    assert np.count_nonzero(np.diff(seen)) <= 6


def test_a_slide_is_seen_within_milliseconds_and_its_direction_is_given_to_the_forces():
    tracker = Tracker(TANGENTS, CONFIG)
    for _ in range(100):
        step(tracker)
    assert states_until(tracker, ContactStatus.SLIPPING, slide=0.3) <= 5
    assert tracker.sliding[0, 0] > 0.0 and tracker.sliding[0, 1] == 0.0


def test_a_dip_of_the_load_does_not_open_a_contact_and_its_lasting_loss_does():
    tracker = Tracker(TANGENTS, CONFIG)
    for _ in range(50):
        assert step(tracker) == ContactStatus.STICKING
        assert step(tracker, load=-1.0) == ContactStatus.STICKING
    steps = 0
    while step(tracker, load=-1.0) == ContactStatus.STICKING:
        steps += 1
    assert 2 <= steps <= 20


def test_without_effort_geometry_alone_decides():
    tracker = Tracker(TANGENTS, CONFIG)
    assert step(tracker, load=-1e3, trusted=False) == ContactStatus.STICKING
    assert step(tracker, gap=0.5 * (CONFIG.gap_on + CONFIG.gap_off), load=-1e3, trusted=False) == ContactStatus.STICKING
    assert step(tracker, gap=1.1 * CONFIG.gap_off, trusted=False) == ContactStatus.OPEN


def test_slip_has_hysteresis_between_its_two_speeds():
    tracker = Tracker(TANGENTS, CONFIG)
    between = 0.5 * (CONFIG.slip_on + CONFIG.slip_off)
    for _ in range(100):
        assert step(tracker, slide=between) == ContactStatus.STICKING
    for _ in range(100):
        status = step(tracker, slide=2.0 * CONFIG.slip_on)
    assert status == ContactStatus.SLIPPING
    for _ in range(100):
        assert step(tracker, slide=between) == ContactStatus.SLIPPING
    for _ in range(100):
        status = step(tracker, slide=0.5 * CONFIG.slip_off)
    assert status == ContactStatus.STICKING


def test_noise_of_the_configured_size_does_not_make_a_standing_contact_chatter():
    rng = np.random.default_rng(0)
    tracker = Tracker(TANGENTS, CONFIG)
    seen = set()
    for _ in range(5000):
        gap, rate = CONFIG.gap_sigma * rng.normal(), CONFIG.velocity_sigma * rng.normal()
        load = 30.0 + CONFIG.force_sigma * rng.normal()
        seen.add(step(tracker, gap, rate, CONFIG.velocity_sigma * rng.normal(), load))
    assert seen == {ContactStatus.STICKING}


def test_a_contact_at_the_edge_of_its_load_changes_rarely_under_noise():
    rng = np.random.default_rng(1)
    tracker = Tracker(TANGENTS, CONFIG)
    seen = [step(tracker, load=0.4 * CONFIG.force_sigma * rng.normal()) for _ in range(5000)]
    changes = np.count_nonzero(np.diff(np.array(seen)))
    plain = np.count_nonzero(np.diff(np.sign(np.random.default_rng(1).normal(size=5000))))
    assert changes < 0.05 * plain


def test_a_foot_that_is_flung_while_it_counts_as_closed_does_not_make_its_velocities_noisy():
    rng = np.random.default_rng(0)
    for noise, flung, low, high in ((0.05, 0.0, 0.04, 0.06), (0.0, 3.0, 0.0, 0.08)):
        tracker = Tracker(TANGENTS, ActivationConfig())
        tracker.memory.closed[:] = 1
        for k in range(400):
            moves = noise * rng.normal(size=(1, 3)) * [1.0, 1.0, 0.0]
            moves[0, 0] += flung * max(0.0, min(1.0, (k - 370) / 10.0))
            tracker.near(1e-3, np.zeros(1), np.zeros(1), moves)
        assert low <= np.sqrt(tracker.memory.spread[0]) <= high


@pytest.mark.parametrize(("rate_noise", "low", "high"), [(0.0, 0.0, 0.061), (0.1, 0.1, 0.3)])
def test_without_efforts_a_foot_that_speeds_up_is_no_noisier_along_the_surface_than_three_times_its_rates(
    rate_noise, low, high
):
    tracker = Tracker(TANGENTS, ActivationConfig(), weight=0.0, rate_noise=rate_noise)
    tracker.memory.closed[:] = 1
    for k in range(400):
        tracker.near(1e-3, np.zeros(1), np.zeros(1), np.array([[np.sin(0.02 * k), 0.0, 0.0]]))  # m/s, a swing
    assert low <= np.sqrt(tracker.memory.spread[0]) <= high


@pytest.mark.parametrize(("stopped", "noisy"), [(0.02, True), (-1.0, False)])
def test_a_leg_without_efforts_that_an_impact_stopped_may_give_way_while_its_foot_stands(stopped, noisy):
    tracker = Tracker(TANGENTS, ActivationConfig(), weight=0.0, stopped=stopped)
    tracker.memory.closed[:] = 1
    for k in range(400):
        tracker.near(1e-3, np.zeros(1), np.zeros(1), np.array([[np.sin(0.02 * k), 0.0, 0.0]]))  # m/s
    assert (np.sqrt(tracker.memory.spread[0]) > 0.1) == noisy


def near(
    gap: float, told: bool, slide: float = 0.0, stopped: float = -1.0, rate: float = 0.0, noise: float = 0.01
) -> list[int]:
    """Which of two contacts are candidates: one that was open, and one that was closed."""
    config, touching = ActivationConfig(), np.zeros(2, np.uint8)
    off, tolerance, rates = (np.full(2, each) for each in (config.gap_off, config.velocity_tolerance, rate))
    candidates(
        config.gap_on, off, told, config.velocity_tolerance, tolerance, np.array([0, 1], np.uint8), np.full(2, gap),
        rates, np.full(2, noise), np.full(2, slide), np.full(2, stopped), touching,
    )  # fmt: skip
    return list(touching)


@pytest.mark.parametrize(("rate", "noise", "found"), [(-0.09, 0.002, 0), (-0.09, 0.03, 1), (-0.01, 0.002, 1)])
def test_what_comes_down_slowly_but_faster_than_noise_is_not_at_rest_above_the_ground(rate, noise, found):
    """Feet of a hexapod that came down with 0.09 m/s were told to stand 6 mm up, 75 ms before they landed."""
    assert near(0.006, True, rate=rate, noise=noise) == [found, 1]
    assert near(-0.001, True, rate=rate, noise=noise) == [1, 1]


@pytest.mark.parametrize(("told", "found"), [(True, 1), (False, 0)])
def test_above_gap_on_an_open_contact_at_rest_is_a_candidate_where_its_load_can_tell(told, found):
    config = ActivationConfig()
    assert near(0.5 * (config.gap_on + config.gap_off), told) == [found, 1]  # what is closed stays one either way
    assert near(0.5 * config.gap_on, told) == [1, 1]


@pytest.mark.parametrize(
    ("slide", "state", "found"),
    [(0.6, {}, 0), (0.2, {}, 1), (0.6, {"stopped": 0.01}, 1), (0.6, {"told": True}, 1)],
    ids=["swings", "slow", "stopped by an impact", "forces tell"],
)
def test_a_sole_that_swings_past_low_over_the_ground_does_not_touch_it(slide, state, found):
    assert near(0.001, **({"told": False, "slide": slide} | state)) == [found, 1]


@pytest.mark.parametrize("dt", [0.001, 0.002, 0.005])
def test_a_foot_that_an_impact_has_stopped_does_not_slip_though_it_swung_fast(dt):
    """It comes with 1.5 m/s along the ground, is caught, and is at rest with the next state."""
    tracker = Tracker(TANGENTS, CONFIG)
    for _ in range(20):
        step(tracker, gap=0.02, rate=-0.5, slide=1.5, load=0.0, dt=dt)
    step(tracker, gap=-1e-4, rate=-0.5, slide=1.5, load=0.0, dt=dt)
    assert tracker.memory.closed[0]
    assert {step(tracker, slide=0.005, dt=dt) for _ in range(50)} == {ContactStatus.STICKING}


def test_a_foot_that_slides_on_after_it_has_touched_slips():
    tracker = Tracker(TANGENTS, CONFIG)
    for _ in range(20):
        step(tracker, gap=0.02, rate=-0.5, slide=1.0, load=0.0)
    step(tracker, gap=-1e-4, rate=-0.5, slide=1.0, load=0.0)
    assert {step(tracker, slide=0.6) for _ in range(30)} == {ContactStatus.SLIPPING}
