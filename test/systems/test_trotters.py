"""Pace's trotters: Fig. 1 left and right, the periodic orbit of Fig. 3."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, solve_discrete_lyapunov
from scipy.optimize import brentq, root

from hybrid_contact_ros.sensitivity.angles import constraint_angles
from hybrid_contact_ros.sensitivity.orders import order_outcomes
from hybrid_contact_ros.simulation.execution import ExecutionEventKind, ExecutionStatus
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.trotters import (
    HIP,
    INERTIA,
    LEG,
    MASS,
    SoftTrotterParameters,
    rigid_trotter,
    sequential_spin,
    soft_trotter,
    soft_trotter_apex,
)

DROP = 0.2  # m, of the rigid trotter
SPEED = np.sqrt(2 * 9.81 * DROP)
LANDED = np.sqrt(2 * DROP / 9.81)  # s
OUTSIDE = 0.4  # m, hips beyond the radius of gyration


def dropped(tilt, hip=HIP):
    """The rigid trotter, until 1 ms after it has landed."""
    return simulate(rigid_trotter(hip), [0.0, LEG + DROP, tilt], np.zeros(3), LANDED + 0.001)


def landing(hip=HIP):
    return rigid_trotter(hip).problem([0.0, LEG, 0.0], [0.0, -SPEED, 0.0])


@pytest.mark.parametrize("hip", [HIP, OUTSIDE])
def test_pace_assumption_4_fails_for_rigid_legs(hip):
    a, b = 1.0 / MASS + hip**2 / INERTIA, 1.0 / MASS - hip**2 / INERTIA
    assert constraint_angles(landing(hip))[0, 1] == pytest.approx(b / a)
    assert abs(b / a) > 0.2


@settings(max_examples=50, deadline=None)
@given(z=st.floats(0.2, 1.5), tilt=st.floats(-1.0, 1.0))
def test_pace_assumption_4_holds_for_soft_legs_wherever_both_feet_touch(z, tilt):
    problem = trotter().problem([z, tilt, 0.0, 0.0], np.zeros(4))
    np.testing.assert_array_equal(constraint_angles(problem), np.eye(2))


@cache
def trotter():
    return soft_trotter()


def test_pace_figure_1_left_rigid_legs_that_touch_together_leave_no_rotation():
    run = dropped(0.0)
    assert run.word == ("{}", "{left, right}")
    assert abs(run.v[-1, 2]) < 1e-12


@pytest.mark.parametrize("tilt", [1e-3, 1e-5, 1e-7, -1e-3, -1e-5, -1e-7])
def test_pace_figure_1_left_beside_it_the_rotation_is_bounded_away_from_zero(tilt):
    run = dropped(tilt)
    first = "left" if tilt > 0 else "right"
    second = "right" if tilt > 0 else "left"
    assert run.word == ("{}", f"{{{first}}}", f"{{{second}}}")  # the first foot is released
    spin = run.events[1].velocity_after[2]
    assert spin == pytest.approx(-np.sign(tilt) * sequential_spin(SPEED), abs=20.0 * abs(tilt) + 1e-6)
    assert abs(spin) > 1.0


def test_pace_figure_1_left_is_the_outcome_of_the_orders_of_touchdown():
    found = order_outcomes(landing(), [0, 1])
    assert [outcome.word for outcome in found.orders] == ["0→{0} 1→{1}", "1→{1} 0→{0}"]
    spins = [outcome.velocity[2] for outcome in found.orders]
    np.testing.assert_allclose(spins, np.array([-1.0, 1.0]) * sequential_spin(SPEED), rtol=1e-9)
    np.testing.assert_allclose(found.together.velocity, 0.0, atol=1e-9)
    assert found.margin > 0.2


@pytest.mark.parametrize("tilt", [1e-5, -1e-5])
def test_with_hips_outside_the_radius_of_gyration_both_rigid_legs_stay(tilt):
    run = dropped(tilt, OUTSIDE)
    assert run.word[-1] == "{left, right}"
    assert sequential_spin(SPEED, OUTSIDE) == 0.0
    assert abs(run.v[-1, 2]) < 1e-9
    assert order_outcomes(landing(OUTSIDE), [0, 1]).margin < 1e-9


def trot(tilt, t, system=None, **options):
    q, v = soft_trotter_apex(tilt)
    run = simulate(system or trotter(), q, v, t, rtol=1e-11, atol=1e-13, **options)
    assert run.status is ExecutionStatus.FINISHED
    return run


def last(run):
    return np.concatenate((run.q[-1], run.v[-1]))


@pytest.mark.parametrize("t", [0.3, 0.8])
def test_pace_figure_1_right_outcomes_of_soft_legs_are_continuous(t):
    level = last(trot(0.0, t))
    for sign, first in ((1.0, 0), (-1.0, 1)):
        jumps = []
        for tilt in (1e-3, 1e-4, 1e-5):
            run = trot(sign * tilt, t)
            assert run.events[0].contacts == {first} and run.events[1].contacts == {1 - first}
            jumps.append(np.abs(last(run) - level).max() / tilt)
        assert jumps[2] == pytest.approx(jumps[1], rel=1e-2)  # they fall as the tilt does
        assert 0.1 < jumps[2] < 100.0


def kink(tilt, system):
    """What the rise of z is not differentiable by, (ż(ε) + ż(−ε) − 2 ż(0)) / 2ε shortly after the touchdowns."""
    speeds = [trot(sign * tilt, 0.13, system).v[-1, 0] for sign in (1.0, 0.0, -1.0)]
    return (speeds[0] + speeds[2] - 2.0 * speeds[1]) / (2.0 * tilt)


def test_pace_figure_1_right_the_damper_between_body_and_limbs_makes_outcomes_piecewise_differentiable():
    found = [kink(tilt, trotter()) for tilt in (4e-4, 2e-4, 1e-4)]
    assert abs(found[2]) > 0.1
    assert abs(found[2] - found[1]) < 0.6 * abs(found[1] - found[0]) + 1e-6  # it has a limit that is not zero
    legs_alone = soft_trotter(replace(SoftTrotterParameters(), coupling=0.0, cross_coupling=0.0, gain=0.0))
    assert abs(kink(1e-4, legs_alone)) < 0.1 * abs(found[2])


def test_soft_legs_touch_in_any_order_with_the_same_outcome():
    problem = trotter().problem([0.75, 0.0, 0.0, 0.0], [-1.0, 0.3, -0.6, -0.9])
    assert order_outcomes(problem, [0, 1]).margin < 1e-9


def test_pace_assumption_2_forces_depend_on_the_state_alone():
    q, v = [0.6, 0.2, 0.0, 0.05], [-0.7, 0.4, 0.0, 0.3]
    plain = trotter().problem(q, v).bias_force
    np.testing.assert_array_equal(plain, trotter().problem(q, v, 3.0, frozenset({0})).bias_force)


def returned(q, v, **options):
    """The next apex of the soft trotter: its time, q and v, and the execution."""
    run = simulate(trotter(), q, v, 0.85, **options)
    flight = next(part for part in run.intervals[1:] if not part.mode.closed and part.end - part.start > 0.0)
    apex = brentq(lambda time: flight.at(time)[1][0], flight.start, flight.end, xtol=1e-13)
    return apex, *flight.at(apex), run


def level(state):
    """q and v of a level apex with (z, height and velocity of both feet)."""
    z, foot, rate = state
    return [z, 0.0, foot, foot], [0.0, 0.0, rate, rate]


def level_return(state):
    _, q, v, _ = returned(*level(state))
    return np.array([q[0], q[2], v[2]])


def test_pace_figure_3_the_soft_trotter_has_a_periodic_orbit_with_its_times():
    q, _ = soft_trotter_apex()
    nearby = [q[0] + 0.005, q[2] - 0.005, 0.05]
    found = root(lambda state: level_return(state) - state, nearby, tol=1e-8, options={"eps": 1e-7})
    assert found.success
    np.testing.assert_allclose(level_return(found.x), found.x, atol=1e-8)
    period, _, _, run = returned(*level(found.x))
    # the published section and period; at rest, the feet too
    np.testing.assert_allclose(found.x, [0.8, q[2], 0.0], atol=1e-5)
    assert period == pytest.approx(0.8, abs=1e-5)
    # touchdown and liftoff ±0.3 from the nadir, which is in the middle
    touchdown, liftoff = run.events[0], run.events[1]
    assert touchdown.kind is ExecutionEventKind.TOUCHDOWN and liftoff.kind is ExecutionEventKind.LIFTOFF
    assert touchdown.contacts == liftoff.contacts == {0, 1}
    nadir = brentq(lambda time: run.at(time)[1][0], 0.2, 0.6)
    times = np.array([0.0, touchdown.time, nadir, liftoff.time, period]) - nadir
    np.testing.assert_allclose(times, [-0.4, -0.3, 0.0, 0.3, 0.4], atol=1e-5)
    assert touchdown.velocity_before[2] < -0.1  # admissible: no grazing (Pace, Definition 3)


# Apex states by their symmetry in the mirror: z, height and velocity of both feet; θ, their differences, the rate of θ.
EVEN = [([1, 0, 0, 0], [0, 0, 0, 0]), ([0, 0, 1, 1], [0, 0, 0, 0]), ([0, 0, 0, 0], [0, 0, 1, 1])]
ODD = [
    ([0, 1, 0, 0], [0, 0, 0, 0]), ([0, 0, -1, 1], [0, 0, 0, 0]),
    ([0, 0, 0, 0], [0, 1, 0, 0]), ([0, 0, 0, 0], [0, 0, -1, 1]),
]  # fmt: skip


def test_pace_section_6_2_both_selections_of_the_return_map_contract_in_one_norm():
    """They are block triangular, and equal but for the sign of the block off the diagonal."""
    q, v = soft_trotter_apex()
    basis = np.array([np.concatenate(pair) for pair in EVEN + ODD], float).T
    exact = {"rtol": 1e-11, "atol": 1e-13}
    start = np.concatenate(returned(q, v, **exact)[1:3])
    columns = ([], [])
    for k, u in enumerate(basis.T):
        for step in (1e-5, -1e-5):
            _, q_after, v_after, run = returned(q + step * u[:4], v + step * u[4:], **exact)
            column = (np.concatenate((q_after, v_after)) - start) / step
            if k >= len(EVEN):
                (first,) = run.events[0].contacts
                columns[first].append(column)
            elif step > 0.0:
                for found in columns:
                    found.append(column)
    left_first, right_first = (np.linalg.lstsq(basis, np.array(found).T, rcond=None)[0] for found in columns)
    np.testing.assert_allclose(left_first[3:, 3:], right_first[3:, 3:], atol=5e-3)
    np.testing.assert_allclose(left_first[:3, 3:], -right_first[:3, 3:], atol=5e-3)
    assert np.abs(left_first[:3, 3:]).max() > 0.2  # not differentiable
    np.testing.assert_allclose(left_first[3:, :3], 0.0, atol=1e-3)
    assert np.abs(np.linalg.eigvals(left_first[:3, :3])).max() == pytest.approx(0.142, abs=2e-3)
    assert np.abs(np.linalg.eigvals(left_first[3:, 3:])).max() == pytest.approx(0.9922, abs=1e-3)
    even, odd = (
        solve_discrete_lyapunov(part.T, np.eye(len(part))) for part in (left_first[:3, :3], left_first[3:, 3:])
    )
    norm = block_diag(even, 1e3 * odd)  # the weight on the odd part makes the block off the diagonal small
    for selection in (left_first, right_first):
        assert np.linalg.eigvalsh(selection.T @ norm @ selection - norm).max() < 0.0


def test_a_passive_soft_trotter_loses_height_at_every_step():
    passive = soft_trotter(replace(SoftTrotterParameters(), gain=0.0))
    run = trot(0.0, 0.8, passive)
    energies = run.energy()
    assert energies[-1] < energies[0] - 0.1
    assert (np.diff(energies) < 1e-9).all()
