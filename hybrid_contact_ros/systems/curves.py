"""A point that touches one of four curves without normal speed (Johnson, Fig. 2): does it stay on the curve?"""

from __future__ import annotations

import sympy

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

STAYS = {"a": False, "b": True, "c": False, "d": True}
"""Whether the curve holds a point that moves to the right at its origin: where the gap is trending negative."""


def curve(case: str) -> LagrangianSystem:
    """A free point of 1 kg, q = (x, y), with the gap (a) x² + 4y, (b) −x² + 4y, (c) x³ + 8y or (d) −x³ + 8y.

    At (0, 0) with v = (1, 0) gap and gap velocity vanish. In (c) and (d) the gap acceleration and the contact force
    vanish as well, and the next derivative decides.

    Raises:
        ValueError: another case.
    """
    x, y = sympy.symbols("x y")
    gaps = {"a": x**2 + 4 * y, "b": -(x**2) + 4 * y, "c": x**3 + 8 * y, "d": -(x**3) + 8 * y}
    if case not in gaps:
        raise ValueError(f"case is {case!r}; Johnson's Fig. 2 has {', '.join(gaps)}")
    return LagrangianSystem(f"curve {case}", [x, y], sympy.eye(2), sympy.Integer(0), [Constraint("curve", gaps[case])])
