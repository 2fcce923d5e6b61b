"""Contact tracking: hysteresis over gap, load and slip."""

import numpy as np
import pytest

from hybrid_contact_ros.config import ActivationConfig
from hybrid_contact_ros.estimation.tracker import ContactTracker
from hybrid_contact_ros.prediction import ContactStatus

CONFIG = ActivationConfig()
TANGENTS = np.array([[[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]])


def step(tracker, gap=0.0, rate=0.0, slide=0.0, load=50.0, trusted=True, dt=1e-3):
    gaps, rates = np.array([gap]), np.array([rate])
    tracker.near(gaps, rates)
    tracker.glide(dt, np.array([[slide, 0.0, 0.0]]), TANGENTS)
    status = tracker.decide(dt, gaps, rates, np.array([load]), trusted)
    return ContactStatus(status[0])


def test_a_loaded_contact_at_rest_on_the_surface_sticks():
    assert step(ContactTracker(1, CONFIG)) == ContactStatus.STICKING


@pytest.mark.parametrize("gap, rate", [(0.05, 0.0), (0.002, -1.0), (0.0, 0.5), (CONFIG.gap_off + 1e-6, 0.0)])
def test_far_fast_approaching_or_leaving_contacts_are_open(gap, rate):
    assert step(ContactTracker(1, CONFIG), gap, rate) == ContactStatus.OPEN


def test_a_contact_that_hits_is_closed_once_its_gap_is_gone_whatever_the_load():
    assert step(ContactTracker(1, CONFIG), gap=-1e-4, rate=-2.0, load=0.0) == ContactStatus.STICKING


def test_a_contact_at_rest_and_loaded_closes_although_the_ground_is_some_millimetres_off():
    assert step(ContactTracker(1, CONFIG), gap=0.5 * (CONFIG.gap_on + CONFIG.gap_off)) == ContactStatus.STICKING


def test_closing_needs_load_and_opening_at_once_a_pull():
    tracker = ContactTracker(1, CONFIG)
    assert step(tracker, load=0.9 * CONFIG.force_on) == ContactStatus.OPEN
    assert step(tracker, load=1.1 * CONFIG.force_on) == ContactStatus.STICKING
    assert step(tracker, load=-0.9 * CONFIG.force_on) == ContactStatus.STICKING
    assert step(tracker, load=-1.1 * CONFIG.force_on) == ContactStatus.OPEN
    assert step(tracker, load=0.9 * CONFIG.force_on) == ContactStatus.OPEN


def test_a_dip_of_the_load_does_not_open_a_contact_and_its_lasting_loss_does():
    tracker = ContactTracker(1, CONFIG)
    for _ in range(50):
        assert step(tracker) == ContactStatus.STICKING
        assert step(tracker, load=0.0) == ContactStatus.STICKING
    steps = 0
    while step(tracker, load=0.5 * CONFIG.force_off) == ContactStatus.STICKING:
        steps += 1
    assert 2 <= steps <= 20


def test_without_effort_geometry_alone_decides():
    tracker = ContactTracker(1, CONFIG)
    assert step(tracker, load=-1e3, trusted=False) == ContactStatus.STICKING
    assert step(tracker, gap=0.5 * (CONFIG.gap_on + CONFIG.gap_off), load=-1e3, trusted=False) == ContactStatus.STICKING
    assert step(tracker, gap=1.1 * CONFIG.gap_off, trusted=False) == ContactStatus.OPEN


def test_slip_has_hysteresis_between_its_two_speeds():
    tracker = ContactTracker(1, CONFIG)
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
    tracker = ContactTracker(1, CONFIG)
    seen = set()
    for _ in range(5000):
        gap, rate = CONFIG.gap_sigma * rng.normal(), CONFIG.velocity_sigma * rng.normal()
        load = 30.0 + CONFIG.force_sigma * rng.normal()
        seen.add(step(tracker, gap, rate, CONFIG.velocity_sigma * rng.normal(), load))
    assert seen == {ContactStatus.STICKING}


def test_the_slip_that_forces_oppose_is_the_low_passed_one_along_the_tangents():
    rng, tracker = np.random.default_rng(2), ContactTracker(1, CONFIG)
    step(tracker)
    seen = []
    for _ in range(2000):
        noisy = np.array([0.2, 0.0, 0.0]) + 0.1 * rng.normal(size=3) * [1.0, 1.0, 0.0]
        seen.append(tracker.glide(1e-3, noisy[None], TANGENTS)[0].copy())
        tracker.decide(1e-3, np.zeros(1), np.zeros(1), np.full(1, 50.0), True)
    seen = np.array(seen[200:])
    np.testing.assert_allclose(seen.mean(axis=0), [0.0, -0.2], atol=0.01)  # the tangents are y and −x
    assert (seen.std(axis=0) < 0.03).all()  # a third of the noise and less


def test_a_contact_at_the_edge_of_its_load_changes_rarely_under_noise():
    rng = np.random.default_rng(1)
    tracker = ContactTracker(1, CONFIG)
    seen = [step(tracker, load=0.4 * CONFIG.force_sigma * rng.normal()) for _ in range(5000)]
    changes = np.count_nonzero(np.diff(np.array(seen)))
    plain = np.count_nonzero(np.diff(np.sign(np.random.default_rng(1).normal(size=5000))))
    assert changes < 0.05 * plain


def test_the_score_falls_with_gap_and_rate_and_rises_with_load():
    def scores(gap, rate, load):
        n = max(np.size(gap), np.size(rate), np.size(load))
        tracker = ContactTracker(n, CONFIG)
        arrays = [np.ascontiguousarray(np.broadcast_to(x, (n,)), dtype=float) for x in (gap, rate, load)]
        tracker.near(arrays[0], arrays[1])
        tracker.decide(1e-3, arrays[0], arrays[1], arrays[2], True)
        return tracker.probability

    fall = [scores(np.linspace(-0.01, 0.02, 50), 0.0, 20.0), scores(0.0, np.linspace(-0.5, 0.5, 50), 20.0)]
    rise = scores(0.0, 0.0, np.linspace(-50.0, 50.0, 50))
    for values in (*fall, rise[::-1]):
        assert ((values >= 0.0) & (values <= 1.0)).all() and (np.diff(values) <= 0.0).all()
        assert values[0] > 0.9 and values[-1] < 0.1
