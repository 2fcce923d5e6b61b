"""``landing_set``: the velocities that a robot's landing may end with, with all that a landing adds to an impact."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import check_directions
from hybrid_contact_ros.impacts.coverage import CONFIDENCE
from hybrid_contact_ros.impacts.landing import Landing
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.impacts.landing_set import MODEL_ERROR, hits
from hybrid_contact_ros.impacts.outcome import VelocitySet
from hybrid_contact_ros.impacts.restitution import Material
from hybrid_contact_ros.impacts.velocity_set import empty_set
from hybrid_contact_ros.kernels.impacts.records import STEPS
from hybrid_contact_ros.mechanics.kinetic_norm import kinetic_norm
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
_FLOATING = 6  # coordinates of a floating base


def landing_set(
    problem: ContactProblem,
    terms: LandingTerms,
    hitting: ArrayLike | None = None,
    driven: ArrayLike | None = None,
    feet: ArrayLike | None = None,
    samples: int = 256,
    step: float = 1.0,
    max_steps: int = 100,
    seed: int = 0,
    directions: int = 4,
) -> VelocitySet:
    """The set of velocities after a landing: what the law gives at the corners of the intervals of ``terms``, outcomes
    of all orders of the contacts, and generators for the terms that are linear.

    The set is hull(velocities) + {Σ aᵢ generatorsᵢ: |aᵢ| ≤ 1} + a ball of ``margin`` in the kinetic norm. The law is
    that of :mod:`~hybrid_contact_ros.kernels.impacts.landing_law`, inelastic but for the rebound of ``terms``. It is
    solved at the ends of the duration, at the ends and the middle of k, and at five values of μ between its ends;
    the rebound of each hitting foot is linearised, and so is how it changes with k and μ. Slip, creep, settling,
    bounce and each drive's own k are linear by definition: the least velocity, in the norm of M + diag k, that gives a
    contact the velocity in question while all others keep theirs. Samples of Halm's Algorithm 1, which are drawn
    without these terms, are moved by what the middle of the intervals moves the outcome of all contacts at once.

    Args:
        problem: with v⁻ and, where the duration is on, ``bias_force`` = h − Sᵀτ with the torques that act meanwhile.
        hitting: (m,) bool, contacts that hit; the others stand. By default those hit that approach with a tenth of the
            speed of the fastest, or more.
        driven: (nv,) bool, coordinates with a drive. By default all but the first six, which are a floating base.
        feet: (m,) integers, the foot that each contact is on: contacts of one foot rebound together. By default each is
            a foot of its own.
        samples: of all orders, ≥ 1. step: bound of an impulse increment, in largest impulses of a contact. max_steps,
            seed, directions: as of :func:`~hybrid_contact_ros.impacts.velocity_set.post_impact_set`.

    Returns:
        The set. Its velocities are those of the law, then the samples; those of the law have 0 ``steps``, and impulses
        without those of linear terms. ``lower`` and ``upper`` are bounds of
        the model, its terms in their intervals (:class:`~.landing_bounds.LandingBounds`). The coverage is that of the
        samples.
        With all terms off it is the set of ``post_impact_set`` in steps of ``step`` largest impulses, whose tangents
        point along the slip in space. Where no contact approaches it is v⁻ alone.

    Raises:
        ValueError: an argument out of range or of the wrong size.

    Example:
        A point of 2 kg falls; it keeps a tenth of its speed, or bounces with a fifth of it.

        >>> import numpy as np
        >>> from hybrid_contact_ros import ContactProblem, LandingTerms, landing_set
        >>> falls = ContactProblem(2.0 * np.eye(3), [0, 0, -1.0], [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], [0.5])
        >>> found = landing_set(falls, LandingTerms(rebound_min=-0.1, rebound_max=0.2), samples=8)
        >>> [found.distance([0, 0, up]) < 1e-9 for up in (-0.11, -0.1, 0.2, 0.21)]
        [False, True, True, False]
    """
    m, d, n = problem.tangent_jacobian.shape
    hit = _flags("hitting", hitting, m) if hitting is not None else hits(problem.jacobian(), problem.velocity, d)
    drives = _flags("driven", driven, n) if driven is not None else np.arange(n) >= _FLOATING
    if samples < 1 or max_steps < 1 or not 0.0 < step < math.inf:
        raise ValueError(f"samples ({samples}), max_steps ({max_steps}) and step ({step}) must be positive")
    if not isinstance(samples, (int, np.integer)) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
        raise ValueError(f"samples ({samples!r}) and seed ({seed!r}) must be whole numbers, the seed in [0, 2⁶³)")
    check_directions(directions)
    material = None
    if terms.friction > 0.0:
        ends = (1.0 - terms.friction) * problem.friction, (1.0 + terms.friction) * problem.friction
        material = Material(problem, "inelastic", None, ends, common=True)
    soles = np.arange(m) if feet is None else np.array(feet, dtype=np.intp)
    if soles.shape != (m,):
        raise ValueError(f"feet must be {m} integers, got {soles.shape}")
    landing = Landing(problem, directions, step, max_steps, material, terms, drives, soles)
    rows = problem.jacobian().reshape(m, 1 + d, n)
    landing.prepare(problem.mass, rows, problem.velocity, np.arange(m), seed)
    if landing.status != Status.SOLVED:
        return empty_set(problem, landing.status)
    taken = landing.sample(samples if landing.unit > 0.0 else 1, None, True)
    found = landing.gather(taken)
    size = kinetic_norm(problem.mass, landing.nominal - problem.velocity)
    whole = VelocitySet(
        velocities=found.velocities,
        impulses=found.impulses,
        steps=taken.info[:, STEPS].astype(np.int64),
        terminated=found.terminated,
        lower=found.lower,
        upper=found.upper,
        coverage=found.coverage,
        coverage_radius=found.coverage_radius,
        confidence=CONFIDENCE,
        status=taken.status if found.all_terminated else Status.STEP_LIMIT,
        residual=found.residual,
        mass=problem.mass,
        jump=size,
    )
    if landing.law is None:
        return whole
    if not landing.unit > 0.0:
        return replace(whole, generators=np.zeros((0, n)))
    made = landing.points(problem.mass, problem.bias_force, hit, True)
    count = len(made.points)
    moved = found.velocities + made.offset
    lower, upper = landing.bounds(problem.mass, problem.bias_force, hit, made, found, True)
    return replace(
        whole,
        velocities=np.concatenate((made.points, moved)),
        impulses=np.concatenate((made.impulses.reshape(count, m, 1 + d), found.impulses)),
        steps=np.concatenate((np.zeros(count, dtype=np.int64), whole.steps)),
        terminated=np.concatenate((np.ones(count, dtype=np.bool_), found.terminated)),
        lower=lower,
        upper=upper,
        status=made.status if whole.status == Status.SOLVED else whole.status,
        residual=max(found.residual, made.residual),
        generators=made.generators,
        margin=max(terms.margin, MODEL_ERROR) * size,
    )


def _flags(name: str, values: ArrayLike, size: int) -> NDArray[np.bool_]:
    flags = np.array(values)
    if flags.shape != (size,) or flags.dtype != np.bool_:
        raise ValueError(f"{name} must be {size} booleans, got {flags.dtype} of shape {flags.shape}")
    return flags
