"""Continuous time through impacts (H §4) on boxes, linkages and rods."""

import numpy as np
import pytest
import sympy

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.continuous_time.continuous_path import Phase
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.impacts.routh import ImpactPath, increment_path
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.systems.compass_gait import compass_gait
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

G = 9.81
NAMES = ("A", "B", "C", "D")
CORNERS = tuple(
    Corner(n, x, y, (0.0, 1.0)) for n, x, y in zip(NAMES, (-0.5, 0.5, 0.5, -0.5), (-1.0, -1.0, 1.0, 1.0), strict=True)
)


def box(friction):
    return PlanarBox(1.0, 2.0, 1.0, friction, CORNERS)


def point_mass(friction=0.5, force=None, mass=2.0):
    x, y = sympy.symbols("x y")
    ground = Constraint("P", y, (sympy.Matrix([[1, 0]]),), friction)
    return LagrangianSystem("point", (x, y), sympy.eye(2) * mass, mass * G * y, [ground], force)


def energy(path):
    return 0.5 * path.v**2 @ [1.0, 1.0, 5 / 12] + G * path.q[:, 1]


def increments(problem, start):
    return increment_path(problem, 0.05, 7, start)


@pytest.mark.parametrize("seed", range(6))
def test_tossed_boxes_come_to_rest_lose_energy_and_never_penetrate(seed):
    rng = np.random.default_rng(seed)
    friction = (0.0, 0.2, 0.5, 1.0)[seed % 4]
    system = box(friction)
    q, v = [0, 2 + rng.random(), rng.uniform(-3, 3)], rng.normal(size=3) * [2, 1, 3]
    path = continuous_time_path(system, q, v, 5.0, impact=increments if seed % 2 else None)
    assert path.status is Status.SOLVED and path.t[-1] == pytest.approx(5.0, abs=1e-12)
    assert np.diff(energy(path)).max() < 1e-8
    assert (np.diff(path.s) > 0.0).all() and (np.diff(path.t) >= 0.0).all()
    s = np.linspace(path.s[0], path.s[-1], 200)
    t, q, v, impulses = path.at(s)
    gaps = np.array([system.problem(a, b).gap for a, b in zip(q, v, strict=True)])
    assert gaps.min() > -1e-9
    assert path.drift < 1e-8
    np.testing.assert_allclose(s, t + impulses[:, :, 0].sum(axis=1), atol=1e-8)  # (63)
    pushed = np.diff(path.impulses, axis=0)
    assert pushed[:, :, 0].min() > -1e-9
    assert (np.abs(pushed[:, :, 1]) <= friction * pushed[:, :, 0] + 1e-7).all()
    turning_or_lifting = path.v[-1, 1:]
    np.testing.assert_allclose(turning_or_lifting, 0.0, atol=1e-7)


@pytest.mark.parametrize(
    ("width", "height", "q", "v"),
    [  # a fast spin in steps of more than a turn, after an impact without collision; half cycles that shrink by 0.03
        (0.38683659, 0.37285219, [0.0, 0.26709161, 0.69652214], [-12.0493418, -0.0112625826, -0.391543679]),
        (0.56262432, 0.41849475, [0.0, 0.2092473733, 0.0], [0.3109221, 0.10313324, 0.36661493]),
    ],
)
def test_boxes_on_rough_ground_neither_sink_nor_gain_energy(width, height, q, v):
    corners = [Corner(c.name, c.x * width, c.y * height / 2, c.normal) for c in CORNERS]
    system = PlanarBox(width, height, 1.0, 5.0, corners)
    q = np.array(q)
    q[1] -= system.problem(q, v).gap.min()
    v = np.array(v) - [0.0, (system.problem(q, v).normal_jacobian @ v)[0], 0.0]
    path = continuous_time_path(system, q, v, 2.0, max_pieces=200)
    assert path.status is Status.SOLVED and path.t[-1] == 2.0
    _, q, v, _ = path.at(np.linspace(path.s[0], path.s[-1], 300))
    assert min(system.problem(a, b).gap.min() for a, b in zip(q, v, strict=True)) > -1e-9
    inertia = (width**2 + height**2) / 12
    assert np.diff(0.5 * path.v**2 @ [1.0, 1.0, inertia] + G * path.q[:, 1]).max() < 1e-8


