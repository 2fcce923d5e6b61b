"""Feet that touch down at one instant, with orthogonal constraints (Pace, Assumption 4) and coupled forces."""

import math

import numpy as np
import sympy

from hybrid_contact_ros import Constraint, LagrangianSystem

G = 9.81
EXACT = {"rtol": 1e-11, "atol": 1e-13}
"""Tolerances of ``simulate`` for differences of its outcomes."""
WEIGHTS = (0.8, 1.3, 1.0, 1.1)
STIFFNESS = (300.0, 200.0, 250.0, 350.0)


def feet(count=2, coupling=40.0, own=0.0, more=None, kind=LagrangianSystem):
    """Feet over their own grounds, and last a body of 3 kg on a spring to each.

    A cubic damper sits between the body and the feet's mean height, ``own`` are the coefficients of one for each leg.
    """
    heights, body = sympy.symbols(f"z0:{count}"), sympy.Symbol("b")
    masses = [WEIGHTS[i % 4] for i in range(count)]
    potential = 3.0 * G * body + sum(m * G * z for m, z in zip(masses, heights, strict=True))
    potential += sum(STIFFNESS[i % 4] / 2 * (body - z - 0.4) ** 2 for i, z in enumerate(heights))

    def force(time, q, v, mode):
        legs = own * (v[-1] - v[:-1]) ** 3
        shared = coupling * (v[-1] - v[:-1].mean()) ** 3
        found = np.append(legs + shared / count, -shared - legs.sum())
        return found if more is None else found + more(v)

    contacts = [Constraint(f"foot {i}", z) for i, z in enumerate(heights)]
    return kind("feet", [*heights, body], sympy.diag(*masses, 3.0), potential, contacts, force)


def rolling():
    """Two feet with two coordinates each, an inertia that varies and curved grounds, coupled to a body as above."""
    x, z, a, c, b = sympy.symbols("x z a c b")
    inertia = sympy.diag(
        sympy.Matrix([[1.2 + 0.3 * sympy.sin(x), 0.2], [0.2, 1 + 0.2 * x**2]]),
        sympy.Matrix([[1.5, 0.3 * sympy.cos(a)], [0.3 * sympy.cos(a), 1.1]]),
        sympy.Matrix([[3.0]]),
    )
    potential = G * (z + c + 3 * b) + 150 * (b - z - 0.4) ** 2 + 100 * (b - c - 0.4) ** 2

    def force(time, q, v, mode):
        shared = 40.0 * (v[4] - (v[1] + v[3]) / 2.0) ** 3
        return [-0.2 * v[0], shared / 2.0, 0.0, shared / 2.0, -shared]

    grounds = [Constraint("left", z - 0.2 * sympy.sin(2 * x)), Constraint("right", c + 0.3 * a**2)]
    return LagrangianSystem("rolling", [x, z, a, c, b], inertia, potential, grounds, force)


def lifted(v):
    """The third foot is pulled from its ground as soon as the first one has landed."""
    return [0.0, 0.0, 60.0 * (1.0 + v[0]) ** 4, 0.0]


CASES = {
    "two feet": (feet(), [0, 0, 0.38], [-1.0, -1.3, -0.9], []),
    "three feet": (feet(3), [0, 0, 0, 0.38], [-1.0, -1.3, -0.7, -0.9], []),
    "one stands": (feet(3), [0, 0, 0, 0.38], [-1.0, -1.3, 0.0, -0.9], [2]),
    "one is released": (feet(3, more=lifted), [0, 0, 0, 0.38], [-1.0, -1.3, 0.0, -0.9], [2]),
    "curved": (
        rolling(),
        [0.3, 0.2 * math.sin(0.6), 0.4, -0.3 * 0.16, 0.34],
        [0.4, -1.0, -0.5, -1.3, -0.9],
        [],
    ),
}
