"""O Theorem 3: what a reliable truncation promises, the exact execution keeps."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.reference_execution import zeno_point
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.interval_ranges import range_finder
from hybrid_contact_ros.stability.neighbourhood import truncation_speed
from hybrid_contact_ros.stability.ranges import bouncing
from hybrid_contact_ros.stability.truncation import reliable_truncation
from hybrid_contact_ros.systems.ball import zeno_time
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

BALL, PENDULUM = ball_on_sinusoid(), pendulum_with_stop()
seeds = st.integers(0, 10**6)
LOOSE = {"epsilon_q": 10.0, "epsilon_v": 10.0, "epsilon_t": 10.0}


class Unwritten:
    """A system that hides its symbols: only problems can be asked for."""

    def __init__(self, system):
        self._system = system

    def problem(self, q, v):
        return self._system.problem(q, v)


def line(restitution=0.5, gravity=9.81):
    y = sympy.Symbol("y")
    return LagrangianSystem("ball", (y,), sympy.eye(1), gravity * y, [Constraint("ground", y, restitution=restitution)])


def chattering(seed):
    """A system, a state in a chatter (before an impact, after one, or in flight), near a random Zeno equilibrium."""
    rng = np.random.default_rng(seed)
    system = (BALL, PENDULUM)[seed % 2]
    if system is BALL:
        x, speed = rng.uniform(-3.0, 3.0), rng.uniform(-0.8, 0.8)
        q, v = np.array([x, np.sin(x)]), speed * np.array([1.0, np.cos(x)])
    else:
        q, v = np.array([rng.uniform(-1.2, -0.05), 0.0]), np.array([rng.uniform(-0.8, 0.8), 0.0])
    direction = bouncing(system.problem(q, v), 0).direction
    speed = 10.0 ** rng.uniform(-4.0, -1.0)
    kind = seed // 2 % 3
    if kind == 2:
        q = q + direction * speed**2 * rng.uniform(0.0, 1.0)
    return system, q, v + direction * speed * (-1.0, 0.5, rng.uniform(-1.0, 0.5))[kind]


@settings(max_examples=40)
@given(seeds)
def test_theorem_3_executions_end_in_the_bounds(seed):
    system, q, v = chattering(seed)
    for asked in (system, Unwritten(system)):
        cut = reliable_truncation(asked, q, v, **LOOSE)
        assert cut.guaranteed is (asked is system)
        if not cut.reliable:
            assert cut.why
            continue
        time, end_q, end_v, _ = zeno_point(system, q, v)
        room = 1e-8  # of the reference
        assert cut.zeno_time[0] - room <= time <= cut.zeno_time[1] + room
        assert (cut.q_bounds[0] - room <= end_q).all() and (end_q <= cut.q_bounds[1] + room).all()
        assert (cut.v_bounds[0] - room <= end_v).all() and (end_v <= cut.v_bounds[1] + room).all()
        assert np.linalg.norm(end_q - cut.q) <= cut.q_error + room
        assert np.linalg.norm(end_v - cut.v) <= cut.v_error + room


@settings(max_examples=25)
@given(seeds, st.floats(0.05, 0.95))
def test_what_misses_a_tolerance_is_never_reliable(seed, part):
    system, q, v = chattering(seed)
    if not reliable_truncation(system, q, v, **LOOSE).reliable:
        return
    cut = reliable_truncation(system, q, v, **LOOSE)
    time, end_q, end_v, _ = zeno_point(system, q, v)
    missed = {
        "epsilon_q": part * np.linalg.norm(end_q - cut.q),
        "epsilon_v": part * np.linalg.norm(end_v - cut.v),
        "epsilon_t": part * time,
    }
    for name, value in missed.items():
        if value > 1e-9:
            strict = reliable_truncation(system, q, v, **{**LOOSE, name: value})
            assert not strict.reliable
            assert name in strict.why


@settings(max_examples=40)
@given(seeds)
def test_truncated_state_is_a_zeno_equilibrium(seed):
    system, q, v = chattering(seed)
    for projection in ("plastic", "orthogonal"):
        cut = reliable_truncation(system, q, v, projection=projection, **LOOSE)
        problem = system.problem(cut.q, cut.v)
        np.testing.assert_allclose(problem.gap, 0.0, atol=1e-14)
        np.testing.assert_allclose(problem.normal_jacobian @ cut.v, 0.0, atol=1e-14)


@given(st.floats(0.0, 0.9), st.floats(0.0, 1.0), st.floats(-2.0, 2.0), st.floats(1.0, 20.0))
@settings(max_examples=25)
def test_ball_on_a_line_has_no_uncertainty(e, height, speed, gravity):
    cut = reliable_truncation(line(e, gravity), [height], [speed], epsilon_q=10.0, epsilon_v=100.0, epsilon_t=100.0)
    assert cut.reliable and cut.guaranteed
    np.testing.assert_allclose(cut.zeno_time, zeno_time(height, speed, e, gravity), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose([cut.q, cut.v], 0.0, atol=1e-14)


def test_plastic_projection_is_right_to_second_order_where_the_papers_is_to_first():
    q, tangential = np.array([-0.7, 0.0]), np.array([0.3, 0.0])
    direction = bouncing(PENDULUM.problem(q, tangential), 0).direction
    errors = {"plastic": [], "orthogonal": []}
    for speed in (1e-2, 1e-3):
        v = tangential - direction * speed
        time, _, end_v, _ = zeno_point(PENDULUM, q, v)
        for projection, found in errors.items():
            cut = reliable_truncation(PENDULUM, q, v, projection=projection, **LOOSE)
            here = bouncing(PENDULUM.problem(cut.q, cut.v), 0)
            slid = cut.v + (here.free - here.direction * here.acceleration) * time  # the constrained motion until then
            found.append(np.linalg.norm(slid - end_v))
    assert errors["plastic"][1] < errors["plastic"][0] / 50
    assert errors["orthogonal"][1] > errors["orthogonal"][0] / 20
    assert errors["orthogonal"][1] > 100 * errors["plastic"][1]


@pytest.mark.parametrize("epsilon", [0.1, 0.01, 1e-3, 1e-5])
@pytest.mark.parametrize(
    ("system", "q", "v"),
    [(BALL, [-1.0, np.sin(-1.0)], [0.5, 0.5 * np.cos(1.0)]), (PENDULUM, [-0.7, 0.0], [0.3, 0.0])],
    ids=["ball", "pendulum"],
)
def test_definition_6_is_accepted_too(system, q, v, epsilon):
    """At the speed up to which O's own conditions allow it, and at 2.5 times that speed."""
    problem = system.problem(q, v)
    direction, e = bouncing(problem, 0).direction, system.restitution[0]
    find = range_finder(system, problem, 0)
    allowed = truncation_speed(find, np.array(q), np.array(v), problem.normal_jacobian[0], e, epsilon, epsilon, epsilon)
    tolerances = {"epsilon_q": epsilon, "epsilon_v": epsilon, "epsilon_t": epsilon}
    for factor in (1.0, 2.5):
        assert reliable_truncation(system, q, np.array(v) - direction * factor * allowed, **tolerances).reliable


