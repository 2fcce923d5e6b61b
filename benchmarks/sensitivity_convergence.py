"""How differences of simulate approach derivatives of executions, selections and words: tables of ``sensitivity``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import sympy
from numpy.typing import NDArray

from benchmarks.sensitivity_clusters import CROUCH, go2
from hybrid_contact_ros import Constraint, LagrangianSystem, bouligand_derivative, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.words import touchdown_words
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid, state_before_first_impact
from hybrid_contact_ros.systems.box_and_wall import box_and_wall
from hybrid_contact_ros.systems.compass_gait import compass_gait
from hybrid_contact_ros.systems.painleve_rod import painleve_rod
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop, published_state
from hybrid_contact_ros.systems.ramone import ramone
from hybrid_contact_ros.systems.robot import RobotSystem
from hybrid_contact_ros.systems.trotters import soft_trotter, soft_trotter_apex

Array = NDArray[np.float64]
EXACT = {"rtol": 1e-11, "atol": 1e-13, "max_step": 0.1}
STEPS = (1e-3, 5e-4, 2.5e-4)
SMALL = (2e-5, 1e-5, 5e-6)  # along one direction of a Go2: feet that slide leave little room
ROD = ([0.36, 1.03, 1.2], [0.2, 0.1, 0.3])


def _point() -> LagrangianSystem:
    """On rough ground in the plane."""
    x, y = sympy.symbols("x y")
    ground = Constraint("g", y, (sympy.Matrix([[1, 0]]),), 0.5)
    return LagrangianSystem("point", [x, y], sympy.eye(2), 9.81 * y, [ground])


def _slope() -> LagrangianSystem:
    """A point in space on rough ground that slopes."""
    x, y, z = sympy.symbols("x y z")
    ground = Constraint("g", z, (sympy.Matrix([[1, 0, 0]]), sympy.Matrix([[0, 1, 0]])), 0.5)
    return LagrangianSystem("point in space", [x, y, z], sympy.eye(3), 9.81 * z + 2 * x, [ground])


SYSTEMS: dict[str, tuple[Any, Any, Any, float]] = {
    "ball on sinusoid, e = 0.5": (ball_on_sinusoid(), *state_before_first_impact(0.5), 0.6),
    "ball on sinusoid, plastic": (ball_on_sinusoid(restitution=0.0), *state_before_first_impact(0.5), 0.6),
    "pendulum with stop": (pendulum_with_stop(), *published_state(), 2.0),
    "Painlevé's rod, μ = 1": (painleve_rod(1.0), *ROD, 0.3),
    "Painlevé's rod, μ = 0.1": (painleve_rod(0.1), *ROD, 0.3),
    "box and wall": (box_and_wall(), [-1.0, 0.75, 1.3], [1.0, 0.0, 0.0], 0.35),
    "compass gait": (compass_gait(), [0.0, 1.05, 0.3, -0.35], [0.2, 0.0, 0.4, -0.2], 0.3),
    "RAMone": (ramone(), [0, 0.62, 0.1, -0.3, 0.4, 0.5, 0.3], [0.2, 0, 0.1, 0.1, 0.2, 0, 0], 0.3),
    "point that stops": (_point(), [0.0, 0.1], [1.0, 0.0], 0.6),
    "point in space that stops": (_slope(), [0.0, 0.0, 0.05], [0.3, 0.5, 0.0], 0.7),
}


def outcomes(system: Any, q: Any, v: Any, end: float) -> tuple[list[float], float, int, int]:
    """Largest errors of central differences for the steps, the size of ∂x(t)/∂x(0), and its rank of so many."""
    q_, v_ = np.array(q, dtype=float), np.array(v, dtype=float)
    n = len(v_)
    exact = variational_flow(simulate(system, q_, v_, end, **EXACT)).matrix

    def outcome(change: Array) -> Array:
        there = simulate(system, q_ + change[:n], v_ + change[n:], end, **EXACT)
        return np.concatenate((there.q[-1], there.v[-1]))

    errors = []
    for step in STEPS:
        units = step * np.eye(2 * n)
        found = np.array([(outcome(unit) - outcome(-unit)) / (2.0 * step) for unit in units]).T
        errors.append(float(np.abs(found - exact).max()))
    size = float(np.abs(exact).max())
    return errors, size, int(np.linalg.matrix_rank(exact, tol=1e-7 * size)), 2 * n


def hold(time: float, q: Array, v: Array, mode: frozenset[int]) -> Array:
    """The joint controller of a Go2 that keeps its crouch."""
    return np.asarray(40.0 * (CROUCH - q[7:]) - 2.0 * v[6:])


def quadruped(end: float = 0.07) -> tuple[list[float], float]:
    """A Go2, tilted and dropped by 1 cm: errors along a direction for the steps SMALL, and the derivative's size."""
    model = go2()
    system = RobotSystem(model, hold)
    q = model.neutral()
    q[3:7] = pin.Quaternion(pin.exp3(np.array([0.06, -0.1, 0.2]))).coeffs()
    q[7:] = CROUCH
    q[2] += 0.01 - system.gap(q).min()
    v = 0.1 * np.random.default_rng(1).normal(size=18)
    run = simulate(system, q, v, end)
    direction = np.random.default_rng(0).normal(size=36)
    exact = variational_flow(run).matrix @ direction
    errors = []
    for step in SMALL:
        ends = []
        for moved in (step * direction, -step * direction):
            there = simulate(system, system.integrate(q, moved[:18]), v + moved[18:], end)
            apart = pin.difference(model.pinocchio_model, run.q[-1], there.q[-1])
            ends.append(np.concatenate((apart, there.v[-1])))
        errors.append(float(np.abs((ends[0] - ends[1]) / (2.0 * step) - exact).max()))
    return errors, float(np.abs(exact).max())


