"""Painlevé's rod: where contact forces do not exist, an impact without collision, as Routh constructs it."""

from math import atan, cos, sin, tan

import numpy as np
import pytest

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.continuous_time.continuous_path import Phase
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.impacts.routh import increment_path, routh_path
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.systems.painleve_rod import painleve_rod, rod_state

MU = 2.0
SLIPPING, OPEN = (int(ContactStatus.SLIPPING),), (int(ContactStatus.OPEN),)


def planar_matrix(angle):
    """(G_nn, G_nt, G_tt) of the rod's end by hand, m = l = 1."""
    c, s = cos(angle), sin(angle)
    return 1 + 3 * c * c, -3 * s * c, 1 + 3 * s * s


def routh_by_hand(angle, slip, mu):
    """Λ (normal, tangential) and the end's velocity: a line of slipping, then one of sticking or slipping back."""
    nn, nt, tt = planar_matrix(angle)
    sign = np.sign(slip)
    slope_n, slope_t = nn - mu * sign * nt, nt - mu * sign * tt
    first = -slip / slope_t
    approach = slope_n * first
    assert first > 0 and approach < 0
    friction = -nt / tt if abs(nt / tt) <= mu else mu * sign
    second = -approach / (nn + friction * nt)
    normal, tangent = first + second, -mu * sign * first + friction * second
    return np.array([normal, tangent]), np.array([nn * normal + nt * tangent, slip + nt * normal + tt * tangent])


def test_rows_are_those_of_a_uniform_rod():
    rod = painleve_rod()
    problem = rod.problem(*rod_state(0.7, -1.0, 0.3))
    rows = problem.jacobian()
    G = rows @ np.linalg.solve(problem.mass, rows.T)
    nn, nt, tt = planar_matrix(0.7)
    np.testing.assert_allclose(G, [[nn, nt], [nt, tt]], atol=1e-14)
    np.testing.assert_allclose(rows @ problem.velocity, [0.0, -1.0], atol=1e-14)
    assert problem.gap[0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("angle", [0.7, atan(2.0), 1.3])
def test_no_forces_exist_in_the_inconsistent_region(angle):
    nn, nt, _ = planar_matrix(angle)
    assert nn + MU * nt < 0 and (4 + tan(angle) ** 2) / (3 * tan(angle)) < MU
    problem = painleve_rod().problem(*rod_state(angle, -1.0, 0.0))
    assert force_acceleration_mode(problem, enumerate_all=True).status is Status.NONE_FOUND


@pytest.mark.parametrize(("angle", "slip"), [(0.7, -1.0), (atan(2.0), -1.0), (1.3, -3.0)])
def test_impact_without_collision_is_rouths(angle, slip):
    rod = painleve_rod()
    q, v = rod_state(angle, slip, 0.0)
    path = continuous_time_path(rod, q, v, 0.05)
    impact, after = path.pieces[:2]
    assert path.status is Status.SOLVED and path.branches == ()
    assert impact.phase is Phase.IMPACT_WITHOUT_COLLISION and path.t[impact.stop] == 0.0
    impulse, end = routh_by_hand(angle, slip, MU)
    np.testing.assert_allclose(path.impulses[impact.stop, 0], impulse, rtol=1e-12)
    reached = rod.problem(q, path.v[impact.stop])
    np.testing.assert_allclose(reached.jacobian() @ reached.velocity, end, atol=1e-12)
    np.testing.assert_allclose(end, 0.0, atol=1e-12)  # G_nt² < G_nn G_tt: one that jams while slipping can stick
    assert after.status[0] != ContactStatus.SLIPPING


@pytest.mark.parametrize("step", [0.1, 0.003])
def test_increments_find_the_same_impact_without_collision(step):
    problem = painleve_rod().problem(*rod_state(atan(2.0), -1.0, 0.0))
    path = increment_path(problem, step, seed=1, start=(0,))
    impulse, _ = routh_by_hand(atan(2.0), -1.0, MU)
    assert path.status is Status.SOLVED
    np.testing.assert_allclose(path.impulses[-1, 0], impulse, atol=1e-9)


def test_energy_never_rises_and_the_cone_holds_along_the_path():
    rod = painleve_rod()
    path = continuous_time_path(rod, *rod_state(0.7, -3.0, 0.0), 0.5)
    energy = [rod.energy(q, v) for q, v in zip(path.q, path.v, strict=True)]
    assert np.diff(energy).max() < 1e-9
    pushed = np.diff(path.impulses[:, 0], axis=0)
    assert (pushed[:, 0] >= -1e-12).all() and (np.abs(pushed[:, 1]) <= MU * pushed[:, 0] + 1e-9).all()
    assert min(rod.gap(q)[0] for q in path.q) > -1e-10


@pytest.mark.parametrize(("prefer", "taken"), [("closed", SLIPPING), ("open", OPEN), ("impact", None)])
def test_three_motions_of_the_indeterminate_region_are_reported(prefer, taken):
    rod = painleve_rod()
    q, v = rod_state(atan(2.0), -1.0, 4.0)  # fast turning lifts the end: slipping, lifting off, or an impact
    assert force_acceleration_mode(rod.problem(q, v), enumerate_all=True).unique is False
    path = continuous_time_path(rod, q, v, 0.01, prefer=prefer)
    branch = path.branches[0]
    assert set(branch.modes) == {SLIPPING, OPEN} and branch.impact and (branch.t, branch.s) == (0.0, 0.0)
    if taken is None:
        assert branch.taken == -1 and path.pieces[0].phase is Phase.IMPACT_WITHOUT_COLLISION
    else:
        assert branch.modes[branch.taken] == taken == path.pieces[0].status


def test_slipping_runs_into_the_singular_point_and_on_through_an_impact():
    rod, angle = painleve_rod(), atan((6 - 20**0.5) / 2)  # the lower edge of the region: G_nn + μ G_nt = 0
    path = continuous_time_path(rod, *rod_state(0.6, -30.0, 0.0), 1.0)
    assert [p.phase for p in path.pieces] == [Phase.CONTACT, Phase.IMPACT_WITHOUT_COLLISION, Phase.FREE]
    jam = path.pieces[0]
    assert jam.ended == "jam A"
    # Génot and Brogliato (1999): the edge is reached only where the free end does not accelerate either.
    assert path.q[jam.stop, 2] == pytest.approx(angle, abs=1e-5)
    assert path.v[jam.stop, 2] == pytest.approx((9.81 / sin(angle)) ** 0.5, abs=1e-3)
    energy = [rod.energy(q, v) for q, v in zip(path.q, path.v, strict=True)]
    assert np.diff(energy).max() < 1e-9


def test_an_impact_without_collision_is_refused_where_a_push_separates():
    problem = painleve_rod(friction=0.5).problem(*rod_state(0.7, -1.0, 0.0))
    path = routh_path(problem, start=(0,))
    assert path.status is Status.NONE_FOUND and path.s[-1] == 0.0


def test_sizes_and_friction_are_checked():
    with pytest.raises(ValueError, match="half_length"):
        painleve_rod(half_length=0.0)
    with pytest.raises(ValueError, match="friction"):
        painleve_rod(friction=-1.0)
