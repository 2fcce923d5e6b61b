"""Bounds of μ: from ratios that are held and from slides, with noise, of feet and soles, forgotten, and warned of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.config_friction import FrictionConfig
from hybrid_contact_ros.estimation.friction_memory import forget_friction, friction_bounds
from hybrid_contact_ros.kernels.estimation.friction_bounds import FrictionTable, learn_friction

GAIN, LOAD, CONFIGURED, DT = 100.0, 100.0, 0.7, 0.001
CONFIG = FrictionConfig()
MODEL = CONFIG.model


class Ground:
    """Contacts on level ground; ``links`` says which share one."""

    def __init__(self, links=(0, 1), applies=False):
        self.m = len(links)
        self.table = FrictionTable(
            True, applies, GAIN, 0.25 * LOAD, CONFIG.model, CONFIG.sigmas, CONFIG.time, CONFIG.length,
            CONFIG.slide_speed, CONFIG.margin, CONFIG.lead, np.array(links),
        )  # fmt: skip
        self.known = friction_bounds(self.m)
        forget_friction(self.known, np.full(self.m, CONFIGURED))

    def hold(self, forces, states=60, speed=0.0, closed=True, weight=1.0, at=0.0, model=None, dt=DT):
        """Stand with constant forces (m, 3) or a function of the state's number, sliding along −x."""
        m, along = self.m, np.array([1.0, 0.0, 0.0])
        for k in range(states):
            now = np.ascontiguousarray(np.broadcast_to(forces(k) if callable(forces) else forces, (m, 3)), float)
            learn_friction(
                dt, np.broadcast_to(np.uint8(closed), m).copy(), np.full(m, weight),
                np.full(m, CONFIGURED), np.tile([0.0, 0.0, 1.0], (m, 1)), np.full(m, abs(speed)),
                np.tile(-speed * along, (m, 1)), np.tile(at * along, (m, 1)), now, now if model is None else model,
                self.table, self.known,
            )  # fmt: skip
        return self.known


def force(ratio, normal=LOAD):
    return np.array([ratio * normal, 0.0, normal])


def settled(mu, states=400):
    """A slide that has shown μ, after a stance that has shown that there is no noise."""
    ground = Ground()
    ground.hold(force(0.5 * mu), states)
    ground.hold(force(mu), 100, speed=0.3)
    return ground


def test_a_ratio_that_is_held_is_a_lower_bound_and_says_nothing_of_more():
    known = Ground().hold(force(0.5), 600)
    assert known.lower == pytest.approx([0.5 * (1.0 - MODEL)] * 2, rel=0.05) and (known.lower <= 0.5).all()
    assert (known.upper == np.inf).all() and known.ratio == pytest.approx([0.5, 0.5])


def test_a_slide_bounds_from_both_sides():
    known = settled(0.4).known
    assert known.lower == pytest.approx([0.4 * (1.0 - MODEL)] * 2, rel=0.1)
    assert known.upper == pytest.approx([0.4 * (1.0 + MODEL)] * 2, rel=0.1)


@pytest.mark.parametrize(
    "how", [{"speed": 0.05}, {"states": 20, "speed": 0.3}, {"speed": -0.3}], ids=["slow", "short", "against"]
)
def test_what_is_slow_or_short_or_with_the_force_is_no_slide(how):
    known = Ground().hold(force(0.4), **how)
    assert (known.upper == np.inf).all()


def test_on_ice_the_lower_bound_that_other_ground_has_shown_is_not_believed():
    ground = Ground()
    ground.hold(force(0.6), 400)
    known = ground.hold(force(0.2), 100, speed=0.3)
    assert (known.lower <= 0.2).all() and (known.upper < 0.3).all()
    known = ground.hold(force(0.5), 100)  # off the ice
    assert (known.upper == np.inf).all() and (known.lower > 0.35).all()


