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
from hybrid_contact_ros.kernels.impacts.planar_sampling import planar_batch
from hybrid_contact_ros.kernels.impacts.records import SAMPLE_COLUMNS, TERMINATED
from hybrid_contact_ros.kernels.impacts.restitution import restitution_batch
from hybrid_contact_ros.kernels.impacts.sampling import sample_batch

# What a node of a search takes, before it was measured: the larger of a fixed time and one that grows with p²
_NODE_NS, _NODE_NS_PER_SQUARE = 200.0, 4.0
_MEASURING_PART = 0.25  # of the time until the deadline: budget of the first call, by which work is measured
_TELLING = 100.0  # units of work of a call that tells how fast they are done
_FORGET = 0.9  # of the slowest rate of work until now, with every measurement
_SAFE_PART = 0.9  # of the time that is left: budget of the following calls
_GRACE_NS = 300_000  # after the deadline, for the first sample
_AT_ONCE_STEPS = 6  # increments of the sample that stands in for all others
_FREE_CAP = 100.0  # scaled: caps of that sample, which impulses do not reach
NO_DRAWS = np.zeros((0, 0, 0))
"""In place of given caps, where they are drawn."""


@dataclass(slots=True, eq=False)
class SamplePlan:
    """What all samples of a set have in common, scaled (:mod:`~hybrid_contact_ros.kernels.impacts.friction_axes`).

    Attributes:
        space: of the problem, with the largest friction of ``material``.
        material: None for the inelastic law with known friction.
        search: for other solutions. chance: the probability with which an increment is searched. limit: units of
            work of one search.
        seed: of the draws.
        per_step (m,), last_step (m,), max_steps, separating (m,), draws: as of
            :class:`~hybrid_contact_ros.kernels.impacts.records.Walk`.
        energy: twice the kinetic energy before the impact, scaled, where it is known; it makes searches shorter.
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
    energy: float = np.inf


def scaled_energy(mass: Array, velocity: Array, space: ContactSpace) -> float:
    """``energy`` of a plan: v⁻ᵀ M v⁻ in the units of scaled impulses times scaled velocities; used in the plane."""
    if space.g != 1 or not space.speed > 0.0:
        return float(np.inf)
    return float(velocity @ mass @ velocity) / space.speed**2


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples that were taken.

    Attributes:
        z: (≥ n, p), scaled total impulses.
        info: (n, 7), with the columns STEPS … of :mod:`~hybrid_contact_ros.kernels.impacts.records`.
        status: SOLVED; DEADLINE where not all samples could be taken; or what became of an increment.
    """

    z: Array
    info: Array
    status: Status


def take_samples(
    plan: SamplePlan,
    samples: int,
    end_ns: int | None,
    threads: int,
    sampled: bool = False,
    sampler: Sampler | None = None,
) -> Samples:
    """Take all samples, or those that can be taken until the clock (``perf_counter_ns``) shows ``end_ns``.

    If not even sample 0 can, the impact of all contacts at once stands in for it; with ``sampled`` sample 0 is taken
    nevertheless. ``sampler``: one of this plan, for so many samples or more, whose arrays are used again.
    """
    if sampler is None:
        sampler = Sampler.of(plan, samples)
    z, info = sampler.z, sampler.info
    done, in_time = samples, True
    if end_ns is not None:
        worst, done = sampler.run_until(samples, end_ns)
        in_time = done == samples
        if done == 0:
            worst, done = sampler.run(0, 1, np.inf)[0] if sampled else run_at_once(plan, z, info), 1
    elif threads > 1:
        worst = run_shared(plan, samples, threads, z, info)
    else:
        worst, _, _ = sampler.run(0, samples, np.inf)
    status = Status(worst)
    if status == Status.SOLVED and not in_time:
        status = Status.DEADLINE
    return Samples(z, info[:done], status)


