"""Impacts between stiff, deformable bodies, integrated in time: what rigid impacts are to predict.

They are Halm §5.4.1, (88)–(90), in the time domain. The state is (x, v, Λ_n, Λ_t): displacement, velocity, impulses.
"""

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

DAMPING_RATIO = 5.0
"""ζ of (88), as in Halm §5.4.1."""
STIFFNESS = 1e6
"""k of (88), N/m, the smallest one in Halm §5.4.1."""
SLIP_SPEED = 1e-6
"""ε of (90), m/s; 1e-10 in Halm §5.4.1."""
SEPARATING = 1e-3
"""δ_i min k / m_i, in SI units: contacts that approach no faster than δ_i have separated; as in Halm §5.4.1."""


@dataclass(frozen=True, slots=True, eq=False)
class CompliantImpact:
    """A compliant impact.

    Attributes:
        t: (k,), s, after each step of the integrator. velocities: (k, nv). gaps: φ (k, m), m, negative in contact.
        energy: (k,), J: kinetic energy, that of the springs in contact, and that of the bias force, which is held
            constant; 0 at rest without load.
        impulses: (k, m, 1 + d), N s, of each contact until then.
        status: SOLVED; STEP_LIMIT where some contact still approaches at the end of the time or of the steps.
    """

    t: Array
    velocities: Array
    gaps: Array
    energy: Array
    impulses: Array
    status: Status

    @property
    def impulse(self) -> Array:
        """The whole impulse (m, 1 + d), N s."""
        return self.impulses[-1]  # type: ignore[no-any-return]

    @property
    def velocity(self) -> Array:
        """The last velocity (nv,)."""
        return self.velocities[-1]  # type: ignore[no-any-return]


