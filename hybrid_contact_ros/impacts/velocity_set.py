"""The set of velocities after a simultaneous impact, by sampling (H Algorithms 1 and 2)."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace, check_directions
from hybrid_contact_ros.impacts.coverage import CONFIDENCE, RADIUS, lower_confidence_bound
from hybrid_contact_ros.impacts.outcome import VelocitySet
from hybrid_contact_ros.kernels.sampling import near_count, outcomes, sample_batch
from hybrid_contact_ros.kernels.status import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem

LAWS = ("inelastic",)
_SEPARATING = 1e-9  # scaled: a contact approaching no faster than this has separated
_REFERENCE_SEPARATING = 1e-8  # m/s, of the published implementation
_LAST_STEP = 0.05  # ε of Algorithm 2, scaled
_FIRST_BATCH = 8  # samples before the clock is looked at
_BATCH = 64
_RESERVE = 0.85  # part of the deadline for sampling; the rest is for outcomes, bounds and coverage
_NO_DRAWS = np.zeros((0, 0, 0))


def impulse_scale(problem: ContactProblem) -> float:
    """Largest impulse (N s) that stops a single approaching contact without friction: max −J_n v / (J_n M⁻¹ J_nᵀ).

    A natural unit for ``step`` of :func:`post_impact_set`; 0 if no contact approaches or M is singular.
    """
    space = ContactSpace(problem, 2)
    if space.status != Status.SOLVED:
        return 0.0
    approach = -space.w[:: 1 + space.g] * space.speed / space.scale
    return max(float(approach.max(initial=0.0)), 0.0)


def post_impact_set(
    problem: ContactProblem,
    step: float,
    samples: int,
    max_steps: int,
    seed: int = 0,
    directions: int = 4,
    law: str = "inelastic",
    deadline_ns: int | None = None,
    maximum_impulses: ArrayLike | None = None,
) -> VelocitySet:
    """Sample the velocities that a simultaneous inelastic impact may end with (H Algorithms 1 and 2).

    A sample repeats: draw caps λ_max uniformly from [0, step]^m; solve the increment LCP (H 72–75); go on from v';
    until no contact approaches (by more than 1e-9 of the fastest contact velocity, each over √G_nn) or ``max_steps``
    increments were taken. As line 5 of Algorithm 2, a sample that still approaches then gets one more increment with
    caps ε/(3ψ), here in the kinetic norm with ε = 5 % of the fastest; for the others that step is zero (H Lemma 8).

    Args:
        problem: with v⁻ as its velocity; restitution is not used.
        step: h, the largest impulse increment of a contact, N s, > 0.
        samples: M ≥ 1. max_steps: N ≥ 1.
        seed: sample i depends on (seed, i) alone, so that a set stopped in time is a prefix of the full one.
        directions: k, even; vertices of the friction polygon (see ``simultaneous_impact``).
        law: "inelastic".
        deadline_ns: time that this call may take, ns. At least 8 samples are drawn in any case.
        maximum_impulses: (samples, max_steps, m) N s, replaces the draws, to compare with other implementations
            sample by sample. Then the conventions of the published one hold: a sample ends at min J_n v ≥ −1e-8 m/s,
            and there is no last ε-step. ``step`` is not used.

    Returns:
        The set; only its terminated samples are post-impact velocities. Empty, with status SINGULAR, if M is not
        positive definite.

    Where an increment has several solutions (H Assumption 6 fails) the solver picks one, always the same, so that the
    set may lack outcomes that the model allows; the bounds hold for all of them.

    Raises:
        ValueError: if an argument is out of range.
    """
    begin = time.perf_counter_ns()
    draws = _check(problem, step, samples, max_steps, seed, directions, law, maximum_impulses)
    m, d, n = problem.tangent_jacobian.shape
    space = ContactSpace(problem, directions)
    lower, upper, _, _ = space.bounds(problem.velocity, problem.friction, np.zeros(m))
    if space.status != Status.SOLVED:
        return _empty(n, m, d, lower, upper, space.status)
    per_step, last_step, separating = np.empty(m), np.zeros(m), np.full(m, _SEPARATING)
    if m and space.speed > 0.0:
        np.multiply(space.scale, step / space.speed, out=per_step)
        if draws.size:
            draws = draws * (space.scale / space.speed)
            separating = _REFERENCE_SEPARATING / (space.speed * space.scale)
        else:
            stretch = np.sqrt(np.trace(space.H))  # ≥ σ_max of L⁻¹ Jᵀ, scaled
            psi = stretch * m * (1.0 + problem.friction.max()) + 1.0
            last_step[:] = _LAST_STEP / (3.0 * psi)
    p = space.w.size
    z, info = np.empty((samples, p)), np.empty((samples, 3))
    cap, vectors = np.empty(m), np.empty((3, p))
    end = None if deadline_ns is None else begin + int(_RESERVE * deadline_ns)
    done, batch, worst = 0, samples if end is None else _FIRST_BATCH, int(Status.SOLVED)
    while done < samples:
        count = min(batch, samples - done)
        started = time.perf_counter_ns()
        code = sample_batch(
            space.g,
            done,
            count,
            seed,
            per_step,
            last_step,
            max_steps,
            space.H,
            space.w,
            space.c,
            separating,
            draws,
            space.floats,
            space.ints,
            cap,
            vectors,
            z,
            info,
        )
        done += count
        if code != Status.SOLVED:
            worst = code
        if end is not None:
            now = time.perf_counter_ns()
            each = max((now - started) // count, 1)
            batch = min(_BATCH, (end - now) // each)
            if batch < 1:
                break
    velocities, impulses, jumps = np.empty((done, n)), np.empty((done, m, 1 + d)), np.empty((done, n))
    outcomes(
        space.A, space.scale, space.speed, problem.velocity, space.R, space.Y, 0, done, z, velocities, impulses, jumps
    )
    half = done // 2
    hits, radius = near_count(RADIUS, half, done - half, info, jumps)
    info = info[:done]
    terminated = info[:, 1] > 0.0
    status = Status(worst)
    if status == Status.SOLVED:
        if done < samples:
            status = Status.DEADLINE
        elif not terminated.all():
            status = Status.STEP_LIMIT
    return VelocitySet(
        velocities=velocities,
        impulses=impulses,
        steps=info[:, 0].astype(np.int64),
        terminated=terminated,
        lower=lower,
        upper=upper,
        coverage=lower_confidence_bound(hits, done - half) if half else 0.0,
        coverage_radius=radius,
        confidence=CONFIDENCE,
        status=status,
        residual=float(info[:, 2].max()),
    )


def _check(
    problem: ContactProblem,
    step: float,
    samples: int,
    max_steps: int,
    seed: int,
    directions: int,
    law: str,
    maximum_impulses: ArrayLike | None,
) -> Array:
    check_directions(directions)
    if law not in LAWS:
        raise ValueError(f"law is {law!r}; one of {', '.join(LAWS)} is needed")
    if samples < 1 or max_steps < 1:
        raise ValueError(f"samples ({samples}) and max_steps ({max_steps}) must be 1 or more")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; it must lie in [0, 2⁶³)")
    if maximum_impulses is None:
        if not 0.0 < step < np.inf:
            raise ValueError(f"step is {step}; a positive, finite impulse in N s is needed")
        return _NO_DRAWS
    draws = np.array(maximum_impulses, dtype=np.float64, order="C")
    if draws.shape != (samples, max_steps, problem.contacts):
        raise ValueError(
            f"maximum_impulses has shape {draws.shape}; (samples, max_steps, m) = "
            f"{(samples, max_steps, problem.contacts)} is needed"
        )
    if not (np.isfinite(draws) & (draws >= 0.0)).all():
        raise ValueError("maximum_impulses must be finite and ≥ 0")
    return draws


def _empty(n: int, m: int, d: int, lower: Array, upper: Array, status: Status) -> VelocitySet:
    return VelocitySet(
        velocities=np.empty((0, n)),
        impulses=np.empty((0, m, 1 + d)),
        steps=np.empty(0, dtype=np.int64),
        terminated=np.empty(0, dtype=np.bool_),
        lower=lower,
        upper=upper,
        coverage=0.0,
        coverage_radius=0.0,
        confidence=CONFIDENCE,
        status=status,
        residual=0.0,
    )
