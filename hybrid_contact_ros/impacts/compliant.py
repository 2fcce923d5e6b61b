"""Impacts between stiff, deformable bodies, integrated in time (H §5.4.1, 88–90): what rigid impacts are to predict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import Radau
from scipy.optimize import brentq

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]

DAMPING_RATIO, STIFFNESS, SLIP_SPEED, SEPARATING = 5.0, 1e6, 1e-6, 1e-3
"""ζ; the least stiffness, N/m; ε of (90), m/s; δ_i = m/min k · this, m/s. H §5.4.1, but for ε, which is 1e-10 there."""


@dataclass(frozen=True, slots=True, eq=False)
class CompliantImpact:
    """A compliant impact.

    Attributes:
        t: (k,) s, of the integrator's steps. velocities (k, nv). gaps: φ (k, m), m, negative in contact.
        energy: (k,) J: kinetic, of the springs in contact, and of the bias force held constant; 0 at rest without load.
        impulse: (m, 1 + d), N s. status: SOLVED; STEP_LIMIT where something still approaches at the end of the time or
            of the steps.
    """

    t: Array
    velocities: Array
    gaps: Array
    energy: Array
    impulse: Array
    status: Status

    @property
    def velocity(self) -> Array:
        """The velocity in the end (nv,)."""
        return self.velocities[-1]  # type: ignore[no-any-return]


def compliant_impact(
    problem: ContactProblem,
    stiffness: ArrayLike = STIFFNESS,
    damping_ratio: float = DAMPING_RATIO,
    mass: ArrayLike | None = None,
    slip_speed: float = SLIP_SPEED,
    duration: float = 1.0,
    rtol: float = 1e-8,
    max_steps: int = 5000,
) -> CompliantImpact:
    """Integrate an impact with Kelvin–Voigt normal forces (88) and regularized Coulomb friction (89–90).

    It ends when no contact approaches faster than δ_i = 1e-3 m_i/min k.

    λ_n,i = max(0, −k_i φ_i − 2 ζ √(k_i m_i) φ̇_i) where φ_i ≤ 0, and λ_t,i = −μ_i λ_n,i u_t / max(‖u_t‖, ε).

    Deviations: the configuration is held, so that rows are constant and gaps linear in the displacement, which is below
    a millimetre at 1e6 N/m. (88) is printed with √(k/m), which is a damping only for m = 1 kg. It ends when all
    contacts, and not only those with φ ≤ 0, have stopped approaching: one that is about to close takes part. ε is not
    1e-10 m/s by default, because an integrator may step over so narrow a band of sticking unnoticed (with rtol above
    1e-10 it does); from 1e-6 m/s on outcomes change by less than 1e-4 of the jump.

    Springs that are damped with ζ give back some 1/(4 ζ²) of the approach, while others still compress: with ζ = 5
    outcomes leave the set of rigid ones by about a percent, however stiff. ζ = 50 is a closer picture of rigid bodies.

    Args:
        problem: with v⁻ as its velocity; ``gap`` (m) tells who touches first; ``bias_force`` acts. M positive definite.
        stiffness: k, N/m, of all contacts or (m,).
        damping_ratio: ζ; 5 makes impacts inelastic.
        mass: m_i, kg, of all or (m,); by default the contact's own, 1/(J_n M⁻¹ J_nᵀ).
        slip_speed: ε, m/s. duration: s, at most. rtol: of the integrator (Radau). max_steps: of it.

    Raises:
        ValueError: a number that is not positive and finite, a penetrating gap, or a singular M.
    """
    m, d, nv = problem.tangent_jacobian.shape
    for name, value in (
        ("damping_ratio", damping_ratio),
        ("slip_speed", slip_speed),
        ("duration", duration),
        ("rtol", rtol),
    ):
        if not 0.0 < value < np.inf:
            raise ValueError(f"{name} is {value}; a positive, finite number is needed")
    try:
        np.linalg.cholesky(problem.mass)
    except np.linalg.LinAlgError:
        raise ValueError("mass is not positive definite; every limb needs mass here") from None
    if max_steps < 1:
        raise ValueError(f"max_steps is {max_steps}; it must be 1 or more")
    if (problem.gap < 0.0).any():
        raise ValueError(f"contacts penetrate before the impact: gaps {problem.gap.tolist()} m")
    normal, tangent = problem.normal_jacobian, problem.tangent_jacobian
    flat = tangent.reshape(m * d, nv)
    inverse = np.linalg.inv(problem.mass)
    own = 1.0 / np.einsum("ij,jk,ik->i", normal, inverse, normal)
    k, weight = _positive("stiffness", stiffness, m), _positive("mass", own if mass is None else mass, m)
    damping = 2.0 * damping_ratio * np.sqrt(k * weight)
    ended = SEPARATING * weight / k.min(initial=np.inf)
    mu = problem.friction

    def forces(x: Array, v: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        gap = problem.gap + normal @ x
        push = -k * gap - damping * (normal @ v)
        on = (gap <= 0.0) & (push > 0.0)
        push = np.where(on, push, 0.0)
        slip = (flat @ v).reshape(m, d)
        return push, slip, np.maximum(np.sqrt((slip**2).sum(axis=1)), slip_speed), on

    def rate(_: float, y: Array) -> Array:
        x, v = y[:nv], y[nv : 2 * nv]
        push, slip, speed, _on = forces(x, v)
        side = -(mu * push / speed)[:, None] * slip
        force = push @ normal + side.reshape(-1) @ flat
        return np.concatenate([v, inverse @ (force - problem.bias_force), push, side.reshape(-1)])

    def jacobian(_: float, y: Array) -> Array:
        x, v = y[:nv], y[nv : 2 * nv]
        push, slip, speed, on = forces(x, v)
        by_x, by_v = -(on * k)[:, None] * normal, -(on * damping)[:, None] * normal  # of push
        unit = slip / speed[:, None]
        turning = np.eye(d) - np.where(speed > slip_speed, 1.0, 0.0)[:, None, None] * unit[:, :, None] * unit[:, None]
        side_x = -(mu[:, None] * unit)[:, :, None] * by_x[:, None]
        side_v = -(mu[:, None] * unit)[:, :, None] * by_v[:, None]
        side_v -= (mu * push / speed)[:, None, None] * (turning @ tangent)
        matrix = np.zeros((y.size, y.size))
        matrix[:nv, nv : 2 * nv] = np.eye(nv)
        for columns, of_push, of_side in ((slice(0, nv), by_x, side_x), (slice(nv, 2 * nv), by_v, side_v)):
            force = normal.T @ of_push + flat.T @ of_side.reshape(m * d, nv)
            matrix[nv : 2 * nv, columns] = inverse @ force
            matrix[2 * nv : 2 * nv + m, columns] = of_push
            matrix[2 * nv + m :, columns] = of_side.reshape(m * d, nv)
        return matrix

    def approach(y: Array) -> float:
        return float((normal @ y[nv : 2 * nv] + ended).min(initial=np.inf))

    start = np.concatenate([np.zeros(nv), problem.velocity, np.zeros(m * (1 + d))])
    times, states, status = [0.0], [start], Status.SOLVED
    if m and approach(start) < 0.0:
        speed = float(np.abs(problem.jacobian() @ problem.velocity).max())
        absolute = np.full(start.size, 1e-3 * rtol * speed)
        absolute[:nv] *= float(np.sqrt(weight / k).min())
        absolute[nv : 2 * nv] = min(absolute[-1], 0.1 * slip_speed)
        solver = Radau(rate, 0.0, start, duration, jac=jacobian, rtol=rtol, atol=absolute)
        status = Status.STEP_LIMIT
        while solver.status == "running" and len(times) <= max_steps:
            solver.step()
            end, state = float(solver.t), solver.y.copy()
            if solver.status != "failed" and approach(state) >= 0.0:
                end, state = _crossing(solver.dense_output(), approach, times[-1], end)
                status = Status.SOLVED
            times.append(end)
            states.append(state)
            if status is Status.SOLVED:
                break
    t, y = np.array(times), np.array(states).T
    x, v = y[:nv].T, y[nv : 2 * nv].T
    gaps = problem.gap + x @ normal.T
    energy = 0.5 * np.einsum("ij,jk,ik->i", v, problem.mass, v) + x @ problem.bias_force
    energy += 0.5 * (np.minimum(gaps, 0.0) ** 2) @ k
    impulse = np.empty((m, 1 + d))
    impulse[:, 0], impulse[:, 1:] = y[2 * nv : 2 * nv + m, -1], y[2 * nv + m :, -1].reshape(m, d)
    return CompliantImpact(t, v, gaps, energy, impulse, status)


def _crossing(
    dense: Callable[[float], Array], value: Callable[[Array], float], low: float, high: float
) -> tuple[float, Array]:
    end = float(brentq(lambda t: value(dense(t)), low, high, xtol=1e-18)) if value(dense(high)) > 0.0 else high
    return end, dense(end)


def _positive(name: str, values: ArrayLike, m: int) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in ((), (m,)) or not ((array > 0.0) & np.isfinite(array)).all():
        raise ValueError(f"{name} must be one number or {m}, all > 0 and finite")
    return np.full(m, array) if array.shape == () else array.copy()
