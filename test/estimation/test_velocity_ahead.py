"""The velocity with which a robot comes to an impact, and its spread."""

import numpy as np
import pytest

from hybrid_contact_ros.estimation.velocity_ahead import (
    Contacts,
    Course,
    friction_margins,
    landing_map,
    spread_axes,
    through_sticks,
)
from hybrid_contact_ros.kernels.impacts.landing_law import landing_outcomes, landing_scratch

OPEN, CLOSED = np.zeros(2, np.uint8), np.ones(2, np.uint8)


def course_of(accelerations, closed=OPEN, period=1_000_000):
    course = Course(2)
    for k, acceleration in enumerate(accelerations):
        course.add(k * period, np.asarray(acceleration, float), closed, OPEN)
    return course


def test_a_steady_course_is_followed_and_what_it_adds_is_its_integral():
    """v̇ = a + j t gives v = v₀ + a T + ½ j T²."""
    jerk = np.array([300.0, -50.0])
    found = course_of([jerk * 1e-3 * k for k in range(20)]).ahead()
    np.testing.assert_allclose(found.rate, jerk, rtol=1e-9)
    added, unsure = found.change(0.01, 3.0)
    np.testing.assert_allclose(added, 0.5 * jerk * 0.01**2, rtol=1e-9)
    assert (np.abs(unsure) > 0.0).all() and (np.abs(unsure) < np.abs(added)).all()
    # It lasts for a few times what was seen of it: then the acceleration stays as it is.
    far, _ = found.change(1.0, 1.0)
    seen = found.seen
    np.testing.assert_allclose(far, jerk * seen * (1.0 - 0.5 * seen), rtol=1e-9)


def test_another_mode_a_pause_and_a_stamp_of_the_past_begin_a_course_anew():
    course = course_of([[k, 0.0] for k in range(20)])
    assert course.ahead() is not None
    course.add(20_000_000, np.zeros(2), CLOSED, OPEN)
    assert course.ahead() is None
    for stamp in (100_000_000, 50_000_000):
        course = course_of([[k, 0.0] for k in range(20)])
        course.add(stamp if stamp > 50_000_000 else 1_000_000, np.zeros(2), OPEN, OPEN)
        assert course.ahead() is None


def test_a_young_mode_is_followed_less_and_a_course_that_bends_not_at_all():
    steady = course_of([[k, 0.0] for k in range(20)]).ahead()
    young = course_of([[k, 0.0] for k in range(6)]).ahead()
    bent = course_of([[(-1.0) ** k, 0.0] for k in range(20)]).ahead()
    assert steady.added > young.added > bent.added == 0.0
    assert steady.unsure < young.unsure and bent.unsure > 0.0


def test_states_of_a_fast_stream_are_taken_a_millisecond_apart():
    found = course_of([[0.1 * k, 0.0] for k in range(200)], period=100_000).ahead()
    assert found.seen == pytest.approx(0.006, abs=0.0011)
    np.testing.assert_allclose(found.rate[0], 1000.0, rtol=1e-9)


def sliding(speed):
    """A block of 2 kg that slides on the ground."""
    rows = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    return Contacts(np.eye(3) * 2.0, np.array([0, 0, 19.62]), rows, np.zeros(3), np.array([0.5])), np.array(
        [speed, 0.0, 0.0]
    )


def test_a_block_that_slides_comes_to_rest_and_stays_there():
    """It decelerates by μ g, and stops after |v|/(μ g)."""
    now, v = sliding(0.02)
    assert np.abs(through_sticks(now, v, 0.02)).max() < 1e-9  # extrapolated it would slide back with 0.078 m/s
    now, v = sliding(0.2)
    np.testing.assert_allclose(through_sticks(now, v, 0.02), [0.2 - 0.5 * 9.81 * 0.02, 0, 0], atol=1e-9)


def test_the_margin_of_friction_is_that_of_the_forces_that_make_the_acceleration():
    now, _ = sliding(0.2)
    held = friction_margins(now.mass, now.bias, now.rows, now.friction, np.zeros(3))
    assert held == pytest.approx(0.5 * 19.62)
    pulled = friction_margins(now.mass, now.bias + np.array([4.0, 0, 0]), now.rows, now.friction, np.zeros(3))
    assert pulled == pytest.approx(0.5 * 19.62 - 4.0)


def law(mass, rows, v, friction):
    n, r = v.size, rows.shape[0]
    out = np.empty((1, n)), np.zeros((1, r)), np.empty(1)
    landing_outcomes(
        500, 1e-11, 2, mass, np.zeros(n), rows, v, np.zeros(1), np.zeros((1, n)), friction[None], np.zeros((1, r)),
        *landing_scratch(r // 3, 2, n), *out,
    )  # fmt: skip
    return out[0][0], out[1][0]


@pytest.mark.parametrize("friction", [[0.9, 0.9], [0.9, 0.05], [0.9, 0.0]])
def test_the_map_of_a_landing_is_the_derivative_of_its_law(friction):
    """By central differences; the direction of a slip is held, so that only changes along it are compared."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(8, 8))
    mass, rows = np.eye(8) + 0.01 * A @ A.T, np.linalg.qr(A)[0][:6].copy()
    rows[5] = rows[4]  # the second contact slips along one line
    mu, v = np.array(friction), rng.normal(size=8)
    v -= np.linalg.pinv(rows) @ (rows @ v - np.array([-1.0, 0.1, 0.1, -1.0, 0.8, 0.8]))
    _, impulse = law(mass, rows, v, mu)
    found = landing_map(mass, rows, mu, impulse)
    h = 1e-5
    columns = [(law(mass, rows, v + h * e, mu)[0] - law(mass, rows, v - h * e, mu)[0]) / (2 * h) for e in np.eye(8)]
    np.testing.assert_allclose(found, np.array(columns).T, atol=1e-4)


def test_the_box_of_an_error_holds_its_share_of_the_errors():
    rng = np.random.default_rng(5)
    A, B, F = rng.normal(size=(6, 6)), rng.normal(size=(6, 6)), rng.normal(size=(6, 3))
    mass, covariance = A @ A.T + np.eye(6), 0.1 * B @ B.T
    through = np.eye(6) - np.outer([1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0])
    axes, before = spread_axes(mass, through, covariance + F @ F.T, 0.95)
    lengths = axes @ mass @ axes.T
    np.testing.assert_allclose(lengths, np.diag(lengths.diagonal()), atol=1e-9 * lengths.max())
    draws = rng.multivariate_normal(np.zeros(6), covariance + F @ F.T, size=40000) @ through.T
    inside = (np.abs(draws @ mass @ axes.T) <= lengths.diagonal() * (1 + 1e-9)).all(axis=1)
    assert inside.mean() == pytest.approx(0.95, abs=0.005)  # five standard deviations of the share
    assert axes.shape == (5, 6), "no error is left along what the landing stops"
    np.testing.assert_allclose(before @ through.T, axes, atol=1e-9 * np.abs(axes).max())  # errors of v⁻ that make them
    assert spread_axes(mass, through, np.zeros((6, 6)), 0.95)[0].shape == (0, 6)