@pytest.mark.parametrize(
    "unknown",
    [
        {"weight": 0.3},
        {"closed": False},
        {"forces": force(0.5, 20.0)},
        {"forces": np.full(3, np.nan)},
        {"forces": force(4.0)},
    ],
    ids=["distrusted", "open", "light", "unknown", "absurd"],
)
def test_forces_that_are_not_believed_small_or_no_friction_teach_nothing(unknown):
    known = Ground().hold(**{"forces": force(0.5), **unknown})
    assert (known.lower == 0.0).all() and (known.upper == np.inf).all()


def test_the_resultant_of_a_sole_counts_not_how_its_points_share_it():
    shared = np.array([force(0.9, 40.0), force(0.1, 60.0)])
    known = Ground(links=(0, 0)).hold(shared, 400)
    ratio = shared[:, 0].sum() / shared[:, 2].sum()
    assert known.ratio == pytest.approx([ratio, ratio]) and (known.lower < ratio).all()
    assert (Ground().hold(shared, 400).lower[0]) > ratio  # two feet


def test_bounds_loosen_with_time_and_with_distance_and_noise_of_a_place_is_no_distance():
    ground = settled(0.4)
    low, high = ground.known.lower.copy(), ground.known.upper.copy()
    ground.hold(force(0.1), 30, dt=0.1)
    assert ground.known.lower == pytest.approx(low * np.exp(-3.0 / CONFIG.time), rel=1e-6)
    assert ground.known.upper == pytest.approx(high * np.exp(3.0 / CONFIG.time), rel=1e-6)
    for k in range(400):
        ground.hold(force(0.1), 1, at=0.002 * (k % 2), dt=1e-9)
    assert ground.known.lower == pytest.approx(low * np.exp(-3.0 / CONFIG.time), rel=1e-3)
    ground.hold(force(0.1), 1, closed=False)
    ground.hold(force(0.1), 1, at=0.5)
    assert ground.known.lower == pytest.approx(low * np.exp(-3.0 / CONFIG.time - 0.5 / CONFIG.length), rel=0.01)


@given(mu=st.floats(0.1, 1.5), noise=st.floats(0.0, 0.2), seed=st.integers(0, 1000))
def test_what_noise_adds_to_a_ratio_is_not_believed(mu, noise, seed):
    """Held up to μ, then sliding at μ, with white noise of each axis, of which a fifth is left in a mean of 20 ms."""
    rng, ground = np.random.default_rng(seed), Ground(links=(0,))
    ground.hold(lambda k: force(mu * (0.3 + 0.7 * min(k / 300, 1.0))) + noise * LOAD * rng.normal(size=3), 400)
    left = 0.2 * noise
    assert ground.known.lower[0] <= mu + left
    ground.hold(lambda k: force(mu) + noise * LOAD * rng.normal(size=3), 60, speed=0.3)
    assert ground.known.lower[0] <= mu + left and mu <= ground.known.upper[0] + left


def test_a_slip_is_warned_of_before_the_ratio_reaches_what_slid():
    ground = settled(0.4)
    ground.hold(force(0.1), 100)
    assert not ground.known.warning.any() and np.isinf(ground.known.time_to_slip).all()
    warned = None
    for k in range(200):
        now = np.tile(force(0.1 + 0.002 * k), (2, 1))  # 2 per second: 0.4 after 150 states
        ground.hold(now, 1)
        if ground.known.warning.any() and warned is None:
            warned = k
            assert (ground.known.time_to_slip <= CONFIG.lead + 0.02).all()
    assert warned is not None and 100 < warned < 150


def test_another_contact_that_slid_lowers_what_one_is_thought_to_hold():
    ground = Ground()
    ground.hold(np.array([force(0.2), force(0.05)]), 100, speed=0.3)
    one = ground.hold(np.array([force(0.05), force(0.19)]), 60)
    assert one.warning.tolist() == [0, 1]
    ground.hold(np.array([force(0.05), force(0.4)]), 100)  # its ground is better
    assert ground.hold(np.array([force(0.05), force(0.36)]), 100).warning.tolist() == [0, 0]


