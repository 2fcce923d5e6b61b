"""A point mass on one massless leg."""

import numpy as np
import sympy

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

LENGTH, MASS, GRAVITY = 0.5, 3.0, 9.81


def one_leg(friction, torque=None, air=None):
    """A point mass (x, z) on a massless leg at ``angle`` from the vertical, the toe ahead where it is positive."""
    x, z, angle = q = sympy.symbols("x z angle")
    toe_x, toe_z = x + LENGTH * sympy.sin(angle), z - LENGTH * sympy.cos(angle)
    tangent = sympy.Matrix([toe_x]).jacobian(sympy.Matrix(q))
    toe = Constraint("toe", toe_z, (tangent,), friction)

    def force(t, q, v, mode):
        return [0.0, 0.0, torque(t, q, v) if torque else 0.0]

    leg = LagrangianSystem("leg", q, sympy.diag(MASS, MASS, 0), MASS * GRAVITY * z, [toe], force)
    leg.limb_acceleration = lambda q, v, time, mode: np.array([0.0, 0.0, air(q, v) if air else 0.0])
    return leg