def test_forces_between_impacts_are_the_force_acceleration_problems():
    system, looked_at = box(0.3), 0
    path = continuous_time_path(system, [0, 1.6, 0.9], [1.5, 0.0, 1.0], 3.0)
    for piece in path.pieces:
        if piece.phase is not Phase.CONTACT:
            continue
        low, high = path.s[piece.start], path.s[piece.stop]
        middle, width = 0.5 * (low + high), 1e-3 * (high - low)
        t, q, v, impulses = path.at([middle - width, middle, middle + width])
        touching = [i for i, status in enumerate(piece.status) if status != ContactStatus.OPEN]
        found = force_acceleration_mode(system.problem(q[1], v[1]), touching)
        np.testing.assert_array_equal(found.contact_status, piece.status)
        force = (impulses[2] - impulses[0]) / (t[2] - t[0])
        np.testing.assert_allclose(force, found.forces, atol=1e-3)
        np.testing.assert_allclose((v[2] - v[0]) / (t[2] - t[0]), found.acceleration, atol=1e-3)
        looked_at += 1
    assert looked_at >= 3


def test_free_motion_has_ds_equal_dt_eq_46():
    path = continuous_time_path(point_mass(), [0.0, 5.0], [1.0, 2.0], 0.8)
    assert [p.phase for p in path.pieces] == [Phase.FREE]
    np.testing.assert_allclose(path.s, path.t, atol=1e-15)
    np.testing.assert_allclose(path.q[-1], [0.8, 5 + 1.6 - G * 0.32], rtol=1e-12)


def test_falling_point_slides_and_stops_where_coulomb_says():
    mu, drop = 0.5, 0.2
    path = continuous_time_path(point_mass(mu), [0.0, drop], [3.0, 0.0], 2.0)
    assert [p.ended for p in path.pieces] == ["touchdown P", "separation", "stick P", "end"]
    fall, hit = np.sqrt(2 * drop / G), np.sqrt(2 * drop * G)
    after = 3.0 - mu * hit
    stop = path.pieces[2].stop
    assert path.t[stop] == pytest.approx(fall + after / (mu * G), rel=1e-12)
    assert path.q[stop, 0] == pytest.approx(3 * fall + after**2 / (2 * mu * G), rel=1e-12)
    assert path.impulses[path.pieces[1].stop, 0, 0] == pytest.approx(2.0 * hit, rel=1e-12)
    assert path.s[-1] == pytest.approx(2.0 + 2.0 * G * 2.0, rel=1e-12)  # momentum at rest: all weight was pushed back


def test_force_that_depends_on_time_lifts_off_and_starts_to_slip_in_time():
    pull = point_mass(0.5, force=lambda t, q, v, mode: [3.0 * t, 10.0 * t])
    path = continuous_time_path(pull, [0.0, 0.0], [0.0, 0.0], 3.0)
    assert [p.ended for p in path.pieces] == ["slip P", "liftoff P", "end"]
    assert path.t[path.pieces[0].stop] == pytest.approx(G / 8.0, rel=1e-9)  # 3 t = 0.5 (2 g − 10 t)
    assert path.t[path.pieces[1].stop] == pytest.approx(2 * G / 10.0, rel=1e-9)


def test_compass_gait_falls_over_its_foot_and_loses_energy_only():
    system = compass_gait()
    foot = np.array([0.0, 1.0, 0.3, 0.0])[: system.problem(np.zeros(4), np.zeros(4)).nv]
    problem = system.problem(foot, np.zeros(foot.size))
    foot[1] -= problem.gap.min()
    path = continuous_time_path(system, foot, np.zeros(foot.size), 0.6)
    assert path.status is Status.SOLVED
    gaps = [system.problem(q, v).gap.min() for q, v in zip(path.q, path.v, strict=True)]
    assert min(gaps) > -1e-9
    total = []
    for q, v in zip(path.q, path.v, strict=True):
        heights = [system.point(q, v, i, link.centre)[0][1] for i, link in enumerate(system.links)]
        total.append(0.5 * v @ system.problem(q, v).mass @ v + G * sum(heights))
    assert np.diff(total).max() < 1e-8 and total[-1] < total[0] - 0.1


