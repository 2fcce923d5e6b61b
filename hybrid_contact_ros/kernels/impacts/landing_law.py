"""The impact law of a landing, all contacts at once, for many values of what is not known exactly: one call.

For each case find the impulses λ and the velocity v⁺ with

    (M + diag k) (v⁺ − v⁻) = −s (h − Sᵀτ) + Jᵀ λ
    0 ≤ λ_n ⊥ u_n − w_n ≥ 0,    ‖λ_t‖ ≤ μ λ_n,    λ_t = −μ λ_n (u_t − w_t)/‖u_t − w_t‖ unless u_t = w_t,    u = J v⁺

w are the velocities with which contacts are left: e |u_n⁻| along the normal is a rebound, and a tangential w is a slip.
In contact space that is the problem of forces under Coulomb's cone (:mod:`hybrid_contact_ros.kernels.modes.friction`)
with G = J (M + diag k)⁻¹ Jᵀ and b = J (v⁻ − s (M + diag k)⁻¹ (h − Sᵀτ)) − w, and solved as such.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import FrictionState, Status
from hybrid_contact_ros.kernels.algebra.dense import (
    backward_solve,
    cholesky_factor,
    cholesky_solve,
    forward_rows,
    forward_solve,
    row_products,
)
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.friction import solve_modes
from hybrid_contact_ros.kernels.modes.records import ContactDynamics, ModeIterate, ModeScratch, mode_scratch
from hybrid_contact_ros.kernels.modes.residual import problem_scale
from hybrid_contact_ros.kernels.modes.splitting import LASTING, split_again, splitting_inverse

Array = NDArray[np.float64]

_SOLVED, _SINGULAR, _INACCURATE = int(Status.SOLVED), int(Status.SINGULAR), int(Status.INACCURATE)
_STICK, _SLIP = int(FrictionState.STICK), int(FrictionState.SLIP)
_MASS_PIVOT = 1e-13  # smallest pivot of M over its largest diagonal entry that is not rounding
_EXACT = 1e-8  # residual of an active set that holds
_NO_STEPS, _WHOLE = np.int64(0), np.int64(0)  # without splitting; of the problem itself (not int: see :mod:`.friction`)
_SHIFT = 1e-9  # of the largest diagonal entry of G: redundant contacts get the least impulses that do


class Landing(NamedTuple):
    """The robot at the instant of impact, with the contacts that take part; r = m (1 + d) rows, normal first."""

    d: int
    mass: Array  # M (n, n)
    bias: Array  # h − Sᵀτ (n,)
    rows: Array  # J (r, n)
    velocity: Array  # v⁻ (n,)


class LandingCases(NamedTuple):
    """What is not known, one row for each case."""

    duration: Array  # s (cases,)
    drive: Array  # k (cases, n), kg m²; a row like the one before costs no factorisation
    friction: Array  # μ (cases, m)
    left: Array  # w (cases, r), m/s


class LandingScratch(NamedTuple):
    """Scratch; make it by :func:`landing_scratch`."""

    L: Array  # (n, n)
    half: Array  # (r, n), L⁻¹ Jᵀ as rows
    G: Array  # (r, r)
    drift: Array  # (M + diag k)⁻¹ (h − Sᵀτ) (n,)
    pull: Array  # J drift (r,)
    free: Array  # J v (r,), of the velocity that cases begin with
    b: Array  # (r,)
    push: Array  # (n,)
    slip: Array  # (m, d)
    state: NDArray[np.int64]  # (m,)
    touching: NDArray[np.uint8]  # (m,), ones
    moving: NDArray[np.uint8]  # (m,)
    after: Array  # (r,)
    A: Array  # as of ModeScratch
    work: Array
    order: NDArray[np.int64]


class LandingOut(NamedTuple):
    """The outcomes."""

    velocities: Array  # v⁺ (cases, n)
    impulses: Array  # λ (cases, r), N s
    residuals: Array  # (cases,), by the definition and not by the solver; inf where M + diag k is not positive definite


def landing_scratch(m: int, d: int, n: int) -> LandingScratch:
    """Scratch for m contacts of d tangents and n coordinates."""
    r = m * (1 + d)
    return LandingScratch(
        np.zeros((n, n)),
        np.zeros((r, n)),
        np.zeros((r, r)),
        np.zeros(n),
        np.zeros(r),
        np.zeros(r),
        np.zeros(r),
        np.zeros(n),
        np.zeros((m, d)),
        np.zeros(m, dtype=np.int64),
        np.ones(m, dtype=np.uint8),
        np.zeros(m, dtype=np.uint8),
        np.zeros(r),
        *mode_scratch(r),
    )


@kernel
def respond(landing, drive, scratch):
    """Write the factor of M + diag k, L⁻¹ Jᵀ and G; whether M + diag k is positive definite."""
    L, half, rows = scratch.L, scratch.half, landing.rows
    n = landing.velocity.shape[0]
    for i in range(n):
        for j in range(i + 1):
            L[i, j] = landing.mass[i, j]
        L[i, i] += drive[i]
    if cholesky_factor(n, _MASS_PIVOT, L, L) < n:
        return False
    for i in range(rows.shape[0]):
        for j in range(n):
            half[i, j] = rows[i, j]
    forward_rows(n, rows.shape[0], L, half)
    row_products(n, rows.shape[0], half, scratch.G)
    return True


@kernel
def fall(bias, scratch):
    """Write what a second of the bias makes of velocities, of coordinates and of contacts, after :func:`respond`."""
    drift, half = scratch.drift, scratch.half
    n = bias.shape[0]
    for j in range(n):
        drift[j] = bias[j]
    forward_solve(n, scratch.L, drift)
    for i in range(half.shape[0]):
        total = 0.0
        for j in range(n):
            total += half[i, j] * drift[j]
        scratch.pull[i] = total
    backward_solve(n, scratch.L, drift)


@kernel
def begin(rows, velocity, scratch):
    """Write the contacts' velocities before cases that begin with ``velocity``."""
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(velocity.shape[0]):
            total += rows[i, j] * velocity[j]
        scratch.free[i] = total


