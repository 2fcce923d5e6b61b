"""The momentum observer and the forces that are made of it."""

import numpy as np
import pytest

from helpers.steps import Observer, explaining
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE

ONE = np.ones(1)


def pushed(observer, force, steps, dt=1e-3, mass=2.0, start=0):
    """A mass that a constant unknown force pushes, from rest."""
    for i in range(start, start + steps):
        observer.update(dt, mass * ONE * (force / mass) * dt * i, 0.0 * ONE, 0.0 * ONE)
    return observer.residual[0]


def test_the_residual_is_the_external_force_through_a_first_order_low_pass():
    observer = Observer(1, 100.0)
    pushed(observer, 0.0, 200)
    for i in range(1, 11):  # the force begins
        observer.update(1e-3, 7.0e-3 * i * ONE, 0.0 * ONE, 0.0 * ONE)
        assert observer.residual[0] == pytest.approx(7.0 * (1 - 1.1**-i), rel=1e-9)


@pytest.mark.parametrize("steps", [2, 5, 11, 400])
def test_a_force_that_was_there_from_the_beginning_is_found_with_the_second_state(steps):
    observer = Observer(1, 100.0)
    assert pushed(observer, 7.0, steps) == pytest.approx(7.0, rel=1e-9)
    assert observer.settled == (steps >= 51)


@pytest.mark.parametrize(("rests", "needed"), [(True, 11), (False, 51)])
def test_forces_of_a_robot_at_rest_are_known_after_one_time_constant_and_of_one_that_moves_after_five(rests, needed):
    observer = Observer(1, 100.0)
    pushed(observer, 7.0, 1)
    if rests:
        observer.rests()
    pushed(observer, 7.0, needed - 2, start=1)
    assert not observer.settled
    pushed(observer, 7.0, 1, start=needed - 1)
    assert observer.settled
    observer.update(2 * LONGEST_PAUSE, 55.0 * ONE, 0.0 * ONE, 0.0 * ONE)
    observer.rests()  # it is no beginning: whether efforts explain the motion is known, or is still to be known
    for i in range(1, 11):
        assert not observer.settled
        observer.update(1e-3, (55.0 + 7.0e-3 * i) * ONE, 0.0 * ONE, 0.0 * ONE)
    assert observer.settled


def test_once_it_has_settled_it_is_as_certain_as_it_ever_is():
    """Of noisy velocities: the deviation of the residual after one time constant, and after twenty."""
    rng, found = np.random.default_rng(3), []
    for _ in range(400):
        observer, row = Observer(1, 100.0), {}
        for i in range(201):
            observer.update(1e-3, 7.0e-3 * i * ONE + 0.01 * rng.normal(size=1), 0.0 * ONE, 0.0 * ONE)
            row[i] = observer.residual[0] - 7.0
        found.append((row[11], row[200]))
    early, late = np.sqrt(np.mean(np.square(found), axis=0))
    assert early < 1.6 * late and late < 1.1


@pytest.mark.parametrize("dt", [1e-4, 5e-3, 0.05])
def test_it_is_stable_and_exact_at_any_rate(dt):
    assert pushed(Observer(1, 200.0), -3.0, 500, dt=dt) == pytest.approx(-3.0, rel=1e-4)


def test_known_forces_leave_no_residual():
    observer = Observer(1, 50.0)
    for i in range(200):
        observer.update(1e-3, ONE * 4.0e-3 * i, 1.0 * ONE, 3.0 * ONE)
    assert abs(observer.residual[0]) < 1e-12


@pytest.mark.parametrize("dt", [-1e-3, 2 * LONGEST_PAUSE])
def test_a_pause_or_a_step_back_starts_it_anew(dt):
    observer = Observer(1, 100.0)
    pushed(observer, 7.0, 200)
    assert observer.settled
    observer.update(dt, 55.0 * ONE, 0.0 * ONE, 0.0 * ONE)
    assert observer.residual[0] == 0.0 and not observer.settled


def test_a_second_state_of_the_same_time_changes_nothing():
    observer = Observer(1, 100.0)
    before = pushed(observer, 7.0, 50)
    observer.update(0.0, 99.0 * ONE, 0.0 * ONE, 0.0 * ONE)
    assert observer.residual[0] == before


def test_forces_of_independent_contacts_are_found_and_the_others_are_nan():
    rng = np.random.default_rng(0)
    jacobian, mass = rng.normal(size=(9, 12)), np.diag(rng.uniform(1, 2, 12))
    force = rng.normal(size=6)
    found = explaining(jacobian, mass, jacobian[[0, 1, 2, 6, 7, 8]].T @ force, [0, 2])
    assert found[[0, 2]].reshape(-1) == pytest.approx(force, rel=1e-5, abs=1e-5)
    assert np.isnan(found[1]).all()


def test_of_redundant_contacts_the_least_forces_with_the_right_effect_are_returned():
    jacobian = np.vstack([np.eye(3), np.eye(3)])  # one point, twice
    found = explaining(jacobian, np.eye(3), np.array([1.0, 2.0, 10.0]), [0, 1])
    assert found == pytest.approx(np.array([[0.5, 1.0, 5.0], [0.5, 1.0, 5.0]]), rel=1e-6)


def test_a_mass_that_is_held_at_rest_against_its_weight_is_held_by_its_weight():
    observer, weight = Observer(1, gain=100.0), np.array([-2 * 9.81])
    for _ in range(1000):
        force = observer.update(1e-3, momentum=np.zeros(1), rate=weight, effort=np.zeros(1))
    assert observer.settled and force == pytest.approx([19.62], rel=1e-6)