def selections(after: float = 0.04) -> dict[str, tuple[list[float], list[float]]]:
    """The soft trotter's two orders: errors of one-sided differences for steps of 10⁻³ … 10⁻⁵, from both selections."""
    system, n = soft_trotter(), 4
    landing = simulate(system, *soft_trotter_apex(), 0.2, **EXACT).events[0]
    corner = bouligand_derivative(system, landing.q, landing.velocity_before)
    side = corner.corners[0].after
    run = simulate(system, landing.q, side.velocity, after, mode=sorted(side.mode), **EXACT)
    flow, end = corner.then(variational_flow(run).matrix), np.concatenate((run.q[-1], run.v[-1]))
    rng, found = np.random.default_rng(0), {}
    for name, heights in (("left first", (0.3, 0.9)), ("right first", (0.9, 0.3))):
        direction = 0.3 * rng.normal(size=1 + 2 * n)
        direction[3:5] = heights  # δ of the feet's heights: both are still in the air
        own = flow.apply(direction)
        other = [s.matrix @ direction for s in flow.selections() if not s.holds(direction)]
        misses: tuple[list[float], list[float]] = ([], [])
        for step in (1e-3, 1e-4, 1e-5):
            x = step * direction
            there = simulate(
                system, landing.q + x[1 : 1 + n], landing.velocity_before + x[1 + n :], after + x[0],
                gap_tolerance=1e-13, **EXACT,
            )  # fmt: skip
            change = (np.concatenate((there.q[-1], there.v[-1])) - end) / step
            misses[0].append(float(np.abs(change - own).max()))
            misses[1].append(min(float(np.abs(change - each).max()) for each in other))
        found[name] = misses
    return found


def words() -> tuple[list[float], float]:
    """Two feet of a limp Go2: what their word misses of v⁺ for deviations of 10⁻³ … 10⁻⁵, and δv⁺ for a unit."""
    model = go2()
    system = RobotSystem(model)
    q, v = model.neutral(), 0.1 * np.random.default_rng(2).normal(size=18)
    q[7:] = np.concatenate([(0.05, 0.9, -1.8), (0.0, 1.1, -2.2), (0.0, 1.1, -2.2), (0.05, 0.9, -1.8)])
    q[2] -= system.gap(q)[[0, 3]].mean()
    v[2] = -1.0
    found = touchdown_words(system, q, v, [0, 3])
    problem = system.problem(found.q, found.v)
    falling = np.linalg.solve(problem.mass, -problem.bias_force)
    x = np.random.default_rng(4).normal(size=36)
    errors, sizes = [], []
    for size in (1e-3, 1e-4, 1e-5):
        before, d = 6.0 * size, size * x  # s: so long before the corner's instant
        speed = found.v + d[18:]
        start = system.integrate(found.q, d[:18] - before * speed + 0.5 * before**2 * falling)
        run = simulate(
            system, start, speed - before * falling, 2.0 * before, law="simultaneous", gap_tolerance=1e-13
        )  # fmt: skip
        predicted = found.after(d)[1] + before * found.word_of(d).acceleration
        errors.append(float(np.abs(run.v[-1] - predicted).max()))
        sizes.append(float(np.abs(predicted - found.word_of(d).velocity).max()) / size)
    return errors, sizes[-1]


def listed(errors: list[float]) -> str:
    """Errors as text."""
    return ", ".join(f"{error:.1e}" for error in errors)


def report() -> None:
    """Print all tables."""
    print(f"∂x(t)/∂x(0): errors of central differences of simulate for steps of {', '.join(map(str, STEPS))}")
    for name, case in SYSTEMS.items():
        errors, size, rank, full = outcomes(*case)
        print(f"  {name:28s} {listed(errors)}   size {size:.1f}, rank {rank} of {full}", flush=True)
    errors, size = quadruped()
    print(f"  {'Go2 dropped, one direction':28s} {listed(errors)}   size {size:.1f}, steps {listed(list(SMALL))}")
    print("Bouligand derivative of the soft trotter: errors of differences for steps of 1e-3, 1e-4, 1e-5")
    for name, (own, other) in selections().items():
        print(f"  {name:28s} {listed(own)}   from the other selection {listed(other)}")
    errors, size = words()
    print(f"v⁺ of two feet of a Go2 by their word, deviations of 1e-3, 1e-4, 1e-5: missed by {listed(errors)} m/s")
    print(f"  (it changes by {size:.1f} for each unit of the deviation)")
