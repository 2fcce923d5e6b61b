"""A ball bounces: what does a Kalman filter of it have to do with its covariance at a bounce?

It multiplies it by the saltation matrix Ξ = [[−e, 0], [−(1 + e) g/v, −e]] of (height, velocity v < 0), for a ball
that is higher bounces later: Kong, Payne, Council and Johnson (2021). The derivative of the reset, diag(1, −e),
forgets that; and a filter may ignore the jump. The state after some bounces is a closed form x(t) of x(0), so that P
has to be ∂x/∂x(0) P(0) ∂x/∂x(0)ᵀ; and where heights are measured, the mean NEES over its two degrees of freedom has
to be 1.
"""

import numpy as np
import sympy

from hybrid_contact_ros import Constraint, LagrangianSystem, saltation_matrix, salted_update
from hybrid_contact_ros.sensitivity.consistency import consistency
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse

G, E, STEP, END, NOISE, RUNS = 9.81, 0.8, 0.05, 2.5, 0.005, 100  # m/s², 1, s, s, m of a measured height, balls
START, SPREAD = np.array([1.0, 0.0]), np.diag([0.02, 0.05]) ** 2  # 1 m ± 2 cm, ± 5 cm/s
y = sympy.Symbol("y")
BALL = LagrangianSystem("ball", [y], sympy.Matrix([[1.0]]), G * y, [Constraint("floor", y, restitution=E)])
BOUNCE = ImpactCourse(frozenset({0}), bounced=frozenset({0}))


def fly(x, time):
    """Free flight, and its derivative."""
    return np.array([x[0] + x[1] * time - G * time**2 / 2, x[1] - G * time]), np.array([[1.0, time], [0.0, 1.0]])


def carry(x, P, time, jump):
    """State and covariance after some time, through the bounces on the way."""
    while (touch := (x[1] + np.sqrt(x[1] ** 2 + 2 * G * max(x[0], 0.0))) / G) <= time:
        x, flow = fly(x, touch)
        P = jump(x[1], flow @ P @ flow.T)
        x, time = np.array([0.0, -E * x[1]]), time - touch
    x, flow = fly(x, time)
    return x, flow @ P @ flow.T


def salted(v, P):
    """P after a bounce from the velocity v."""
    event = saltation_matrix(BALL, [0.0], [v], "touchdown", 0, course=BOUNCE)
    return salted_update(([0.0], [v]), P, event).covariance


def score(jump):
    """Mean NEES over its degrees of freedom, of filters that measure the height 50 times."""
    rng, found = np.random.default_rng(3), []
    for _ in range(RUNS):
        mean, P, x = START, SPREAD, START + np.sqrt(SPREAD) @ rng.normal(size=2)
        for _ in range(round(END / STEP)):
            (x, _), (mean, P) = carry(x, SPREAD, STEP, ignoring), carry(mean, P, STEP, jump)
            if min(mean[0], x[0]) > 0.1:  # below, they may be on different sides of a bounce
                gain = P[:, 0] / (P[0, 0] + NOISE**2)
                mean, P = mean + gain * (x[0] + NOISE * rng.normal() - mean[0]), P - np.outer(gain, P[0])
        found.append(consistency(x - mean, P, smallest=1e-9).ratio)
    return float(np.mean(found))


ignoring, reset_only = (lambda v, P: P), (lambda v, P: np.diag([1, -E]) @ P @ np.diag([1, -E]))
predicted = carry(START, SPREAD, END, salted)[1]
ends = [[carry(START + d, SPREAD, END, ignoring)[0] for d in (s, -s)] for s in 1e-6 * np.eye(2)]
slope = np.column_stack([(a - b) / 2e-6 for a, b in ends])
exact, scores = slope @ SPREAD @ slope.T, [score(jump) for jump in (salted, reset_only, ignoring)]

if __name__ == "__main__":
    print(f"deviations after five bounces {np.sqrt(np.diag(predicted))}, exactly {np.sqrt(np.diag(exact))} m, m/s")
    print("mean NEES / dof: salted {:.2f}, with the reset alone {:.1f}, ignoring the jump {:.0f}".format(*scores))