@kernel
def same(a, b):
    """Whether two vectors are equal."""
    equal = True
    for i in range(a.shape[0]):
        equal &= a[i] == b[i]
    return equal


@kernel
def _start(anew, friction, scratch):
    """Start from sticking contacts, or as the last case ended; those without friction slide in no direction."""
    for i in range(friction.shape[0]):
        frictionless = friction[i] == 0.0
        if anew or scratch.moving[i] != frictionless:
            scratch.moving[i] = frictionless
            scratch.state[i] = _SLIP if frictionless else _STICK
            for k in range(scratch.slip.shape[1]):
                scratch.slip[i, k] = 0.0


@kernel
def follow(
    steps, tolerance, least, d, anew, redundant, known, duration, friction, left, velocity, scratch, push, found
):
    """One case, after :func:`respond`, :func:`fall` and :func:`begin`: impulses and velocity after it.

    Args:
        least: residuals are over a speed of at least this, m/s. anew: whether to start from sticking contacts and not
            from the end of the case before. redundant: whether to leave the active set out. known: whether the last
            case has left what splitting needs to know of the same response.
        push (r,), found (n,): out.

    Returns:
        (whether the active set found the answer, residual, whether splitting has left what it needs to know).
    """
    b, work = scratch.b, scratch.push
    n, r = velocity.shape[0], b.shape[0]
    for i in range(r):
        b[i] = scratch.free[i] - duration * scratch.pull[i] - left[i]
        push[i] = 0.0
        scratch.after[i] = b[i]
    _start(anew, friction, scratch)
    dynamics = ContactDynamics(d, scratch.G, b, friction)
    iterate = ModeIterate(scratch.slip, scratch.state, push, scratch.after)
    memory = ModeScratch(scratch.A, scratch.work, scratch.order)
    touching, moving = scratch.touching, scratch.moving
    status, residual, lasts = _INACCURATE, math.inf, False
    if not redundant:
        status, residual, _ = solve_modes(_NO_STEPS, _EXACT, dynamics, touching, moving, iterate, memory)
    if status != _SOLVED:
        scale = max(problem_scale(d, b, touching), least)
        if (known and redundant) or splitting_inverse(d, scratch.G, touching, scratch.A):
            residual, made = split_again(
                steps, _WHOLE, tolerance, scale, dynamics, touching, moving, iterate, scratch.A
            )  # fmt: skip
            lasts = made < LASTING
    for j in range(n):
        work[j] = 0.0
    for i in range(r):
        if push[i] != 0.0:
            for j in range(n):
                work[j] += scratch.half[i, j] * push[i]
    backward_solve(n, scratch.L, work)
    for j in range(n):
        found[j] = velocity[j] - duration * scratch.drift[j] + work[j]
    return status == _SOLVED, residual, lasts


