"""Pace and Burden's two trotters: a body that lands on two rigid legs (Fig. 1 left) or two soft ones (right, Fig. 3).

The paper states no mass, length or stiffness, so that all numbers are ours: a uniform body of 1 kg, 1 m long and 0.2 m
high, with hips 0.2 m from its centre; what was tuned is told at :class:`SoftTrotterParameters`. Forces at the feet are
normal to the ground, as the paper's constraints are perfect. ``docs/trotters.md`` has what comes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import cos, exp, sin

import numpy as np
import sympy
from numpy.typing import NDArray

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

Array = NDArray[np.float64]

BODY_LENGTH, BODY_HEIGHT, MASS, HIP, LEG = 1.0, 0.2, 1.0, 0.2, 0.5
INERTIA = MASS * (BODY_LENGTH**2 + BODY_HEIGHT**2) / 12.0


def rigid_trotter(
    hip: float = HIP, leg: float = LEG, mass: float = MASS, friction: float = 0.0, restitution: float = 0.0
) -> PlanarBox:
    """A body on two rigid legs without mass, perpendicular to it; q = (x, z, θ) of its centre, counter-clockwise.

    The contacts "left" and "right" are the feet, ``leg`` (m) below the body's axis and ``hip`` (m) to its sides. With
    θ > 0 the left one touches first. Where the hips are closer to the centre than the radius of gyration (0.294 m),
    whichever foot touches second pulls the first one up, and the body goes on turning (:func:`sequential_spin`).

    >>> from hybrid_contact_ros import simulate
    >>> for tilt in (1e-6, 0.0, -1e-6):
    ...     run = simulate(rigid_trotter(), [0.0, 0.7, tilt], [0.0, 0.0, 0.0], 0.21)
    ...     print(run.word, round(float(run.events[-1].velocity_after[2]), 3) + 0.0)
    ('{}', '{left}', '{right}') -1.152
    ('{}', '{left, right}') 0.0
    ('{}', '{right}', '{left}') 1.152
    """
    ground = (0.0, 1.0)
    feet = (Corner("left", -hip, -leg, ground), Corner("right", hip, -leg, ground))
    return PlanarBox(BODY_LENGTH, BODY_HEIGHT, mass, friction, feet, restitution)


def sequential_spin(speed: float, hip: float = HIP, mass: float = MASS) -> float:
    """ω⁺ (rad/s) of the rigid trotter that comes down level with ``speed`` (m/s), its right foot just before its left.

    With the left foot first it is the opposite, and with both at once zero. An impulse at a foot changes the speed of
    that foot by a = 1/m + hip²/I for each N s and that of the other one by b = 1/m − hip²/I. The first foot takes
    speed/a and the second speed (1 − b/a)/a, which leaves ω⁺ = hip · speed · b / (I a²) where b > 0. Where b ≤ 0 the
    second impact presses the first foot down, both stay, and ω⁺ = 0. Friction and restitution are left out.
    """
    inertia = mass * INERTIA / MASS
    a, b = 1.0 / mass + hip**2 / inertia, 1.0 / mass - hip**2 / inertia
    return hip * speed * max(b, 0.0) / (inertia * a**2)


@dataclass(frozen=True, slots=True)
class SoftTrotterParameters:
    """Of the soft trotter, in SI units.

    Chosen: body, hips, both couplings, ``gain``. Solved for, so that the trot from rest at z = 0.8 m has the times of
    Pace, Fig. 3: the others.

    Attributes:
        mass, inertia, hip: of the body. foot_mass: of each foot. leg: length of a leg without load.
        stiffness, leg_damping: of each leg, N/m and N s/m.
        coupling, cross_coupling: N s³/m³, of the cubic damper between the body and both feet.
        gain: (N s/m)/J, of the source of energy. source_height: m, the apex height that the source aims at.
        source_stroke: m, the mean compression of the legs at which the source acts most.
    """

    mass: float = MASS
    inertia: float = INERTIA
    hip: float = HIP
    foot_mass: float = 0.0165425734
    leg: float = 0.7487877426
    stiffness: float = 33.3739899
    leg_damping: float = 0.014095531
    coupling: float = 0.1
    cross_coupling: float = 20.0
    gain: float = 10.0
    source_height: float = 0.8162864754
    source_stroke: float = 0.1317524876
    gravity: float = 9.81


FOOT_AT_APEX = 0.0708577971
"""Height (m) of both feet at the apex of the trot."""


def soft_trotter(parameters: SoftTrotterParameters | None = None) -> LagrangianSystem:
    """A body on two springs with feet of small mass; q = (z, θ, left, right): of the body and of the feet.

    Each foot is a coordinate of its own, and M is diagonal: the constraints are orthogonal wherever they meet (Pace,
    Assumption 4). Legs stay upright, and horizontal motion is left out: without friction nothing drives it, and legs
    that could swing would slip away under load. Beside spring and damper of each leg, a force acts between the body and
    both feet, half by each leg,

        f = (gain · (m g · source_height − E) · s e^{−s} − coupling · d² − cross_coupling · δ²) d,

    with s = (r / source_stroke)², r the mean extension of the legs, d its rate, δ half the difference of the legs'
    rates, and E = m ż²/2 + m g z + stiffness · r² the energy of a body on closed legs. All but its first part is the
    paper's nonlinear damper. It is cubic, and couples: the force with two closed feet is not the sum of what each of
    them adds. On the level trot δ is zero, so that ``cross_coupling`` decides how much the orders of touchdown differ,
    and leaves the periodic orbit as it is. Feet of mass and dampers lose energy at every step, so that a
    passive trotter has no periodic orbit; the first part puts it back. It is a negative damping of the stance, which
    fades as the energy comes near that of ``source_height``. All forces are smooth functions of (q, v) alone, neither
    of time nor of the mode (Assumption 2).

    >>> from hybrid_contact_ros import simulate
    >>> run = simulate(soft_trotter(), *soft_trotter_apex(), 0.8)
    >>> [(event.kind.value, round(event.time, 3)) for event in run.events]
    [('touchdown', 0.1), ('liftoff', 0.7)]
    """
    p = parameters or SoftTrotterParameters()
    z, theta, left, right = q = sympy.symbols("z theta left right")
    rise = p.hip * sympy.sin(theta)
    springs = sum((length - p.leg) ** 2 for length in (z - rise - left, z + rise - right))
    weight = p.gravity * (p.mass * z + p.foot_mass * (left + right))
    inertia = sympy.diag(p.mass, p.inertia, p.foot_mass, p.foot_mass)
    feet = [Constraint("left", left), Constraint("right", right)]
    potential = weight + p.stiffness / 2 * springs
    return LagrangianSystem("soft trotter", q, inertia, potential, feet, partial(_effort, p))


def soft_trotter_apex(tilt: float = 0.0) -> tuple[Array, Array]:
    """(q, v) of the default soft trotter's periodic orbit at its apex, at rest.

    With a ``tilt`` (rad) body and feet are turned there, so that for a positive one the left foot touches first.
    """
    rise = HIP * sin(tilt)
    return np.array([0.8, tilt, FOOT_AT_APEX - rise, FOOT_AT_APEX + rise]), np.zeros(4)


def _effort(p: SoftTrotterParameters, _time: float, q: Array, v: Array, _mode: frozenset[int]) -> Array:
    """Generalised force (4,) of both dampers and of the source."""
    arm = p.hip * cos(q[1])
    rates = (v[0] - arm * v[1] - v[2], v[0] + arm * v[1] - v[3])
    rate, difference = 0.5 * (rates[0] + rates[1]), 0.5 * (rates[1] - rates[0])
    extension = q[0] - 0.5 * (q[2] + q[3]) - p.leg
    energy = p.mass * (0.5 * v[0] ** 2 + p.gravity * q[0]) + p.stiffness * extension**2
    stroke = (extension / p.source_stroke) ** 2
    source = p.gain * (p.mass * p.gravity * p.source_height - energy) * stroke * exp(-stroke)
    shared = 0.5 * (source - p.coupling * rate**2 - p.cross_coupling * difference**2) * rate
    left, right = (shared - p.leg_damping * own for own in rates)
    return np.array([left + right, arm * (right - left), -left, -right])
