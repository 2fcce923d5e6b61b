"""The set of velocities after a simultaneous impact, by sampling (Halm, Algorithms 1 and 2)."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import SEPARATING, Array, ContactSpace
from hybrid_contact_ros.impacts.coverage import CONFIDENCE
from hybrid_contact_ros.impacts.gathering import Gathering
from hybrid_contact_ros.impacts.outcome import VelocitySet
from hybrid_contact_ros.impacts.restitution import Material, Range
from hybrid_contact_ros.impacts.sampler import NO_DRAWS, SamplePlan, Samples, scaled_energy, take_samples
from hybrid_contact_ros.impacts.set_arguments import SOLUTIONS as SOLUTIONS  # as callers find it here
from hybrid_contact_ros.impacts.set_arguments import Density, check_sampling, drawn, given_draws, given_last_step
from hybrid_contact_ros.impacts.simultaneous import outcome_at_once, simultaneous_impact
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.kernels.impacts.records import SEARCHED, SEVERAL, STEPS, UNCERTAIN
from hybrid_contact_ros.kernels.impacts.set_plan import last_cap
from hybrid_contact_ros.mechanics.kinetic_norm import kinetic_norm
from hybrid_contact_ros.mechanics.problem import ContactProblem

_REFERENCE_SEPARATING = 1e-8  # m/s, likewise, of the published implementation
SAMPLING_PART = 0.85
"""of the deadline is for sampling; the rest is for outcomes, bounds and coverage."""


def impulse_scale(problem: ContactProblem) -> float:
    """Largest impulse (N s) that stops a single approaching contact without friction: max −J_n v / (J_n M⁻¹ J_nᵀ).

    It is a natural unit for ``step`` of :func:`post_impact_set`, and 0 if no contact approaches or M is singular. Where
    contacts share a light part, as the corners of a humanoid's foot do, it is the impulse that stops this part alone:
    then the largest impulse of ``simultaneous_impact`` is the better unit, with some ten times fewer increments.
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
    solutions: str = "sampled",
    density: Density | None = None,
    restitution: Range | None = None,
    friction: Range | None = None,
    common_material: bool = True,
    threads: int = 1,
    epsilon: float | None = None,
) -> VelocitySet:
    """Sample the velocities that a simultaneous impact may end with (Halm, Algorithms 1 and 2), with restitution too.

    A sample repeats: draw caps Λ_max uniformly from [0, step]^m; solve the increment LCP (Halm (72)–(75)); go on from
    v'; until no contact approaches (by more than 1e-9 of the fastest contact velocity, each over √G_nn) or
    ``max_steps`` increments were taken. As in line 5 of Algorithm 2, a sample that still approaches then gets one more
    increment with caps ε/(3ψ), by default in the kinetic norm with ε = 5 % of the fastest; for the others that
    increment is zero (Halm, Lemma 8).

    With restitution, what compression leaves in a contact is given back in increments too, in any order and at any
    relative rate, and what that presses together is compressed again, until no contact approaches and nothing is left
    (:mod:`~hybrid_contact_ros.kernels.impacts.restitution`). Kinetic energy never rises, whatever e and μ.

    Args:
        problem: with v⁻ as its velocity; its restitution and friction are used unless given below.
        step: the largest impulse increment of a contact, N s, > 0.
        samples: ≥ 1. max_steps: ≥ 1 (M and N of the algorithm).
        seed: sample i depends on (seed, i) alone, so that a set stopped in time is a prefix of the full one.
        directions: k, even; vertices of the friction polygon (see ``simultaneous_impact``). In space 4 is the cheapest,
            not the most accurate: sliding friction is up to 180°/k off its direction.
        law: "inelastic" (restitution is not used); "stronge": a contact gives back e² of the normal work of its
            compression, which is energetically consistent by itself; "poisson": e of its impulse, cut where kinetic
            energy would rise above that of v⁻.
        deadline_ns: time that this call may take, ns; 0 or None: any. There is one outcome in any case: sample 0 if it
            can be finished 0.3 ms later than that, and otherwise the impact of all contacts at once, which is not a
            sample of Algorithm 1 with this ``step``, but an outcome of the model.
        maximum_impulses: (samples, max_steps, m), N s, replaces the draws, to compare with other implementations
            sample by sample. Then the conventions of the published one hold: a sample ends at min J_n v ≥ −1e-8 m/s,
            and there is no last increment with ε. ``step`` is not used.
        solutions: what to do where an increment may have several solutions (Halm's Assumption 6 fails). "sampled":
            search for the others with a probability that keeps the search cheap (always, up to three contacts in the
            plane or two in space; with more than four contacts in space, not in the first samples: 60 with eight), and
            draw one of all uniformly. "all": do so always, at any cost. "one": take the
            solver's. Where the configuration's matrix shows that solutions are unique there is nothing to search.
        density: p(λ_n) of Algorithm 1, instead of the uniform one: draws numbers in [0, 1], given a generator seeded
            with ``seed`` and the shape (samples, max_steps, m); they are multiplied by ``step``.
        restitution, friction: e and μ in place of the problem's: a number, (m,) numbers, or an interval as a tuple
            (low, high) of these. Each sample draws from the intervals, and their ends come up too.
        common_material: the contacts of a sample stand at the same place in their intervals (one material that is not
            known exactly); otherwise each is drawn by itself.
        threads: share the samples among so many threads; the result is the same. Not together with a deadline.
        epsilon: ε of Algorithm 2 as Halm has it, in the norm ‖v‖₂: the last increment has caps ε/(3ψ) N s with the ψ of
            line 2 (:func:`~.theory.step_response`). Halm wants ε < step. Given, it holds with ``maximum_impulses`` too.

    Returns:
        The set; only its terminated samples are post-impact velocities. It is empty, with status SINGULAR, if M is not
        positive definite. Where an increment was not searched, the solver picks a solution, always the same;
        ``unique``, ``searched`` and ``several`` say how often. Every solution can be drawn; the bounds hold for all of
        them in any case.

    Raises:
        ValueError: if an argument is out of range.

    Example:
        A point mass of 1 kg slides over the ground and falls on it; friction takes 0.3 of the impulse of 1 N s.

        >>> import numpy as np
        >>> from hybrid_contact_ros import ContactProblem, post_impact_set
        >>> up, along = np.array([[0.0, 1.0]]), np.array([[[1.0, 0.0]]])
        >>> falling = ContactProblem(np.eye(2), np.array([0.5, -1.0]), up, along, np.array([0.3]))
        >>> found = post_impact_set(falling, step=0.2, samples=16, max_steps=100)
        >>> found.status.name, bool(found.terminated.all()), found.velocities[:, 0].round(6).min().item()
        ('SOLVED', True, 0.2)
    """
    begin = time.perf_counter_ns()
    check_sampling(samples, max_steps, seed, directions, law, solutions, deadline_ns, threads)
    shape = samples, max_steps, problem.contacts
    draws = given_draws(maximum_impulses, shape, step)
    given, material = problem, None
    if law != "inelastic" or restitution is not None or friction is not None:
        material = Material(problem, law, restitution, friction, common_material)
        problem = material.with_highest_friction(problem)
    space = ContactSpace(problem, directions)
    if space.status != Status.SOLVED:
        return empty_set(problem, space.status)
    plan = plan_samples(problem, space, material, step, max_steps, seed, solutions, draws)
    if epsilon is not None:
        plan = replace(plan, last_step=given_last_step(problem, space, directions, epsilon))
    if density is not None and not draws.size and plan.per_step.any():
        plan = replace(plan, draws=drawn(density, seed, shape) * plan.per_step)
    end_ns = begin + int(SAMPLING_PART * deadline_ns) if deadline_ns else None
    found = collected(problem, plan, take_samples(plan, samples, end_ns, threads))
    together = (
        outcome_at_once(problem, directions, space) if given is problem else simultaneous_impact(given, directions)
    )
    return replace(found, jump=kinetic_norm(problem.mass, together.velocity - problem.velocity))


