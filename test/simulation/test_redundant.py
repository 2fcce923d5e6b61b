"""Forces of redundant contacts of which some slide: within the cones, as near as possible, and continuous."""

import numpy as np
import pytest

from helpers.robot_systems import block, standing
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.mode_dynamics import Flow
from hybrid_contact_ros.simulation.redundant import cone_rows, within


def test_four_corners_share_a_load_beside_the_middle_without_pulling():
    """The least forces under a load near a corner pull at the corner across; one number of the four is free."""
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    matrix = np.vstack((np.ones(4), corners.T))
    load = np.array([0.6, 0.6])
    least = np.linalg.lstsq(matrix, np.array([1.0, *load]), rcond=None)[0]
    assert least.min() < 0.0
    found = within(matrix, least, np.eye(4))
    np.testing.assert_allclose(matrix @ found, [1.0, *load], atol=1e-12)
    assert found.min() == pytest.approx(0.0, abs=1e-12)
    assert within(matrix, found, np.eye(4)) is found


def test_where_no_forces_push_the_given_ones_are_kept():
    matrix = np.vstack((np.ones(2), [-1.0, 1.0]))
    pulls = np.linalg.solve(matrix, [1.0, 2.0])
    assert within(matrix, pulls, np.eye(2)) is pulls


def test_cones_of_sticking_contacts_are_inside_coulombs():
    system = AdaptedSystem(block(friction=0.5), *standing(0.05))
    problem = system.problem(*standing(0.05))
    mode = Mode.of([0, 1], [1])
    rows = cone_rows(problem, mode, mode.held(problem))
    assert rows.shape == (1 + 16 + 1, 4)  # λ_n and the edges of contact 0, and λ_n of contact 1
    for angle in np.linspace(0.0, 6.3, 50):
        inside = np.array([1.0, 0.49 * np.cos(angle), 0.49 * np.sin(angle), 0.0])
        outside = np.array([1.0, 0.51 * np.cos(angle), 0.51 * np.sin(angle), 0.0])
        assert (rows @ inside).min() >= 0.0
        assert (rows @ outside).min() < 0.0


def test_a_braking_block_leans_forward_and_no_corner_pulls():
    """0.05 m of height times the friction move the load forward; exact forces by statics."""
    mu, height, half = 0.5, 0.05, 0.2
    system = AdaptedSystem(block(friction=mu), *standing(height, (1, 0, 0, 0, 0, 0)))
    mode = Mode.of(range(4), range(4))
    force = Flow(system, mode, True, 1e-6).dynamics(0.0, *standing(height, (1, 0, 0, 0, 0, 0))).force
    weight = 2.0 * 9.81
    front = weight * (0.5 + mu * height / (2.0 * half))
    np.testing.assert_allclose(force[:, 0], [(weight - front) / 2] * 2 + [front / 2] * 2, rtol=1e-9)
    np.testing.assert_allclose(force[:, 1], -mu * force[:, 0], rtol=1e-9)