class _CompliantContacts:
    """The equation of motion of an impact in the state y = (x, v, Λ_n, Λ_t), with its Jacobian.

    Attributes:
        k, weight, damping: stiffness, mass and damping (m,) of (88). ended: δ (m,), m/s.
    """

    def __init__(
        self, problem: ContactProblem, stiffness: ArrayLike, damping_ratio: float, mass: ArrayLike | None, slip: float
    ) -> None:
        m, d, nv = problem.tangent_jacobian.shape
        self._problem, self._slip_speed = problem, slip
        self._normal, self._flat = problem.normal_jacobian, problem.tangent_jacobian.reshape(m * d, nv)
        self._inverse = np.linalg.inv(problem.mass)
        own = 1.0 / np.einsum("ij,jk,ik->i", self._normal, self._inverse, self._normal)
        self.k, self.weight = _positive("stiffness", stiffness, m), _positive("mass", own if mass is None else mass, m)
        self.damping = 2.0 * damping_ratio * np.sqrt(self.k * self.weight)
        self.ended = SEPARATING * self.weight / self.k.min(initial=np.inf)

    def approach(self, y: Array) -> float:
        """Negative while some contact approaches faster than δ."""
        nv = self._problem.nv
        return float((self._normal @ y[nv : 2 * nv] + self.ended).min(initial=np.inf))

    def rate(self, _: float, y: Array) -> Array:
        """ẏ."""
        problem, nv = self._problem, self._problem.nv
        x, v = y[:nv], y[nv : 2 * nv]
        push, slip, speed, _on = self._forces(x, v)
        side = -(problem.friction * push / speed)[:, None] * slip
        force = push @ self._normal + side.reshape(-1) @ self._flat
        return np.concatenate([v, self._inverse @ (force - problem.bias_force), push, side.reshape(-1)])

    def jacobian(self, _: float, y: Array) -> Array:
        """∂ẏ/∂y."""
        m, d, nv = self._problem.tangent_jacobian.shape
        normal, mu = self._normal, self._problem.friction
        push, slip, speed, on = self._forces(y[:nv], y[nv : 2 * nv])
        push_x, push_v = -(on * self.k)[:, None] * normal, -(on * self.damping)[:, None] * normal
        unit = slip / speed[:, None]
        slides = np.where(speed > self._slip_speed, 1.0, 0.0)
        turning = np.eye(d) - slides[:, None, None] * unit[:, :, None] * unit[:, None]
        side_x = -(mu[:, None] * unit)[:, :, None] * push_x[:, None]
        side_v = -(mu[:, None] * unit)[:, :, None] * push_v[:, None]
        side_v -= (mu * push / speed)[:, None, None] * (turning @ self._problem.tangent_jacobian)
        matrix = np.zeros((y.size, y.size))
        matrix[:nv, nv : 2 * nv] = np.eye(nv)
        for columns, of_push, of_side in ((slice(0, nv), push_x, side_x), (slice(nv, 2 * nv), push_v, side_v)):
            force = normal.T @ of_push + self._flat.T @ of_side.reshape(m * d, nv)
            matrix[nv : 2 * nv, columns] = self._inverse @ force
            matrix[2 * nv : 2 * nv + m, columns] = of_push
            matrix[2 * nv + m :, columns] = of_side.reshape(m * d, nv)
        return matrix

    def _forces(self, x: Array, v: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """Normal forces (m,), slip (m, d), max(‖slip‖, ε) (m,), and which contacts push (m,)."""
        gap = self._problem.gap + self._normal @ x
        push = -self.k * gap - self.damping * (self._normal @ v)
        on = (gap <= 0.0) & (push > 0.0)
        slip = (self._flat @ v).reshape(self._problem.contacts, self._problem.tangents)
        return np.where(on, push, 0.0), slip, np.maximum(np.sqrt((slip**2).sum(axis=1)), self._slip_speed), on


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
    """Integrate an impact with Kelvin–Voigt normal forces (88) and regularized Coulomb friction (89)–(90).

    λ_n,i = max(0, −k_i φ_i − 2 ζ √(k_i m_i) φ̇_i) where φ_i ≤ 0, and λ_t,i = −μ_i λ_n,i u_t / max(‖u_t‖, ε). The impact
    ends when no contact approaches faster than δ_i = 1e-3 m_i/min k.

    Deviations: the configuration is held, so that rows are constant and gaps linear in the displacement, which is below
    a millimetre at 1e6 N/m. (88) is printed with √(k/m), which is a damping only for m = 1 kg, the mass of the block of
    Halm's example: ``mass=1.0`` gives Halm's 99.9992 % (§5.4.1), the contact's own mass 99.9988 %. The impact ends when
    all contacts, and not only those with φ ≤ 0, have stopped approaching: one that is about to close takes part. ε is
    not 1e-10 m/s by default, because an integrator may step over so narrow a band of sticking unnoticed (with rtol
    above 1e-10 it does); from 1e-6 m/s on outcomes change by less than 1e-4 of the jump.

    Springs that are damped with ζ give back some 1/(4 ζ²) of the approach while others still compress: with ζ = 5
    outcomes leave the set of rigid ones by about a percent, however stiff. ζ = 50 is a closer picture of rigid bodies.

    Args:
        problem: with v⁻ as its velocity; ``gap`` (m,) tells which contact touches first; ``bias_force`` acts. M is
            positive definite.
        stiffness: k, N/m, of all contacts or (m,).
        damping_ratio: ζ; 5 makes impacts inelastic.
        mass: m_i, kg, of all contacts or (m,); by default the contact's own, 1/(J_n M⁻¹ J_nᵀ).
        slip_speed: ε, m/s.
        duration: s, at most.
        rtol, max_steps: relative tolerance and most steps of the integrator (Radau).

    Raises:
        ValueError: a number that is not positive and finite, a penetrating gap, or a singular M.
    """
    settings = {"damping_ratio": damping_ratio, "slip_speed": slip_speed, "duration": duration, "rtol": rtol}
    _check(problem, settings, max_steps)
    m, d, nv = problem.tangent_jacobian.shape
    contacts = _CompliantContacts(problem, stiffness, damping_ratio, mass, slip_speed)
    start = np.concatenate([np.zeros(nv), problem.velocity, np.zeros(m * (1 + d))])
    times, states, status = [0.0], [start], Status.SOLVED
    if m and contacts.approach(start) < 0.0:
        speed = float(np.abs(problem.jacobian() @ problem.velocity).max())
        absolute = np.full(start.size, 1e-3 * rtol * speed)
        absolute[:nv] *= float(np.sqrt(contacts.weight / contacts.k).min())
        absolute[nv : 2 * nv] = min(absolute[-1], 0.1 * slip_speed)
        solver = Radau(contacts.rate, 0.0, start, duration, jac=contacts.jacobian, rtol=rtol, atol=absolute)
        status = Status.STEP_LIMIT
        while solver.status == "running" and len(times) <= max_steps:
            solver.step()
            end, state = float(solver.t), solver.y.copy()
            if solver.status != "failed" and contacts.approach(state) >= 0.0:
                end, state = _crossing(solver.dense_output(), contacts.approach, times[-1], end)
                status = Status.SOLVED
            times.append(end)
            states.append(state)
            if status is Status.SOLVED:
                break
    t, y = np.array(times), np.array(states).T
    x, v = y[:nv].T, y[nv : 2 * nv].T
    gaps = problem.gap + x @ problem.normal_jacobian.T
    energy = 0.5 * np.einsum("ij,jk,ik->i", v, problem.mass, v) + x @ problem.bias_force
    energy += 0.5 * (np.minimum(gaps, 0.0) ** 2) @ contacts.k
    impulses = np.empty((t.size, m, 1 + d))
    impulses[:, :, 0], impulses[:, :, 1:] = y[2 * nv : 2 * nv + m].T, y[2 * nv + m :].T.reshape(t.size, m, d)
    return CompliantImpact(t, v, gaps, energy, impulses, status)


def _check(problem: ContactProblem, settings: dict[str, float], max_steps: int) -> None:
    for name, value in settings.items():
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


def _crossing(
    dense: Callable[[float], Array], value: Callable[[Array], float], low: float, high: float
) -> tuple[float, Array]:
    """Time and state at which ``value`` of the interpolated state becomes 0, between two times, or at the later one."""
    end = float(brentq(lambda t: value(dense(t)), low, high, xtol=1e-18)) if value(dense(high)) > 0.0 else high
    return end, dense(end)


def _positive(name: str, values: ArrayLike, m: int) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in ((), (m,)) or not ((array > 0.0) & np.isfinite(array)).all():
        raise ValueError(f"{name} must be one number or {m}, all > 0 and finite")
    return np.full(m, array) if array.shape == () else array.copy()