@kernel
def landing_outcomes(
    # constants:
    steps, tolerance,
    # landing:
    d, mass, bias, rows, velocity,
    # cases:
    duration, drive, friction, left,
    # scratch:
    L, half, G, drift, pull, free, b, push, slip, state, touching, moving, after, A, work, order,
    # out:
    velocities, impulses, residuals,
):  # fmt: skip
    """Solve the law of this module's heading for every case; each starts from the mode of the one before.

    The active set answers to rounding wherever contacts are not redundant. Of corners of soles it often finds none;
    after the first such case all others are solved by operator splitting alone, to ``tolerance``.

    Args:
        steps: of operator splitting at most. tolerance: residual that is good enough, in parts of the fastest contact.
        The members of Landing, LandingCases, LandingScratch and LandingOut.

    Returns:
        (status, largest residual): SOLVED; INACCURATE where a case is off by more than ``tolerance``; SINGULAR where
        M + diag k is not positive definite.
    """
    landing = Landing(d, mass, bias, rows, velocity)
    scratch = LandingScratch(
        L, half, G, drift, pull, free, b, push, slip, state, touching, moving, after, A, work, order
    )  # fmt: skip
    begin(rows, velocity, scratch)
    code, worst = _SOLVED, 0.0
    exact, redundant, known = False, False, False
    for case in range(duration.shape[0]):
        if case == 0 or not same(drive[case], drive[case - 1]):
            if not respond(landing, drive[case], scratch):
                for other in range(case, duration.shape[0]):
                    residuals[other] = math.inf
                return _SINGULAR, math.inf
            fall(bias, scratch)
            known = False
        # What led nowhere is no place to start from.
        exact, residual, known = follow(
            steps, tolerance, 0.0, d, not exact, redundant, known, duration[case], friction[case], left[case], velocity,
            scratch, impulses[case], velocities[case],
        )  # fmt: skip
        redundant |= not exact
        if not exact and not residual <= tolerance:
            code = _INACCURATE
        residuals[case] = residual
        worst = max(worst, residual)
    return code, worst


@kernel
def contact_response(
    # problem:
    L, half, G,
    # scratch:
    square, column,
    # out:
    back,
):  # fmt: skip
    """Velocities that move one contact alone: (M + diag k)⁻¹ Jᵀ G⁺, as rows, with the inverse of G regularised.

    Args:
        L (n, n), half (r, n), G (r, r): as :func:`landing_outcomes` leaves them in its scratch, for the k of its last
            case. square: scratch (r, r). column: scratch (r,).
        back: out, (r, n): row i is the least velocity, in the kinetic norm, with J v = 1 in row i and 0 in the others,
            or nearest to that where contacts are redundant.

    Returns:
        SOLVED, or SINGULAR where G is not finite; then ``back`` is zero.
    """
    r, n = half.shape
    largest = 0.0
    for i in range(r):
        largest = max(largest, G[i, i])
    for i in range(r):
        for j in range(i + 1):
            square[i, j] = G[i, j]
        square[i, i] += _SHIFT * largest
        for j in range(n):
            back[i, j] = 0.0
    if cholesky_factor(r, 0.0, square, square) < r:
        return _SINGULAR
    for j in range(n):
        for i in range(r):
            column[i] = half[i, j]
        cholesky_solve(r, square, column)
        for i in range(r):
            back[i, j] = column[i]
    for i in range(r):
        backward_solve(n, L, back[i])
    return _SOLVED