def plan_samples(
    problem: ContactProblem,
    space: ContactSpace,
    material: Material | None,
    step: float,
    max_steps: int,
    seed: int,
    solutions: str = "sampled",
    draws: Array = NO_DRAWS,
) -> SamplePlan:
    """What the samples have in common, of arguments as of :func:`post_impact_set`.

    Args:
        problem: with the highest friction of ``material``. space: of it; regular.
        draws: in place of random ones, N s, or an empty array.
    """
    m = problem.contacts
    per_step, last_step, separating = np.zeros(m), np.zeros(m), np.full(m, SEPARATING)
    if m and space.speed > 0.0:
        np.multiply(space.scale, step / space.speed, out=per_step)
        if draws.size:  # the conventions of the published implementation
            draws = draws * (space.scale / space.speed)
            separating = _REFERENCE_SEPARATING / (space.speed * space.scale)
        else:
            last_step[:] = last_cap(space.H, problem.friction)
    search = SolutionSearch(space)
    return SamplePlan(
        space=space,
        material=material,
        search=search,
        chance={"sampled": search.chance, "all": 1.0 if search.chance else 0.0, "one": 0.0}[solutions],
        limit=search.whole if solutions == "all" else search.limit,
        seed=seed,
        per_step=per_step,
        last_step=last_step,
        max_steps=max_steps,
        separating=separating,
        draws=draws,
        energy=scaled_energy(problem.mass, problem.velocity, space),
    )


