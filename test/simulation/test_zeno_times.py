"""Bounds of Zeno times contain the truth where sequences of impacts are not those of one ball."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation import zeno_bookkeeping
from hybrid_contact_ros.simulation.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.options import Tolerances
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

COARSE = Tolerances(0.1, 0.1, 0.1)


class Stack:
    """Balls one above the other; q are the gaps' sums, contact i is below ball i."""

    def __init__(self, masses, restitution):
        self.masses, self.restitution, self.n = np.array(masses), restitution, len(masses)

    def problem(self, q, v):
        n = self.n
        rows = np.eye(n) - np.eye(n, k=-1)
        return ContactProblem(
            np.diag(self.masses),
            v,
            rows,
            np.zeros((n, 1, n)),
            np.zeros(n),
            np.full(n, self.restitution),
            rows @ q,
            9.81 * self.masses,
            np.zeros((n, 2)),
        )


def truncations(execution):
    return [event for event in execution.events if event.kind is EventKind.TRUNCATION]


def on_a_slope(width, height, slope, lean):
    ground = (-np.sin(slope), np.cos(slope))
    corners = [Corner(name, side * width / 2, -height / 2, ground) for name, side in (("l", -1), ("r", 1))]
    box = PlanarBox(width, height, 1.0, 50.0, corners)
    q = np.array([0.0, 2.0 * height, slope + lean])
    q[1] -= box.gap(q).min() / ground[1]
    return box, q


def rocking_time(width, height, slope, lean):
    """Zeno time by integrating each half cycle about its corner, and the balance of angular momentum between them."""
    square = width**2 + height**2
    inertia, factor = square / 3.0, (square / 12.0 + (height**2 - width**2) / 4.0) / (square / 3.0)
    angle, rate, side, time = lean, 0.0, np.sign(lean), 0.0

    def lever(at):
        return side * np.cos(at + slope) * width / 2 - np.sin(at + slope) * height / 2

    while time == 0.0 or abs(rate) > 1e-4:

        def lands(_, y, side=side):
            return side * y[0]

        lands.terminal, lands.direction = True, -1
        swing = solve_ivp(
            lambda _, y: [y[1], -9.81 * lever(y[0]) / inertia],
            (0.0, 9.0),
            [angle, rate],
            "DOP853",
            events=lands,
            rtol=1e-13,
            atol=1e-15,
        )
        time += swing.t[-1]
        angle, rate, side = 0.0, factor * swing.y[1, -1], -side
    while abs(rate) > 1e-14:
        time += 2.0 * abs(rate) * inertia / (9.81 * abs(lever(0.0)))
        rate, side = factor * rate, -side
    return time


@pytest.mark.parametrize(
    ("width", "height", "slope", "lean"),
    [(0.16, 0.144, -0.031, -0.186), (0.08, 0.085, 0.279, -0.126), (0.358, 0.325, 0.179, 0.077)],
)
def test_a_block_on_a_slope_takes_longer_every_second_time(width, height, slope, lean):
    box, q = on_a_slope(width, height, slope, lean)
    ((lower, upper),) = simulate(box, q, np.zeros(3), 0.3).zeno_times
    assert lower <= rocking_time(width, height, slope, lean) <= upper
    assert upper - lower < 2e-6


def test_contacts_that_came_to_rest_are_not_truncated():
    box, q = on_a_slope(1.737, 1.424, -0.18, 0.102)
    whole, cut = simulate(box, q, np.zeros(3), 0.4), simulate(box, q, np.zeros(3), 0.4, truncation=COARSE)
    assert whole.status is ExecutionStatus.FINISHED and len(whole.zeno_times) == 1
    assert not truncations(cut) and cut.zeno_times == whole.zeno_times


def test_impacts_whose_contraction_turns_are_not_taken_for_a_geometric_sequence():
    """The return map of this stack has complex eigenvalues: four intervals shrink fast, then they nearly do not."""
    stack, q, v = Stack([1.51, 0.11, 2.22, 6.89], 0.6), np.array([0.3, 0.3, 0.4, 0.4]), np.zeros(4)
    whole = simulate(stack, q, v, 0.5, gap_tolerance=1e-13)
    cut = simulate(stack, q, v, 0.5, truncation=COARSE)
    assert len(truncations(cut)) == 1 and len(cut.events) < 0.8 * len(whole.events)
    ((lower, upper),), ((begin, end),) = cut.zeno_times, whole.zeno_times
    assert lower <= begin <= end <= upper


def test_two_impacts_within_the_gap_tolerance_may_change_what_follows_and_the_bounds_say_so():
    stack, q, v = Stack([1.0, 1.0, 1.0], 0.3), np.array([0.3, 0.6, 0.6]), np.zeros(3)
    ((begin, end),) = simulate(stack, q, v, 0.5, gap_tolerance=1e-13).zeno_times
    ((lower, upper),) = simulate(stack, q, v, 0.5, gap_tolerance=1e-9).zeno_times
    assert end - begin < 1e-6
    assert lower <= begin <= end <= upper


SLIDING = PlanarBox(0.2, 0.15, 1.0, 0.3, [Corner("A", -0.1, -0.075, (0.0, 1.0))], restitution=0.3)


def test_a_contact_whose_friction_changes_how_fast_it_leaves_is_not_vouched_for(monkeypatch):
    """Poisson's e is of impulses: while it slides this corner does not leave at e times its speed, as O takes it."""
    q, v = np.array([0.0, 0.08, 0.3]), np.array([1.5, 0.0, 0.0])
    q[1] += 1e-3 - SLIDING.gap(q).min()
    whole = simulate(SLIDING, q, v, 0.1, law="simultaneous")
    ((begin, end),) = whole.zeno_times
    first = whole.events[0]
    row = SLIDING.problem(first.q, first.velocity_before).normal_jacobian[0]
    assert abs(row @ first.velocity_after / (row @ first.velocity_before) + 0.3) > 0.01
    cut = simulate(SLIDING, q, v, 0.1, law="simultaneous", truncation=COARSE)
    ((lower, upper),) = cut.zeno_times
    assert lower <= begin <= end <= upper
    assert [event.decided for event in truncations(cut)] == [False]
    monkeypatch.setattr(zeno_bookkeeping, "by_newton", lambda *_: True)  # what the bounds were, had it been O's
    ((lower, upper),) = simulate(SLIDING, q, v, 0.1, law="simultaneous", truncation=COARSE).zeno_times
    assert not lower <= begin <= upper