def test_what_cannot_be_shown_says_why():
    hill = [np.pi / 2, 1.0], [2.0, -0.01]
    for (q, v), system, why in (
        (hill, BALL, "does not return"),
        (([0.0, 0.0], [1.0, 0.9]), ball_on_sinusoid(restitution=1.0), "do not die out"),
        (([0.0, -0.1], [1.0, 0.9]), BALL, "penetrates"),
        (([-0.05, 0.0], [0.0, -0.5]), PENDULUM, "where the chatter may go"),
    ):
        cut = reliable_truncation(system, q, v, **LOOSE)
        assert not cut.reliable
        assert why in cut.why
        assert np.isnan(cut.zeno_time).all() and np.isnan(cut.q_error)


def test_arguments_that_make_no_sense_are_refused():
    q, v = [0.0, 0.0], [1.0, 0.9]
    for changes, message in (
        ({"epsilon_t": 0.0}, "epsilon_t must be > 0"),
        ({"contact": 1}, "numbered 0..0"),
        ({"held": [3]}, "held holds 3"),
        ({"projection": "none"}, "projection must be"),
    ):
        with pytest.raises(ValueError, match=message):
            reliable_truncation(BALL, q, v, **{**LOOSE, **changes})
    with pytest.raises(ValueError, match="one size"):
        reliable_truncation(BALL, [0.0, 0.0], [1.0], **LOOSE)
    assert "is held" in reliable_truncation(BALL, q, v, held=[0], **LOOSE).why


def test_applied_forces_are_sampled():
    y = sympy.Symbol("y")
    ground = Constraint("ground", y, restitution=0.5)
    system = LagrangianSystem("pushed", (y,), sympy.eye(1), 0 * y, [ground], force=lambda t, q, v, mode: [-2.0])
    cut = reliable_truncation(system, [0.0], [-0.1], **LOOSE)
    assert cut.reliable and not cut.guaranteed
    np.testing.assert_allclose(cut.zeno_time, zeno_time(0.0, -0.1, 0.5, 2.0), rtol=1e-6)


def rod(friction, ceiling=1.0):
    """Both ends of a rod over the ground, and a ceiling over its second end; only the first has friction."""
    x, y, angle = sympy.symbols("x y angle")
    ends = [sympy.Matrix([x + s * sympy.cos(angle) / 2, y + s * sympy.sin(angle) / 2]) for s in (-1, 1)]
    row = sympy.Matrix([ends[0][0]]).jacobian(sympy.Matrix([x, y, angle]))
    constraints = [
        Constraint("first", ends[0][1], (row,), friction),
        Constraint("second", ends[1][1], restitution=0.5),
        Constraint("ceiling", ceiling - ends[1][1]),
    ]
    inertia = sympy.diag(1, 1, sympy.Rational(1, 12))
    return LagrangianSystem("rod", (x, y, angle), inertia, sympy.Float(9.81) * y, constraints)


