"""Small systems for the tests of executions."""

import numpy as np
import sympy

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

GRAVITY = 9.81


def bouncing_ball(restitution=0.0, force=None):
    y = sympy.Symbol("y")
    ground = Constraint("ground", y, restitution=restitution)
    return LagrangianSystem("ball", [y], sympy.Matrix([[1.0]]), GRAVITY * y, [ground], force)


def sliding_point(friction=0.5, slope=0.0, force=None, mass=2.0):
    """A point on a plane; x along it and up, y away from it."""
    x, y = sympy.symbols("x y")
    weight = mass * GRAVITY * (y * np.cos(slope) + x * np.sin(slope))
    ground = Constraint("ground", y, (sympy.Matrix([[1, 0]]),), friction)
    return LagrangianSystem("point", [x, y], mass * sympy.eye(2), weight, [ground], force)


def point_in_space(friction=0.5, force=None):
    x, y, z = sympy.symbols("x y z")
    tangents = (sympy.Matrix([[1, 0, 0]]), sympy.Matrix([[0, 1, 0]]))
    ground = Constraint("ground", z, tangents, friction)
    return LagrangianSystem("point in space", [x, y, z], sympy.eye(3), GRAVITY * z, [ground], force)


def tumbling_box(friction=0.5, restitution=0.0):
    """A box of 1 kg, 1 m × 0.6 m, that may touch the ground with each of its corners."""
    ground = (0.0, 1.0)
    places = (("a", -0.5, -0.3), ("b", 0.5, -0.3), ("c", 0.5, 0.3), ("d", -0.5, 0.3))
    return PlanarBox(1.0, 0.6, 1.0, friction, [Corner(n, x, y, ground) for n, x, y in places], restitution)


def box_energy(execution, box):
    inertia = np.array([box.mass, box.mass, box.mass * (box.width**2 + box.height**2) / 12.0])
    return 0.5 * (execution.v**2 @ inertia) + box.mass * box.gravity * execution.q[:, 1]