class Sampler:
    """One thread's samples of a plan, with the scratch for them.

    The results go to ``z`` (samples, p) and ``info`` (samples, 7). With ``own_search`` the scratch of the search for
    other solutions is not shared with other samplers of the plan.
    """

    def __init__(self, plan: SamplePlan, z: Array, info: Array, own_search: bool = False) -> None:
        space, p, m = plan.space, plan.space.w.size, plan.space.c.size
        search = plan.search.copy() if own_search else plan.search
        self._walk = (plan.per_step, plan.last_step, plan.max_steps, plan.separating, plan.draws)
        self._scratch = (np.empty_like(space.tableau), np.empty_like(space.lines))
        self._found = (search.T, search.A, search.states, search.modes, search.z, search.after)
        self._cap, self._vectors, self._contacts = np.empty(m), np.empty((5, p)), np.empty((9, m))
        self.z, self.info = self._out = (z, info)
        self._plan = plan
        # ns a unit of work takes: a guess until it was measured
        self._rate = max(_NODE_NS, _NODE_NS_PER_SQUARE * p**2) / effort(space.g, p)
        self._measured = False
        self._planar = None
        if search.planar is not None and (plan.material is None or plan.material.same_as_inelastic):
            self._planar = (*search.planar.pieces, *search.planar.tree, search.z, search.after)

    @classmethod
    def of(cls, plan: SamplePlan, samples: int) -> Sampler:
        """A sampler with arrays of its own for so many samples."""
        return cls(plan, np.empty((samples, plan.space.w.size)), np.empty((samples, SAMPLE_COLUMNS)))

    def run(self, first: int, count: int, budget: float) -> tuple[int, int, float]:
        """Take samples first … first + count − 1, within a budget of work.

        Returns:
            (worst status, first sample that was not finished, work).
        """
        plan, space, material = self._plan, self._plan.space, self._plan.material
        limits = (plan.chance, plan.limit, budget)
        if self._planar is not None:
            return planar_batch(
                first,
                count,
                plan.seed,
                *(space.H, space.w, space.c, plan.energy),
                *self._walk,
                *limits,
                *self._scratch,
                self._contacts[:2],
                self._vectors[:4],
                *self._planar,
                *self._out,
            )
        if material is None:
            return sample_batch(
                first,
                count,
                plan.seed,
                *(space.g, space.H, space.w, space.c),
                *self._walk,
                *limits,
                *self._scratch,
                self._cap,
                self._vectors[:3],
                *self._found,
                *self._out,
            )
        return restitution_batch(
            first,
            count,
            plan.seed,
            LAWS[material.law],
            *(space.g, space.H, space.w),
            *(material.common, material.e_low, material.e_high, space.c * material.friction_ratio, space.c),
            *self._walk,
            *limits,
            *self._scratch,
            self._contacts,
            self._vectors,
            *self._found,
            *self._out,
        )

    def run_until(self, samples: int, end_ns: int) -> tuple[int, int]:
        """Take as many of the first ``samples`` as can be finished before the clock (``perf_counter_ns``) shows
        ``end_ns``, and none if the first would take until 0.3 ms after that.

        Returns:
            (worst status, samples).
        """
        done, worst = 0, int(Status.SOLVED)
        part = _SAFE_PART if self._measured else _MEASURING_PART
        budget = max(part * (end_ns - time.perf_counter_ns()), _GRACE_NS) / self._rate
        while True:
            started = time.perf_counter_ns()
            code, reached, spent = self.run(done, samples - done, budget)
            made, done = reached - done, reached
            now = time.perf_counter_ns()
            self._learn(now - started, spent)
            if done == 0:  # begin again if the time allows clearly more work than was not enough
                budget = _SAFE_PART * (end_ns + _GRACE_NS - now) * spent / max(now - started, 1)
                if budget < 1.5 * spent:
                    return worst, 0
                continue
            worst = code if code != Status.SOLVED else worst
            if done == samples:
                return worst, done
            budget = _SAFE_PART * (end_ns - now) * spent / max(now - started, 1)
            if budget < spent / max(made, 1):  # not enough for one more
                return worst, done

    def _learn(self, ns: int, spent: float) -> None:
        """Note how long work took: the next set of a sampler that is used again begins with the slowest rate of late,
        and mostly needs one call."""
        if spent < _TELLING:
            return
        rate = ns / spent
        self._rate = max(rate, _FORGET * self._rate) if self._measured else rate
        self._measured = True


def run_at_once(plan: SamplePlan, z: Array, info: Array) -> int:
    """Let the impact of all contacts at once, without caps, and their restitution likewise, stand in for sample 0.

    It is the sample that takes fewest increments. Where they take long, only the first one is taken. Returns the status
    of the sample.
    """
    draws = np.full((1, _AT_ONCE_STEPS, plan.space.c.size), _FREE_CAP)
    once = replace(plan, draws=draws, last_step=np.zeros_like(plan.last_step), chance=0.0)
    status, begin = int(Status.SOLVED), time.perf_counter_ns()
    for steps in (1, _AT_ONCE_STEPS):
        status = Sampler(replace(once, max_steps=steps), z, info).run(0, 1, np.inf)[0]
        if info[0, TERMINATED] > 0.0 or time.perf_counter_ns() - begin > _GRACE_NS:
            break
    return status


def run_shared(plan: SamplePlan, samples: int, threads: int, z: Array, info: Array) -> int:
    """Take all samples in ``threads`` threads (the kernels release the GIL); returns the worst status.

    Each sample depends on its index alone, so that the results do not depend on ``threads``.
    """
    ends = [samples * k // threads for k in range(threads + 1)]
    jobs = [(Sampler(plan, z, info, own_search=True), a, b) for a, b in pairwise(ends) if b > a]
    with ThreadPoolExecutor(len(jobs)) as pool:
        codes = [code for code, _, _ in pool.map(lambda job: job[0].run(job[1], job[2] - job[1], np.inf), jobs)]
    return next((code for code in codes if code != Status.SOLVED), int(Status.SOLVED))