def pivoting(angle, rate, sticking):
    """(q, v) of the rod with its first end on the ground, at rest there if it sticks, else the centre is."""
    q = [np.cos(angle) / 2, np.sin(angle) / 2, angle]
    along = -np.sin(angle) * rate / 2
    return q, [along if sticking else 0.0, np.cos(angle) * rate / 2, rate]


@pytest.mark.parametrize("friction", [0.0, 2.0])
def test_rod_with_its_other_end_held_is_a_pendulum(friction):
    """About a sticking end, or with a centre that only moves up and down: one coordinate, gap sin θ."""
    angle = sympy.Symbol("angle")
    bar = sympy.Rational(1, 12) + (sympy.Rational(1, 4) if friction else sympy.cos(angle) ** 2 / 4)
    pendulum = LagrangianSystem(
        "pivot",
        (angle,),
        sympy.Matrix([[bar]]),
        sympy.Float(9.81) * sympy.sin(angle) / 2,
        [Constraint("end", sympy.sin(angle), restitution=0.5)],
    )
    system = rod(friction)
    for state in ((0.0, -0.05), (0.01, 0.05), (0.0, 0.1)):
        time, end, _, _ = zeno_point(pendulum, *(np.array([value]) for value in state))
        for asked in (system, Unwritten(system)):
            cut = reliable_truncation(asked, *pivoting(*state, friction > 0.0), 1, held=[0], **LOOSE)
            assert cut.reliable, cut.why
            assert cut.zeno_time[0] - 1e-8 <= time <= cut.zeno_time[1] + 1e-8
            assert cut.q_bounds[0, 2] - 1e-8 <= end[0] <= cut.q_bounds[1, 2] + 1e-8


def test_held_and_open_contacts_are_watched():
    low = 0.01005  # the end rises by some 1e-4
    for q, v, friction, ceiling, held, why in (
        (*pivoting(0.0, -0.05, False), 0.0, 1.0, [], "another contact may close"),  # the first end
        (*pivoting(0.01, 0.05, True), 2.0, low, [0], "another contact may close"),
        (*pivoting(0.01, 0.05, True), 2.0, 1.0, [0], ""),
        (*pivoting(0.01, 0.05, False), 2.0, 1.0, [0], "slides with friction"),
        (*pivoting(0.01, 0.05, True), 0.005, 1.0, [0], "a held contact may open"),
    ):
        cut = reliable_truncation(rod(friction, ceiling), q, v, 1, held=held, **LOOSE)
        assert why in cut.why
        assert cut.reliable is (not why)
    # a tall box that lands on one corner lifts the other
    corners = [Corner(name, x, -0.5, (0, 1)) for name, x in (("A", -0.1), ("B", 0.1))]
    tall = PlanarBox(0.2, 1.0, 2.0, 0.0, corners, restitution=0.5)
    cut = reliable_truncation(tall, [0.1, 0.5, 0.0], [0.0, -1e-4, -1e-3], 1, held=[0], **LOOSE)
    assert "a held contact may open" in cut.why


@settings(max_examples=30)
@given(seeds)
def test_impacts_anywhere_in_the_friction_cone_end_in_the_bounds(seed):
    """Ball on a slope, whose impacts obey φ̇⁺ = −e φ̇⁻ with any friction that they like."""
    rng = np.random.default_rng(seed)
    mu, e, slope = rng.uniform(0.0, 1.0), rng.uniform(0.1, 0.8), 0.3
    x, y = sympy.symbols("x y")
    surface = Constraint("slope", y - slope * x, (sympy.Matrix([[1, slope]]),), mu, e)
    system = LagrangianSystem("slope", (x, y), sympy.eye(2), y, [surface])
    q, v = np.array([0.0, 0.0]), np.array([rng.uniform(-1, 1), -rng.uniform(0.01, 0.5)])
    normal, tangent, gravity = np.array([-slope, 1.0]), np.array([1.0, slope]), np.array([0.0, -1.0])
    if normal @ v > -0.01:
        v = v - normal * (normal @ v + 0.01) / (normal @ normal)
    cut = reliable_truncation(system, q, v, epsilon_q=100.0, epsilon_v=100.0, epsilon_t=100.0)
    assert cut.reliable and cut.guaranteed
    time = 0.0
    for _ in range(200):
        rate = normal @ v
        v = v - (1 + e) * rate / (normal @ normal) * (normal + rng.uniform(-mu, mu) * tangent)
        flight = 2 * (normal @ v) / -(normal @ gravity)
        time, q, v = time + flight, q + v * flight + gravity * flight**2 / 2, v + gravity * flight
    assert cut.zeno_time[0] - 1e-9 <= time <= cut.zeno_time[1] + 1e-9
    for value, (low, high) in ((q, cut.q_bounds), (v, cut.v_bounds)):
        assert (low - 1e-9 <= value).all() and (value <= high + 1e-9).all()


def test_inertia_that_vanishes_is_reported():
    class Massless:
        def problem(self, q, v):
            return ContactProblem([[0.0]], v, [[1.0]], [[[0.0]]], [0.0], [0.5], bias_force=[1.0])

    assert "cannot be solved" in reliable_truncation(Massless(), [0.0], [-1.0], **LOOSE).why
