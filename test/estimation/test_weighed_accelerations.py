"""Accelerations of open contacts by noisy efforts, and by what their rates have shown."""

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.rate_lines import COLUMNS
from hybrid_contact_ros.kernels.estimation.update_steps import _without_jitter

SLOPE, SAID = -2.0, 40.0  # m/s²


def weighed(jitter, closed=0, age=1.0):
    """The acceleration of one contact that a joint moves by 10 m/s² for each N m, with a noise of ``jitter`` N m."""
    motions, lines = np.zeros((3, 2)), np.zeros((1, COLUMNS))
    motions[0, 1], motions[1:] = 10.0, 1e6  # along the surface it tells nothing
    lines[0, 1], lines[0, 2] = SLOPE, age
    accelerations = np.array([[SAID, 1.0, 2.0]])
    _without_jitter(np.array([0.0, jitter]), np.array([closed], np.uint8), motions, lines, accelerations)
    assert accelerations[0, 1:] == pytest.approx([1.0, 2.0])
    return accelerations[0, 0]


def test_efforts_without_noise_say_how_an_open_contact_accelerates():
    assert weighed(0.0) == SAID


def test_the_noisier_efforts_are_the_more_rates_say_it():
    """Efforts and rates weigh the same where noise is 10 m/s²."""
    assert weighed(1.0) == pytest.approx(0.5 * (SLOPE + SAID))
    found = [weighed(jitter) for jitter in (0.0, 0.1, 1.0, 10.0, 1000.0)]
    assert found == sorted(found, reverse=True) and found[-1] == pytest.approx(SLOPE, abs=0.01)


def test_nothing_is_taken_from_closed_contacts_or_from_rates_that_were_followed_too_shortly():
    assert weighed(10.0, closed=1) == SAID and weighed(10.0, age=0.01) == SAID
