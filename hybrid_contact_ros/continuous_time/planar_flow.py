"""Sustained contact in one mode, in the plane: forces, and motion along s with ds = dt + Σ λ_n dt (H 52, 63)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode

Array = NDArray[np.float64]

_TIE = 1e-7  # of the accelerations and forces: conditions violated by no more than this may hold
OPEN, STICKING, SLIPPING = int(ContactStatus.OPEN), int(ContactStatus.STICKING), int(ContactStatus.SLIPPING)


class PlanarSystem(Protocol):
    """What can be simulated: PlanarBox, PlanarLinkage, LagrangianSystem."""

    def problem(self, q: ArrayLike, v: ArrayLike, /) -> ContactProblem:
        """The contact problem at (q, v), v = q̇."""
        ...  # pragma: no cover


def evaluator(system: PlanarSystem) -> Callable[[Array, Array, float, frozenset[int]], ContactProblem]:
    """``system.problem`` as a function of (q, v, time, closed contacts), whatever of the last two it takes."""
    problem: Any = system.problem
    try:
        taken = inspect.signature(problem).parameters
    except (TypeError, ValueError):
        taken = {}  # type: ignore[assignment]
    timed, moded = "time" in taken, "mode" in taken

    def evaluate(q: Array, v: Array, time: float, mode: frozenset[int]) -> ContactProblem:
        named: dict[str, Any] = {}
        if timed:
            named["time"] = time
        if moded:
            named["mode"] = mode
        found: ContactProblem = problem(q, v, **named)
        return found

    return evaluate


@dataclass(frozen=True, slots=True)
class FlowMode:
    """A contact mode: the status of each contact (ContactStatus), and the sign of J_t v of a slipping one."""

    status: tuple[int, ...]
    slip: tuple[int, ...]

    @property
    def closed(self) -> list[int]:
        """Contacts that push."""
        return [i for i, status in enumerate(self.status) if status != OPEN]

    @property
    def sticking(self) -> list[int]:
        """Contacts at rest."""
        return [i for i, status in enumerate(self.status) if status == STICKING]

    def rows(self) -> list[int]:
        """Rows of the stacked Jacobian that are held: normals of closed contacts, tangents of sticking ones."""
        return sorted([2 * i for i in self.closed] + [2 * i + 1 for i in self.sticking])


def mode_forces(problem: ContactProblem, mode: FlowMode) -> tuple[Array, Array]:
    """λ (m, 2) and v̇ (nv,) of a mode, whether or not the forces may be: the equations of J (35) with friction.

    Redundant contacts (both corners of a box) get the least forces in the sense of ``force_acceleration_mode``; where
    those leave the friction cones, what that function finds for the same motion.
    """
    m = problem.contacts
    held = mode.rows()
    rows = problem.jacobian()
    pushes = rows[held].copy()
    for i in mode.closed:
        if mode.status[i] == SLIPPING:
            pushes[held.index(2 * i)] -= problem.friction[i] * mode.slip[i] * rows[2 * i + 1]
    solved = np.linalg.solve(problem.mass, np.column_stack([pushes.T, -problem.bias_force]))
    response, free = solved[:, :-1], np.asarray(solved[:, -1], dtype=np.float64)
    forces = np.zeros(2 * m)
    if not held:
        return forces.reshape(m, 2), free
    matrix = rows[held] @ response
    target = -(problem.jacobian_drift.reshape(-1)[held] + rows[held] @ free)
    redundant = np.linalg.matrix_rank(rows[held], tol=1e-9 * float(np.abs(rows[held]).max())) < len(held)
    if redundant:
        own = np.diag(rows @ np.linalg.solve(problem.mass, rows.T)).reshape(m, 2).mean(axis=1)
        weight = 1.0 / np.sqrt(np.array([own[r // 2] for r in held]))
        x = weight * np.linalg.lstsq(matrix * weight, target, rcond=1e-10)[0]
    else:
        try:
            x = np.linalg.solve(matrix, target)
        except np.linalg.LinAlgError:  # exactly at the edge of Painlevé's region: forces beyond any bound stand for ∞
            x = np.linalg.solve(matrix + 1e-16 * np.abs(rows[held] @ rows[held].T).max() * np.eye(len(held)), target)
    forces[held] = x
    pushed = forces.reshape(m, 2)
    for i in mode.closed:
        if mode.status[i] == SLIPPING:
            pushed[i, 1] = -problem.friction[i] * mode.slip[i] * pushed[i, 0]
    acceleration = np.asarray(free + response @ x, dtype=np.float64)
    if redundant and not (margins(problem, mode, pushed) >= 0.0).all():
        solution = force_acceleration_mode(problem, mode.closed)
        if np.abs(solution.acceleration - acceleration).max() <= 1e-6 * (1.0 + np.abs(acceleration).max()):
            return solution.forces, acceleration
    return pushed, acceleration


def margins(problem: ContactProblem, mode: FlowMode, forces: Array) -> Array:
    """(closed,): λ_n of slipping contacts, min(λ_n, μ λ_n − |λ_t|) of sticking ones, N."""
    return np.array(
        [
            forces[i, 0]
            if mode.status[i] == SLIPPING
            else min(forces[i, 0], problem.friction[i] * forces[i, 0] - abs(forces[i, 1]))
            for i in mode.closed
        ]
    )


def consistent_modes(problem: ContactProblem, scope: frozenset[int], slip_speed: float) -> list[tuple[FlowMode, Array]]:
    """All modes of the contacts in ``scope`` that satisfy FA up to ties, and their accelerations: open ones first."""
    choices: list[list[tuple[int, int]]] = []
    for i in range(problem.contacts):
        speed = float(problem.tangent_jacobian[i, 0] @ problem.velocity)
        if i not in scope:
            choices.append([(OPEN, 0)])
        elif problem.friction[i] == 0.0 or abs(speed) > slip_speed:
            choices.append([(OPEN, 0), (SLIPPING, int(np.sign(speed)) or 1)])
        else:
            choices.append([(OPEN, 0), (STICKING, 0), (SLIPPING, 1), (SLIPPING, -1)])
    found = []
    for states in product(*choices):
        mode = FlowMode(tuple(s for s, _ in states), tuple(g for _, g in states))
        try:
            forces, acceleration = mode_forces(problem, mode)
        except np.linalg.LinAlgError:
            continue
        if _holds(problem, mode, scope, slip_speed, forces, acceleration):
            found.append((mode, acceleration))
    return found


def _holds(
    problem: ContactProblem,
    mode: FlowMode,
    scope: frozenset[int],
    slip_speed: float,
    forces: Array,
    acceleration: Array,
) -> bool:
    rows = problem.jacobian()
    point = (rows @ acceleration).reshape(-1, 2) + problem.jacobian_drift
    weight = float(np.abs(problem.bias_force).max(initial=0.0)) + float(np.abs(forces).max(initial=0.0))
    free = np.abs(point).max(initial=0.0) + np.abs(rows @ np.linalg.solve(problem.mass, problem.bias_force)).max()
    slack, small = _TIE * (float(free) + 1e-12), _TIE * (weight + 1e-12)
    held = point.reshape(-1)[mode.rows()]
    if held.size and np.abs(held).max() > slack:
        return False
    if mode.closed and margins(problem, mode, forces).min() < -small:
        return False
    speed = problem.tangent_jacobian[:, 0] @ problem.velocity
    for i in scope:
        if mode.status[i] == OPEN and point[i, 0] < -slack:
            return False
        starts = mode.status[i] == SLIPPING and abs(speed[i]) <= slip_speed and problem.friction[i] > 0.0
        if starts and mode.slip[i] * point[i, 1] < -slack:
            return False
    return True
