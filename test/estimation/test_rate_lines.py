"""Rates and gaps of open contacts without their noise (:mod:`.rate_lines`)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.kernels.estimation.rate_lines import COLUMNS, GAP, follow_rates, smooth_gaps

SIGMA = np.array([0.002])
"""m, deviation of a gap."""


class Gap:
    """One contact, whose gap is low-passed along its rate."""

    def __init__(self):
        self.lines, self.out = np.full((1, COLUMNS), -1.0), np.zeros(1)

    def add(self, dt, gap, rate, closed=0):
        closed, gap = np.array([closed], np.uint8), np.array([float(gap)])
        follow_rates(dt, closed, gap, SIGMA, np.array([float(rate)]), self.lines)
        smooth_gaps(closed, gap, self.lines, self.out)
        return self.out[0]


@given(
    height=st.floats(0.0, 0.3), rate=st.floats(-2.0, 2.0), acceleration=st.floats(-50.0, 50.0),
    steps=st.lists(st.floats(2e-4, 0.02), min_size=1, max_size=60),
)  # fmt: skip
def test_a_gap_without_noise_stays_what_it_is_on_any_parabola_and_at_uneven_steps(height, rate, acceleration, steps):
    gap, t = Gap(), 0.0
    gap.add(0.0, height, rate)
    for dt in steps:
        t += dt
        exact = height + rate * t + 0.5 * acceleration * t * t
        assert gap.add(dt, exact, rate + acceleration * t) == pytest.approx(exact, abs=1e-9 + 1e-9 * abs(exact))


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 4e-3])
def test_noise_of_a_gap_is_reduced_as_by_a_low_pass_of_8_ms(dt):
    rng, gap, left = np.random.default_rng(3), Gap(), []
    for k in range(4000):
        exact = 0.05 * np.sin(9.0 * k * dt)
        found = gap.add(dt, exact + 1e-3 * rng.normal(), 0.45 * np.cos(9.0 * k * dt))
        left.append(found - exact)
    new = 1.0 - np.exp(-dt / 0.008)
    assert np.std(left[100:]) == pytest.approx(1e-3 * np.sqrt(new / (2.0 - new)), rel=0.1)
    assert np.mean(left[100:]) == pytest.approx(0.0, abs=1e-4)


def test_a_gap_that_jumps_beyond_its_noise_is_another_one_and_is_taken_at_once():
    gap = Gap()
    for _ in range(50):
        gap.add(1e-3, 0.03, 0.0)
    assert gap.add(1e-3, 0.03 - 6.0 * SIGMA[0], 0.0) == pytest.approx(0.03 - 6.0 * SIGMA[0])
    assert gap.add(1e-3, 0.03 - 4.0 * SIGMA[0], 0.0) < 0.03 - 5.0 * SIGMA[0]


def test_closed_contacts_have_their_gaps_and_what_leaves_begins_anew():
    gap = Gap()
    for _ in range(20):
        gap.add(1e-3, 0.03, -0.1)
    assert gap.add(1e-3, -0.0004, 0.0, closed=1) == -0.0004
    assert gap.add(1e-3, 0.0001, 0.05) == pytest.approx(0.0001, abs=1e-12)
    assert gap.lines[0, GAP] == gap.out[0]


def test_after_a_pause_a_gap_is_where_it_is_seen():
    gap = Gap()
    gap.add(0.0, 0.05, -0.4)
    assert gap.add(0.5, 0.046, 0.4) == pytest.approx(0.046, abs=1e-9)


def test_a_state_of_the_same_or_an_earlier_stamp_moves_no_gap():
    gap = Gap()
    for _ in range(20):
        gap.add(1e-3, 0.03, -0.1)
    before = gap.lines[0, GAP]
    for dt in (0.0, -0.01, -100.0):
        assert gap.add(dt, 0.031, -0.1) == pytest.approx(before, abs=1e-12)
