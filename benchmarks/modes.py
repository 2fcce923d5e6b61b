"""Force-acceleration modes, stability flags and rollouts, as the estimator calls them, by number of contacts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.estimation.memory import lists_out
from hybrid_contact_ros.kernels.estimation.rollout import rollout
from hybrid_contact_ros.kernels.modes.records import mode_scratch
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
from hybrid_contact_ros.modes.workspace import REAL_TIME_STEPS, TOLERANCE, ModeWorkspace
from hybrid_contact_ros.stability.workspace import StabilityWorkspace

PROBLEMS = 1000
STATES = 50
PASSES = 4
"""Of which the best counts for each problem: p99 is of problems, not of what else the machine does."""
TANGENTS = 2


def legged(rng: np.random.Generator, contacts: int) -> ContactProblem:
    """A body on legs of three joints, each foot loaded inside or a little outside its friction cone."""
    nv = 6 + 3 * contacts
    root = rng.normal(size=(nv, nv))
    mass = 0.02 * root @ root.T + np.diag(np.r_[np.full(3, 15.0), np.full(3, 0.5), np.full(nv - 6, 0.05)])
    rows = np.zeros((contacts, 3, nv))
    for i in range(contacts):
        x, y, z = rng.uniform(-0.4, 0.4, 3) - (0.0, 0.0, 0.3)
        lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        rows[i, :, :6] = np.hstack((np.eye(3), lever))[[2, 0, 1]]
        rows[i, :, 6 + 3 * i : 9 + 3 * i] = rng.normal(scale=0.3, size=(3, 3))
    loads = np.zeros((contacts, 3))
    loads[:, 0] = rng.uniform(-10.0, 80.0, contacts)
    loads[:, 1:] = rng.normal(scale=0.35, size=(contacts, 2)) * np.abs(loads[:, :1])
    bias = np.einsum("ijk,ij->k", rows, loads) + rng.normal(scale=0.5, size=nv)
    drift = rng.normal(scale=0.1, size=(contacts, 3))
    return ContactProblem(
        mass, np.zeros(nv), rows[:, 0], rows[:, 1:], np.full(contacts, 0.6), bias_force=bias, jacobian_drift=drift
    )


def sole(rng: np.random.Generator, contacts: int) -> ContactProblem:
    """One free body on many points of a flat sole: redundant contacts, singular Delassus matrix."""
    rows = np.zeros((contacts, 3, 6))
    for i in range(contacts):
        angle = 2.0 * np.pi * i / contacts
        x, y, z = 0.1 * np.cos(angle), 0.06 * np.sin(angle), -0.05
        lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        rows[i] = np.hstack((np.eye(3), lever))[[2, 0, 1]]
    bias = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0]) + rng.normal(size=6) * [3.0, 3.0, 2.0, 0.2, 0.2, 0.2]
    mass = np.diag([1.0, 1.0, 1.0, 0.01, 0.012, 0.02])
    return ContactProblem(mass, np.zeros(6), rows[:, 0], rows[:, 1:], np.full(contacts, 0.6), bias_force=bias)


def stream(make: Callable[[np.random.Generator, int], ContactProblem], contacts: int) -> list[ContactProblem]:
    """States one after another: the loads move from one draw to the next in ``STATES`` steps, robot by robot."""
    found = []
    for robot in range(PROBLEMS // STATES):
        first = make(np.random.default_rng(robot), contacts)
        second = make(np.random.default_rng(PROBLEMS + robot), contacts)
        # the second robot's loads on the first one's feet
        change = first.jacobian().T @ np.linalg.lstsq(second.jacobian().T, second.bias_force, rcond=None)[0]
        for step in range(STATES):
            part = step / (STATES - 1)
            found.append(replace(first, bias_force=(1.0 - part) * first.bias_force + part * change))
    return found


def measure(name: str, make: Callable[[np.random.Generator, int], ContactProblem], contacts: int) -> None:
    rng = np.random.default_rng(contacts)
    problems = [make(rng, contacts) for _ in range(PROBLEMS)]
    modes = ModeWorkspace(problems[0].nv, contacts, TANGENTS)
    flags = StabilityWorkspace(contacts, TANGENTS)
    touching = np.ones(contacts, dtype=np.uint8)
    spent = np.full((2, PROBLEMS), np.inf)
    failed = 0
    named = np.zeros(4)
    clock = time.perf_counter_ns
    for _ in range(PASSES):
        failed = 0
        named[:] = 0
        for i, problem in enumerate(problems):
            modes.forget()
            start = clock()
            status, _, _ = modes.solve(problem, touching, 1e-3)
            middle = clock()
            evaluate(flags, problem, touching, modes)
            spent[:, i] = np.minimum(spent[:, i], (middle - start, clock() - middle))
            failed += status != Status.SOLVED
            named += np.bincount(modes.contact_status, minlength=4)
    warm = np.full(PROBLEMS, np.inf)
    states = stream(make, contacts)
    for _ in range(PASSES):
        for i, problem in enumerate(states):
            if i % STATES == 0:
                modes.forget()
            start = clock()
            modes.solve(problem, touching, 1e-3)
            warm[i] = min(warm[i], clock() - start)
    p50, p99 = np.percentile(np.vstack((spent, warm)) / 1000, (50, 99), axis=1)
    share = named[[ContactStatus.OPEN, ContactStatus.STICKING, ContactStatus.SLIPPING]] / named.sum() * 100
    print(
        f"{name:<8}{contacts:>3}{problems[0].nv:>4}  {p50[0]:>8.1f}{p99[0]:>8.1f}  {p50[2]:>8.1f}{p99[2]:>8.1f}"
        f"  {p50[1]:>8.1f}{p99[1]:>8.1f}  {failed:>6}  {share[0]:>5.0f}{share[1]:>6.0f}{share[2]:>6.0f}"
    )


def evaluate(
    flags: StabilityWorkspace, problem: ContactProblem, touching: NDArray[np.uint8], modes: ModeWorkspace
) -> None:
    flags.evaluate(
        problem,
        (problem.jacobian() @ problem.velocity).reshape(flags.contacts, -1),
        touching,
        modes,
        1.0,
        0.2,
        0.1,
        0.1,
        0.03,
    )


def rollouts() -> None:
    """Sequences of the next 50 ms: legs of which half are in the air and come down."""
    print("\nrollout over 50 ms, at most 8 events, half of the legs landing: µs per call, events")
    print(f"{'m':>3}{'p50':>9}{'p99':>9}{'events':>9}")
    activation = ActivationConfig()
    for contacts in (1, 2, 4, 6, 8, 10, 12):
        modes, config, n = ModeWorkspace(6 + 3 * contacts, contacts, TANGENTS), PredictionConfig(), 3 * contacts
        sigmas = np.full(contacts, activation.gap_sigma), np.full(contacts, activation.velocity_sigma)
        closed = (np.arange(contacts) % 2 == 0).astype(np.uint8) if contacts > 1 else np.zeros(1, dtype=np.uint8)
        kind, times = np.zeros(contacts, dtype=np.uint8), np.full((contacts, 3), np.nan)
        scratch = (
            *mode_scratch(n), *np.zeros((4, contacts), np.uint8), np.zeros(contacts, np.int64),
            np.zeros((contacts, TANGENTS)), np.zeros(contacts), *np.zeros((4, n)),
        )  # fmt: skip
        lists = lists_out(contacts, config.rollout_events)
        spent, events = np.full(PROBLEMS, np.inf), 0
        for _ in range(PASSES):
            rng, events = np.random.default_rng(contacts), 0
            for i in range(PROBLEMS):
                modes.forget()
                modes.solve(legged(rng, contacts), closed, 1e-3)
                gap = np.where(closed, 0.0, rng.uniform(0.001, 0.02, contacts))
                velocity = np.zeros((contacts, 1 + TANGENTS))
                velocity[closed == 0, 0] = -rng.uniform(0.2, 1.0, contacts)[closed == 0]
                start = time.perf_counter_ns()
                count, _ = rollout(
                    config.bound_sigmas, *sigmas, activation.acceleration_sigma, TANGENTS, REAL_TIME_STEPS // 5,
                    config.rollout, activation.slip_on, TOLERANCE, modes.delassus, modes.free, np.full(contacts, 0.6),
                    np.zeros(contacts), gap, velocity.reshape(-1), closed, kind, times, *scratch, *lists[:4],
                )  # fmt: skip
                spent[i] = min(spent[i], (time.perf_counter_ns() - start) / 1e3)
                events += count
        p50, p99 = np.percentile(spent, (50, 99))
        print(f"{contacts:>3}{p50:>9.1f}{p99:>9.1f}{events / PROBLEMS:>9.1f}")


def main() -> None:
    print(f"µs per call, {PROBLEMS} problems in space with stick and slip, single thread")
    print(f"{'':<15}  {'mode, cold':>16}  {'mode, stream':>16}  {'flags':>16}  {'not':>6}  {'open stick slip':>17}")
    print(
        f"{'problem':<8}{'m':>3}{'nv':>4}" + 3 * f"  {'p50':>8}{'p99':>8}" + f"  {'solved':>6}  {'% of contacts':>17}"
    )
    for contacts in (1, 2, 3, 4, 6, 8, 10, 12):
        measure("legged", legged, contacts)
    for contacts in (3, 4, 8):
        measure("sole", sole, contacts)
    rollouts()
    print("\nms per call: force-acceleration and impulse-velocity, all modes and one")
    force_acceleration_mode(legged(np.random.default_rng(0), 1), (0,), enumerate_all=True)  # compiles
    print(f"{'m':>3}{'FA, 3^m modes':>15}{'one':>8}{'IV, 2^m modes':>15}{'one':>8}")
    for contacts in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 20):
        problem = legged(np.random.default_rng(0), contacts)
        moving = problem.with_velocity(np.random.default_rng(1).normal(size=problem.nv))
        every = range(contacts)
        calls: list[Callable[[], object] | None] = [
            (lambda p=problem, c=every: force_acceleration_mode(p, c, enumerate_all=True)) if contacts <= 8 else None,
            lambda p=problem, c=every: force_acceleration_mode(p, c),
            (lambda p=moving, c=every: impulse_velocity_mode(p, c, enumerate_all=True)) if contacts <= 12 else None,
            lambda p=moving, c=every: impulse_velocity_mode(p, c, enumerate_all=False),
        ]
        cells = [f"{best(call):.2f}" if call else "-" for call in calls]
        print(f"{contacts:>3}{cells[0]:>15}{cells[1]:>8}{cells[2]:>15}{cells[3]:>8}", flush=True)


def best(call: Callable[[], object]) -> float:
    """Least time of three calls, ms; of one where that takes long."""
    times: list[float] = []
    while len(times) < 3 and sum(times) < 500.0:
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


if __name__ == "__main__":
    main()
