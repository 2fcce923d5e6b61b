"""Executions of a system with one constraint, slowly and to many digits: the reference for O's theorems and figures."""

from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

from hybrid_contact_ros.stability.ranges import bouncing

_LAST_IMPACT = 1e-6  # a slower impact's flight is too low for double precision; what is left is of second order


@dataclass
class Hybrid:
    """A hybrid execution: times, states before the impacts, and its end: an impact, or the horizon."""

    times: list = field(default_factory=list)
    speeds: list = field(default_factory=list)
    t: float = 0.0
    q: np.ndarray = None
    v: np.ndarray = None


def free_flow(system):
    n = system.nv

    def flow(_, x):
        problem = system.problem(x[:n], x[n:])
        return np.concatenate([x[n:], np.linalg.solve(problem.mass, -problem.bias_force)])

    return flow


def constrained_flow(system):
    n = system.nv

    def flow(_, x):
        problem = system.problem(x[:n], x[n:])
        point = bouncing(problem, 0)
        return np.concatenate([x[n:], point.free - point.direction * point.acceleration])  # O 20, 21

    return flow


def onto_surface(system, q, v):
    """φ = 0 exactly: the event was located to some 1e-15."""
    for _ in range(3):
        problem = system.problem(q, v)
        q = q - bouncing(problem, 0).direction * problem.gap[0]
    return q


def bounce(system, q, v):
    """O 4."""
    problem = system.problem(q, v)
    rate = problem.normal_jacobian[0] @ v
    return v - bouncing(problem, 0).direction * (1.0 + problem.restitution[0]) * rate, -rate


def next_impact(system, t, q, v, horizon):
    """(t, q, v) before the next impact, or None; a state on the surface must be leaving it."""
    n, tolerance = system.nv, {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}
    problem = system.problem(q, v)
    rate, acceleration = problem.normal_jacobian[0] @ v, bouncing(problem, 0).acceleration
    x, start = np.concatenate([q, v]), t
    if problem.gap[0] <= 1e-9:  # leave the surface first, lest the event is seen here
        rise = 0.02 if acceleration >= 0.0 else min(0.02, -rate / acceleration)
        x, start = solve_ivp(free_flow(system), (t, t + rise), x, **tolerance).y[:, -1], t + rise

    def gap(_, y):
        return system.gap(y[:n])[0]

    gap.terminal, gap.direction = True, -1
    if start >= horizon:
        return None
    found = solve_ivp(free_flow(system), (start, horizon), x, events=gap, max_step=0.1, **tolerance)
    if not found.t_events[0].size:
        return None
    end = found.y_events[0][0]
    return found.t_events[0][0], onto_surface(system, end[:n], end[n:]), end[n:]


def hybrid_execution(system, q, v, t=0.0, horizon=30.0, stop=lambda q, v: False):
    """Until ``stop`` at an impact (the state is the one before it), an impact slower than 1e-6, or the horizon."""
    run = Hybrid(t=t, q=np.array(q), v=np.array(v))
    while (found := next_impact(system, run.t, run.q, run.v, horizon)) is not None:
        run.t, run.q, run.v = found
        after, speed = bounce(system, run.q, run.v)
        run.times.append(run.t)
        run.speeds.append(speed)
        if speed < _LAST_IMPACT or stop(run.q, run.v):
            return run
        run.v = after
    run.t = horizon
    return run


def zeno_point(system, q, v, t=0.0):
    """(τ∞, q∞, v∞) of the execution from (q, v), at an impact or in flight, to some 1e-10; and its impacts."""
    problem = system.problem(q, v)
    if problem.gap[0] <= 1e-12 and problem.normal_jacobian[0] @ v < 0.0:
        v = bounce(system, q, v)[0]
    run = hybrid_execution(system, q, v, t)
    assert run.speeds and run.speeds[-1] < _LAST_IMPACT
    point = bouncing(system.problem(run.q, run.v), 0)
    e = system.restitution[0]
    left = 2.0 * e * run.speeds[-1] / (-point.acceleration * (1.0 - e))
    slide = point.free - point.direction * point.acceleration
    v = run.v + point.direction * run.speeds[-1] + slide * left
    return run.t + left, run.q + v * left, v, run


def constrained_execution(system, q, v, t, horizon):
    """(t, q, v, lifted): until λ = 0 (O 22 iv) or the horizon."""
    n = system.nv

    def force(_, x):
        return -bouncing(system.problem(x[:n], x[n:]), 0).acceleration  # of λ's sign

    force.terminal, force.direction = True, -1
    x = np.concatenate([q, v])
    found = solve_ivp(
        constrained_flow(system), (t, horizon), x, events=force, max_step=0.1, rtol=1e-10, atol=1e-12, method="DOP853"
    )
    lifted = bool(found.t_events[0].size)
    end, x = (found.t_events[0][0], found.y_events[0][0]) if lifted else (horizon, found.y[:, -1])
    return end, onto_surface(system, x[:n], x[n:]), x[n:], lifted


def completed_execution(system, q, v, horizon, truncate):
    """O §V.B, steps 1–7: (kind, start, end, q, v at its end) of each phase; ``truncate(q, v)`` is a Truncation."""
    phases, t = [], 0.0
    while t < horizon:
        start, kept = t, []

        def stop(q, v, kept=kept):
            kept[:] = [truncate(q, v)]
            return kept[0].reliable

        run = hybrid_execution(system, q, v, t, horizon, stop)
        t, q, v = run.t, run.q, run.v
        phases.append(("hybrid", start, t, q, v))
        if t >= horizon:
            break
        assert kept[0].reliable, kept[0].why
        q, v, start = kept[0].q, kept[0].v, t
        t, q, v, _ = constrained_execution(system, q, v, t, horizon)
        phases.append(("constrained", start, t, q, v))
    return phases
