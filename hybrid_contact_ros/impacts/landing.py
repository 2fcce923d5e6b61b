"""Sets of one choice of contacts, state after state: arrays laid out once, and three compiled calls a set."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import SEPARATING, Array, ContactSpace
from hybrid_contact_ros.impacts.gathering import Gathered, Gathering
from hybrid_contact_ros.impacts.landing_bounds import LandingBounds, with_orders
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.impacts.landing_set import LandingLaw, LandingPoints
from hybrid_contact_ros.impacts.restitution import Material
from hybrid_contact_ros.impacts.sampler import NO_DRAWS, SamplePlan, Sampler, Samples, scaled_energy, take_samples
from hybrid_contact_ros.impacts.solution_search import PlanarScratch, SolutionSearch
from hybrid_contact_ros.kernels.impacts.set_plan import plan_set
from hybrid_contact_ros.mechanics.problem import ContactProblem


class Landing:
    """The samples of impacts at the same contacts. One thread at a time; each impact overwrites the one before.

    Args:
        problem: the contacts that take part, with their friction and restitution; its numbers are not used.
        directions: vertices of the friction polygon. step: bound of an impulse increment, in units of the largest
            impulse of a contact. max_steps: as of :func:`~hybrid_contact_ros.impacts.velocity_set.post_impact_set`.
        material: None for the inelastic law with known friction.
        terms, driven, feet: what a landing adds to the impact, which coordinates (n,) have a drive, and names (m,) of
            the feet (:class:`~hybrid_contact_ros.impacts.landing_set.LandingLaw`); None: nothing, none, each contact.

    Attributes:
        space, search, plan: of the impact that was planned last.
        status: SOLVED, or SINGULAR where its M is not positive definite; then there is nothing to sample.
        unit: the largest impulse (N s) that a contact takes; 0 where none approaches.
        rows: J (m (1 + d), n) of the contacts, tangents along the slip.
        nominal: v⁺ (n,) of all contacts at once, new for every impact, with nominal_status and nominal_residual.
        law: of the terms; None where they are off.
        sampling: ns that the last samples took, and how many they were.
    """

    def __init__(
        self,
        problem: ContactProblem,
        directions: int,
        step: float,
        max_steps: int,
        material: Material | None,
        terms: LandingTerms | None = None,
        driven: NDArray[np.bool_] | None = None,
        feet: NDArray[np.intp] | None = None,
    ) -> None:
        m, d, n = problem.tangent_jacobian.shape
        self._friction = problem.friction.copy()
        self._highest = self._friction if material is None else material.mu_high.copy()
        self.space = space = ContactSpace.blank(m, d, n, directions)
        self.search = SolutionSearch.blank(space, self._highest > 0.0)
        r, p = m * (1 + d), space.w.size
        self._settings = directions, float(step), self.search.pieces, self.search.modes_for_fold
        self.rows = np.empty((r, n))
        self._scratch = (
            space.tableau,
            space.lines,
            self.rows,
            np.empty((3, max(p, r))),
            np.empty((m, 1 + d)),
            self.search.T,
            np.empty((3, p, p)),
            self.search.states,
        )
        self.plan = SamplePlan(
            space=space,
            material=material,
            search=self.search,
            chance=0.0,
            limit=self.search.limit,
            seed=0,
            per_step=np.zeros(m),
            last_step=np.zeros(m),
            max_steps=max_steps,
            separating=np.full(m, SEPARATING),
            draws=NO_DRAWS,
        )
        self._sampler: Sampler | None = None
        self._gathering = Gathering(space, self._highest, material)
        self.status, self.unit = Status.SINGULAR, 0.0
        self.nominal, self.nominal_status, self.nominal_residual = np.zeros(n), Status.SINGULAR, 0.0
        self._velocity = np.zeros(n)
        self.sampling = 0, 0
        self.law: LandingLaw | None = None
        self._bounds: LandingBounds | None = None
        if terms is not None and not terms.off:
            none = np.zeros(m)
            bouncing = (none, none) if material is None else (material.e_low, material.e_high)
            drives = np.zeros(n, dtype=np.bool_) if driven is None else driven
            self.law = LandingLaw(terms, d, n, self._friction, bouncing, drives, feet)
            self._bounds = LandingBounds(self.law, self._friction, drives)

    def prepare(self, mass: Array, rows: Array, velocity: Array, contacts: NDArray[np.int64], seed: int) -> None:
        """Plan the samples of an impact.

        Args:
            mass: M (n, n). rows: J (any, 1 + d, n), normal first. velocity: v⁻ (n,), which is kept.
            contacts: (m,), their places in ``rows``. seed: of the draws.
        """
        space, plan = self.space, self.plan
        self._velocity, self.nominal = velocity, np.empty(velocity.size)
        status, nominal, self.nominal_residual, space.speed, self.unit, unique, folds = plan_set(
            *self._settings,
            contacts,
            self._friction,
            self._highest,
            mass,
            rows,
            velocity,
            *space.response,
            *space.axes,
            *self._scratch,
            plan.per_step,
            plan.last_step,
            self.nominal,
        )
        self.status = space.status = Status(status)
        self.nominal_status = Status(nominal)
        self.search.judge(unique, folds)
        plan.chance, plan.seed = self.search.chance, seed
        if self.search.planar is not None:  # it keeps maps of this configuration
            self.search.planar, self._sampler = PlanarScratch(self._friction.size), None
            plan.energy = scaled_energy(mass, velocity, space)

    def sample(self, samples: int, end_ns: int | None, sampled: bool) -> Samples:
        """Take samples of the impact that was planned; arguments as of
        :func:`~hybrid_contact_ros.impacts.sampler.take_samples`. The next call overwrites them."""
        if self._sampler is None or len(self._sampler.info) < samples:
            self._sampler = Sampler.of(self.plan, samples)
        begin = time.perf_counter_ns()
        taken = take_samples(self.plan, samples, end_ns, 1, sampled, self._sampler)
        self.sampling = time.perf_counter_ns() - begin, len(taken.info)
        return taken

    def points(
        self, mass: Array, bias: Array, hitting: NDArray[np.bool_], lasting: bool,
        friction: tuple[Array, Array] | None = None, end_ns: int | None = None,
    ) -> LandingPoints:  # fmt: skip
        """What the terms make of the impact that was planned; arguments as of
        :meth:`~hybrid_contact_ros.impacts.landing_set.LandingLaw.points`. Only with a law, and a regular mass."""
        assert self.law is not None
        return self.law.points(mass, bias, self.rows, self._velocity, hitting, self.nominal, lasting, friction, end_ns)

    def bounds(
        self, mass: Array, bias: Array, hitting: NDArray[np.bool_], made: LandingPoints, found: Gathered, lasting: bool,
        friction: tuple[Array, Array] | None = None, end_ns: int | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Lower and upper bounds (n,) of every outcome of the landing that was planned
        (:class:`~hybrid_contact_ros.impacts.landing_bounds.LandingBounds`): of the law at once with its terms in their
        intervals, and of all orders of impacts as the set has them. Arguments as of :meth:`points`, and what it and
        :meth:`gather` answered."""
        assert self._bounds is not None
        once = self._bounds.of(mass, bias, self.rows, self._velocity, hitting, made, lasting, friction, end_ns)
        return with_orders(once, found, made)

    def gather(self, samples: Samples) -> Gathered:
        """The set that these samples make."""
        return self._gathering.of(self._velocity, samples)
