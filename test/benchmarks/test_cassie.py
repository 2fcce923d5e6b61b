"""What of Cassie's landings is explained: exact on landings that are made, and how much of recorded ones."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.landing_sets import cassie


def made(seed: int, stiffness: np.ndarray, doubt: float = 0.0) -> cassie.Jump:
    """A landing of 22 velocities with impulses at feet and rods and springs of a known stiffness; ``doubt``: error of
    the velocity of the base, m/s."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(22, 22))
    M, feet, rods = A @ A.T + 22.0 * np.eye(22), rng.normal(size=(12, 22)), rng.normal(size=(2, 22))
    forces, springs = 50.0 * rng.normal(size=22), np.zeros((22, 2))
    springs[[14, 18], 0], springs[[16, 20], 1] = -rng.random(2), -rng.random(2)
    before, duration = rng.normal(size=22), 0.01
    pushed = np.vstack([feet, rods]).T @ rng.normal(size=14) + duration * (forces + springs @ stiffness)
    after = before + np.linalg.solve(M, pushed)
    after[0] += doubt
    return cassie.Jump(M, feet, rods, before, after, duration, forces, springs)


def test_the_stiffness_of_springs_comes_back_and_leaves_nothing():
    k = np.array([1100.0, 700.0])
    found = [made(seed, k) for seed in range(8)]
    assert cassie.stiffness(found) == pytest.approx(k, rel=1e-6)
    for jump in found:
        rows = np.vstack([jump.feet, jump.rods])
        assert cassie.unexplained(jump, rows, jump.forces + jump.springs @ k) < 1e-9
        assert cassie.unexplained(jump, rows, jump.forces) > 1e-3


def test_an_error_of_the_base_is_left_unless_the_base_is_not_believed():
    k = np.array([1100.0, 700.0])
    jump = made(0, k, doubt=0.5)
    rows, forces = np.vstack([jump.feet, jump.rods]), jump.forces + jump.springs @ k
    assert cassie.unexplained(jump, rows, forces) > 0.01
    assert cassie.unexplained(jump, rows, forces, slice(0, 6)) < 1e-9


def test_rods_and_identified_springs_explain_a_third_more_of_cassies_landings(shared):
    """Than gravity, motors and rotors alone; what is left is a quarter, and says so."""
    if not (shared / "data" / "cassie_jump").is_dir():
        pytest.skip("no landings of Cassie in the shared data")
    found = cassie.jumps(shared=shared)
    halves = cassie.stiffness(found[::2]), cassie.stiffness(found[1::2])
    left: dict[str, list[float]] = {"none": [], "springs": [], "pelvis": []}
    for i, jump in enumerate(found):
        rows = np.vstack([jump.feet, jump.rods])
        forces = jump.forces + jump.springs @ halves[1 - i % 2]  # of the others
        left["none"].append(cassie.unexplained(jump, rows, jump.forces))
        left["springs"].append(cassie.unexplained(jump, rows, forces))
        left["pelvis"].append(cassie.unexplained(jump, rows, forces, slice(0, 6)))
    none, springs, pelvis = (np.median(left[name]) for name in ("none", "springs", "pelvis"))
    assert springs < 0.75 * none and 0.15 < springs < 0.35 and pelvis < 0.7 * springs