def test_a_block_that_rattles_on_ice_slides_on_past_its_zeno_point():
    path = continuous_time_path(box(0.0), [0.0, 1.0, 0.0], [2.0, 0.25, 0.5], 1.0)
    (found,) = path.accumulations
    assert found.ratio == pytest.approx(0.25, abs=1e-5)  # (I − m w²/4) / (I + m w²/4)
    np.testing.assert_allclose(path.v[-1], [2.0, 0.0, 0.0], atol=1e-12)
    assert path.q[-1, 0] == pytest.approx(2.0, abs=1e-12)
    assert path.impulses[-1, :, 0].sum() == pytest.approx(G - 0.25, abs=1e-8)


def test_interpolation_agrees_with_the_knots_and_inverts_time():
    path = continuous_time_path(box(0.5), [0, 1.6, 0.9], [1.0, 0.0, 1.0], 1.5)
    t, q, v, impulses = path.at(path.s)
    np.testing.assert_allclose(t, path.t, atol=1e-9)
    np.testing.assert_allclose(q, path.q, atol=1e-9)
    np.testing.assert_allclose(v, path.v, atol=1e-8)
    np.testing.assert_allclose(impulses, path.impulses, atol=1e-9)
    for time in (0.0, 0.3, 0.77, 1.5):
        assert path.at(path.s_at(time))[0][0] == pytest.approx(time, abs=1e-9)
    with pytest.raises(ValueError, match="s must lie"):
        path.at(path.s[-1] + 1)
    with pytest.raises(ValueError, match="t is"):
        path.s_at(2.0)


def test_work_is_bounded():
    state = ([0, 1.6, 0.9], [1.0, 0.0, 1.0], 3.0)
    for limit in ({"max_pieces": 2}, {"max_steps": 10}):
        path = continuous_time_path(box(0.5), *state, **limit)
        assert path.status is Status.STEP_LIMIT and path.t[-1] < 3.0
        assert len(path.pieces) <= 2 or path.s.size <= 20


def test_an_impact_rule_without_an_answer_ends_the_path():
    def nothing(problem, start):
        m = problem.contacts
        return ImpactPath(np.zeros(1), problem.velocity[None], np.zeros((1, m, 2)), Status.RAY)

    path = continuous_time_path(point_mass(), [0.0, 0.1], [0.0, 0.0], 1.0, impact=nothing)
    assert path.status is Status.NONE_FOUND and path.t[-1] == pytest.approx(np.sqrt(0.2 / G))


def test_no_time_is_a_path_of_one_knot():
    path = continuous_time_path(point_mass(), [0.0, 1.0], [0.0, 0.0], 0.0)
    assert path.status is Status.SOLVED and path.s.size == 1 and path.pieces == ()
    assert path.at(0.0)[1].tolist() == [[0.0, 1.0]]


class Spatial:
    """A point in space: two tangents."""

    def problem(self, q, v):
        return ContactProblem(np.eye(3), v, [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], [0.5], gap=[q[2]])


@pytest.mark.parametrize(
    ("system", "q", "v", "keywords", "what"),
    [
        (point_mass(), [0.0, -1.0], [0.0, 0.0], {}, "contact P penetrates"),
        (point_mass(), [0.0], [0.0], {}, "finite numbers"),
        (point_mass(), [0.0, 1.0], [0.0], {}, "of one length"),
        (point_mass(), [0.0, np.nan], [0.0, 0.0], {}, "finite"),
        (point_mass(mass=0.0), [0.0, 1.0], [0.0, 0.0], {}, "mass is singular"),
        (Spatial(), [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], {}, "planar"),
        (point_mass(), [0.0, 1.0], [0.0, 0.0], {"prefer": "best"}, "prefer"),
        (point_mass(), [0.0, 1.0], [0.0, 0.0], {"t": 2.0}, "t_final"),
        (point_mass(), [0.0, 1.0], [0.0, 0.0], {"rtol": 0.0}, "rtol"),
        (point_mass(), [0.0, 1.0], [0.0, 0.0], {"gap_tolerance": -1.0}, "gap_tolerance"),
        (point_mass(), [0.0, 1.0], [0.0, 0.0], {"zeno_tolerance": -1.0}, "zeno_tolerance"),
        (point_mass(), [0.0, 1.0], [0.0, 0.0], {"max_pieces": 0}, "max_pieces"),
    ],
)
def test_bad_arguments_are_named(system, q, v, keywords, what):
    with pytest.raises(ValueError, match=what):
        continuous_time_path(system, q, v, 1.0, **keywords)