@pytest.mark.parametrize("applies", [False, True])
def test_modes_are_solved_with_what_slid_where_this_is_asked_for(applies):
    ground = Ground(applies=applies)
    ground.hold(force(0.3), 100, speed=0.3)
    assert ground.known.expected == pytest.approx([0.3 if applies else CONFIGURED] * 2, rel=0.01)


@pytest.mark.parametrize("applies", [False, True])
def test_modes_are_solved_with_more_than_what_a_contact_at_rest_holds_now(applies):
    """A slide that showed too little, and a configured μ that is too low, must not throw a standing contact off."""
    ground = Ground(applies=applies)
    ground.hold(force(0.2), 400)
    ground.hold(force(0.4), 100, speed=0.3)
    held = ground.hold(force(0.55), 400).expected
    assert held == pytest.approx([0.55 * (1.0 + MODEL)] * 2 if applies else [CONFIGURED] * 2, rel=0.02)
    higher = Ground(applies=applies).hold(force(0.9), 400).expected
    assert higher == pytest.approx([0.9 * (1.0 + MODEL)] * 2 if applies else [CONFIGURED] * 2, rel=0.02)
    slides = ground.hold(force(0.4), 100, speed=0.3).expected
    lower = 0.55 * (1.0 - MODEL)  # that it held just now is not forgotten as soon as it slides
    assert slides == pytest.approx([lower if applies else CONFIGURED] * 2, rel=0.02)


def test_what_a_mode_holds_with_its_own_friction_shows_none():
    """Else a slow slide on ice, whose mode holds all that it is given, would be given more and more."""
    held = Ground(applies=True).hold(force(0.1), 400, speed=0.05, model=np.tile(force(0.9), (2, 1))).expected
    assert held == pytest.approx([CONFIGURED] * 2)


def test_a_state_of_the_same_time_changes_nothing():
    ground = Ground()
    ground.hold(force(0.3), 50, speed=0.3)
    before = [array.copy() for array in ground.known]
    ground.hold(force(0.9), 1, dt=0.0)
    for one, other in zip(before, ground.known, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_single_state_of_a_landing_or_of_a_load_that_comes_back_shows_nothing():
    """The force of an observer that has not forgotten an impact: a ratio of 1, on ground that holds 0.3."""
    ground = Ground()
    for _ in range(5):
        ground.hold(force(1.0, 25.0), 1)
        known = ground.hold(force(0.3), 60)
        ground.hold(force(0.3), 1, closed=False)
    assert (known.lower < 0.3).all() and (known.lower > 0.15).all()
    assert (known.upper == np.inf).all()


@pytest.mark.parametrize("dt", [0.001, 0.002, 0.005])
@pytest.mark.parametrize("after", [0.15, 0.8])
def test_bounds_follow_ground_that_changes_within_a_slide(dt, after):
    ground = Ground()
    ground.hold(force(0.2), round(1.0 / dt), dt=dt)
    ground.hold(force(0.5), round(0.3 / dt), speed=0.3, dt=dt)
    known = ground.hold(force(after), round(0.4 / dt), speed=0.3, dt=dt)
    assert (known.lower <= after).all() and (known.upper >= after).all()
    assert known.upper == pytest.approx([after * (1.0 + MODEL)] * 2, rel=0.15)


def test_the_forces_of_an_impact_warn_of_no_slip_and_those_that_last_do():
    ground, limit = Ground(), np.tile(force(CONFIGURED), (2, 1))
    for _ in range(5):
        ground.hold(force(0.1), 50)
        ground.hold(force(0.1), 20, closed=False)
        assert not ground.hold(force(0.1), 5, model=limit).warning.any()
        assert not ground.hold(force(0.1), 60).warning.any()
    ground.hold(force(0.1), 20, closed=False)
    assert ground.hold(force(0.1), 20, model=limit).warning.all()
