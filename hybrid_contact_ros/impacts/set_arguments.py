"""Arguments of :func:`~.velocity_set.post_impact_set`: checked, and refused with the values that are possible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace, check_directions
from hybrid_contact_ros.impacts.restitution import LAWS
from hybrid_contact_ros.impacts.sampler import NO_DRAWS
from hybrid_contact_ros.mechanics.problem import ContactProblem

SOLUTIONS = ("sampled", "all", "one")
Density = Callable[[np.random.Generator, tuple[int, ...]], ArrayLike]


def check_sampling(
    samples: int,
    max_steps: int,
    seed: int,
    directions: int,
    law: str,
    solutions: str,
    deadline_ns: int | None,
    threads: int,
) -> None:
    """Check the arguments that do not depend on the problem.

    Raises:
        ValueError: one of them is out of its range; the text says which values are.
    """
    check_directions(directions)
    if law not in LAWS:
        raise ValueError(f"law is {law!r}; one of {', '.join(LAWS)} is needed")
    for name, number in (("samples", samples), ("max_steps", max_steps), ("seed", seed)):
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
            raise ValueError(f"{name} is {number!r}; a whole number is needed")
    if samples < 1 or max_steps < 1:
        raise ValueError(f"samples ({samples}) and max_steps ({max_steps}) must be 1 or more")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; it must lie in [0, 2⁶³)")
    if solutions not in SOLUTIONS:
        raise ValueError(f"solutions is {solutions!r}; one of {', '.join(SOLUTIONS)} is needed")
    if deadline_ns is not None and not 0 <= deadline_ns < np.inf:
        raise ValueError(f"deadline_ns is {deadline_ns}; a number of nanoseconds is needed, 0 or None for no deadline")
    if not isinstance(threads, (int, np.integer)) or threads < 1 or (threads > 1 and deadline_ns):
        raise ValueError(f"threads is {threads}; it must be 1 or more, and 1 with a deadline")


def given_draws(maximum_impulses: ArrayLike | None, shape: tuple[int, ...], step: float) -> Array:
    """``maximum_impulses`` of ``shape``, checked; with ``None`` no draws, and ``step`` is checked. N s.

    Raises:
        ValueError: the one that is used has the wrong shape or is out of its range.
    """
    if maximum_impulses is None:
        if not 0.0 < step < np.inf:
            raise ValueError(f"step is {step}; a positive, finite impulse in N s is needed")
        return NO_DRAWS
    draws = np.array(maximum_impulses, dtype=np.float64, order="C")
    if draws.shape != shape:
        raise ValueError(f"maximum_impulses has shape {draws.shape}; (samples, max_steps, m) = {shape} is needed")
    if not (np.isfinite(draws) & (draws >= 0.0)).all():
        raise ValueError("maximum_impulses must be finite and ≥ 0")
    return draws


def drawn(density: Density, seed: int, shape: tuple[int, ...]) -> Array:
    """Numbers in [0, 1] of ``shape`` from the caller's density.

    Raises:
        ValueError: it gives others.
    """
    draws = np.array(density(np.random.default_rng(seed), shape), dtype=np.float64, order="C")
    if draws.shape != shape or not ((draws >= 0.0) & (draws <= 1.0)).all():
        raise ValueError(f"density must give numbers in [0, 1] of shape {shape}")
    return draws


def given_last_step(problem: ContactProblem, space: ContactSpace, directions: int, epsilon: float) -> Array:
    """Caps, scaled, of the increment that ends a sample of Algorithm 2 (line 5), with Halm's own ε and ψ.

    Raises:
        ValueError: ε is not positive and finite.
    """
    from hybrid_contact_ros.impacts.theory import step_response  # here: nodes do without scipy.optimize

    if not 0.0 < epsilon < np.inf:
        raise ValueError(f"epsilon is {epsilon}; a positive, finite number is needed")
    cap = epsilon / (3.0 * step_response(problem, directions))
    return space.scale * (cap / space.speed) if space.speed > 0.0 else np.zeros(space.scale.size)