def collected(problem: ContactProblem, plan: SamplePlan, taken: Samples) -> VelocitySet:
    """The set that samples make: velocities and impulses in SI units, bounds, coverage, and what is known of them."""
    material, info = plan.material, taken.info
    found = Gathering(plan.space, problem.friction, material).of(problem.velocity, taken)
    # What is proven holds for any velocities and caps, and so with restitution too, but for one friction only
    proven = plan.search.unique if material is None or material.exact_friction else None
    status = taken.status
    if status == Status.SOLVED and not found.all_terminated:
        status = Status.STEP_LIMIT
    return VelocitySet(
        velocities=found.velocities,
        impulses=found.impulses,
        steps=info[:, STEPS].astype(np.int64),
        terminated=found.terminated,
        lower=found.lower,
        upper=found.upper,
        coverage=found.coverage,
        coverage_radius=found.coverage_radius,
        confidence=CONFIDENCE,
        status=status,
        residual=found.residual,
        unique=_uniqueness(proven, info),
        searched=float(info[:, SEARCHED].sum() / max(info[:, STEPS].sum(), 1.0)),
        several=float(info[:, SEVERAL].sum() / max(info[:, SEARCHED].sum(), 1.0)),
        generators=np.empty((0, problem.nv)),
        mass=problem.mass,
    )


def _uniqueness(proven: bool | None, info: Array) -> bool | None:
    """``unique`` of the set, from what is proven for the configuration and what is told of the samples."""
    if info[:, SEVERAL].any():
        return False
    if proven or (info[:, SEARCHED].sum() == info[:, STEPS].sum() and not info[:, UNCERTAIN].any()):
        return True
    return None


def empty_set(problem: ContactProblem, status: Status) -> VelocitySet:
    """The set without samples of a problem whose M is not positive definite."""
    m, d, n = problem.tangent_jacobian.shape
    return VelocitySet(
        velocities=np.empty((0, n)),
        impulses=np.empty((0, m, 1 + d)),
        steps=np.empty(0, dtype=np.int64),
        terminated=np.empty(0, dtype=np.bool_),
        lower=np.full(n, -np.inf),
        upper=np.full(n, np.inf),
        coverage=0.0,
        coverage_radius=0.0,
        confidence=CONFIDENCE,
        status=status,
        residual=0.0,
        generators=np.empty((0, n)),
        mass=problem.mass,
    )
