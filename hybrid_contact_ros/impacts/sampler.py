"""Runs the samples of a velocity set: in one go, within a deadline, or shared among threads."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.impacts.restitution import LAWS, Material
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.kernels.impacts.increment_modes import effort
from hybrid_contact_ros.kernels.impacts.restitution import restitution_batch
from hybrid_contact_ros.kernels.impacts.sampling import sample_batch

_UNIT_NS, _SQUARE_NS = 200.0, 4.0  # guess of a unit of work, of one node before it was measured: at least, times p²
_FIRST_PART = 0.25  # of the time, in which it is measured
_LATER_PART = 0.9
_GRACE_NS = 300_000  # after the deadline, for the first sample
_AT_ONCE, _FREE = 6, 100.0  # increments of the sample that stands in for all; their caps, scaled: no less than none


@dataclass(frozen=True, slots=True, eq=False)
class SamplePlan:
    """What every sample has in common; scaled quantities (:mod:`~hybrid_contact_ros.kernels.impacts.delassus`).

    Attributes:
        space: with :meth:`Material.most_friction`. material: None for the inelastic law with known friction.
        search: for other solutions. chance: the probability with which an increment is searched. limit: units of
            work of a search.
        per_step, last_step, separating (m,), draws (samples, max_steps, m) or empty: see
            :func:`~hybrid_contact_ros.kernels.impacts.sampling.sample_batch`.
    """

    space: ContactSpace
    material: Material | None
    search: SolutionSearch
    chance: float
    limit: int
    seed: int
    per_step: Array
    last_step: Array
    max_steps: int
    separating: Array
    draws: Array


class Sampler:
    """One thread's samples of a plan, with the scratch for them; results go to z (samples, p) and info (samples, 7)."""

    def __init__(self, plan: SamplePlan, z: Array, info: Array, own_search: bool = False) -> None:
        space, p, m = plan.space, plan.space.w.size, plan.space.c.size
        search = plan.search.copy() if own_search else plan.search
        self._each = (plan.per_step, plan.last_step, plan.max_steps, plan.chance, plan.limit)
        self._rest = (search.T, search.A, search.states, search.modes, search.z, search.after, z, info)
        self._pivoting = (np.empty_like(space.tableau), np.empty_like(space.lines))
        self._cap, self._vectors, self._contacts = np.empty(m), np.empty((5, p)), np.empty((9, m))
        self._plan = plan

    def run(self, first: int, count: int, budget: float) -> tuple[int, int, float]:
        """Samples first … first + count − 1, within a budget of work: (worst status, first one not finished, work)."""
        plan, space, material = self._plan, self._plan.space, self._plan.material
        if material is None:
            return sample_batch(
                space.g,
                first,
                count,
                plan.seed,
                *self._each,
                budget,
                space.H,
                space.w,
                space.c,
                plan.separating,
                plan.draws,
                *self._pivoting,
                self._cap,
                self._vectors[:3],
                *self._rest,
            )
        return restitution_batch(
            LAWS[material.law],
            space.g,
            first,
            count,
            plan.seed,
            material.common,
            *self._each,
            budget,
            space.H,
            space.w,
            material.e_low,
            material.e_high,
            space.c * material.least_friction,
            space.c,
            plan.separating,
            plan.draws,
            *self._pivoting,
            self._contacts,
            self._vectors,
            *self._rest,
        )

    def run_until(self, samples: int, end_ns: int) -> tuple[int, int]:
        """As many of the first ``samples`` as can be finished before the clock (``perf_counter_ns``) shows ``end_ns``,
        and none if the first would take until 0.3 ms after that: (worst status, samples)."""
        done, worst = 0, int(Status.SOLVED)
        space = self._plan.space
        guess = max(_UNIT_NS, _SQUARE_NS * space.w.size**2) / effort(space.g, space.w.size)
        budget = max(_FIRST_PART * (end_ns - time.perf_counter_ns()), _GRACE_NS) / guess
        while True:
            started = time.perf_counter_ns()
            code, reached, spent = self.run(done, samples - done, budget)
            made, done = reached - done, reached
            now = time.perf_counter_ns()
            if done == 0:  # begin again if the time allows more than what was not enough
                budget = _LATER_PART * (end_ns + _GRACE_NS - now) * spent / max(now - started, 1)
                if budget < 1.5 * spent:
                    return worst, 0
                continue
            worst = code if code != Status.SOLVED else worst
            if done == samples:
                return worst, done
            budget = _LATER_PART * (end_ns - now) * spent / max(now - started, 1)
            if budget < spent / max(made, 1):  # not enough for one more
                return worst, done


def run_at_once(plan: SamplePlan, z: Array, info: Array) -> int:
    """In place of sample 0, the impact of all contacts at once, without caps, and their restitution likewise: the
    sample that takes fewest increments. Only the first of them if that takes long. Returns the sample's status."""
    draws = np.full((1, _AT_ONCE, plan.space.c.size), _FREE)
    once = replace(plan, draws=draws, last_step=np.zeros_like(plan.last_step), chance=0.0)
    status, begin = int(Status.SOLVED), time.perf_counter_ns()
    for steps in (1, _AT_ONCE):
        status = Sampler(replace(once, max_steps=steps), z, info).run(0, 1, np.inf)[0]
        if info[0, 1] > 0.0 or time.perf_counter_ns() - begin > _GRACE_NS:
            break
    return status


def run_shared(plan: SamplePlan, samples: int, threads: int, z: Array, info: Array) -> int:
    """All samples, in ``threads`` threads (the kernels release the GIL); returns the worst status.

    Each sample depends on its index alone, so that the results do not depend on ``threads``.
    """
    ends = [samples * k // threads for k in range(threads + 1)]
    jobs = [(Sampler(plan, z, info, own_search=True), a, b) for a, b in pairwise(ends) if b > a]
    with ThreadPoolExecutor(len(jobs)) as pool:
        codes = [code for code, _, _ in pool.map(lambda job: job[0].run(job[1], job[2] - job[1], np.inf), jobs)]
    return next((code for code in codes if code != Status.SOLVED), int(Status.SOLVED))
