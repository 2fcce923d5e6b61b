"""Impulse-velocity modes with friction (Johnson (50)): does pivoting find one wherever enumeration does?

``./run bench modes_pivoting [N]`` (default 1000): random problems of 4 to 9 contacts with friction, in the
plane and in space, independent, coupled, and six coordinates for all. Some have no mode: with friction on heavy links
none is promised.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode


def problem(rng: np.random.Generator) -> ContactProblem:
    """Moving contacts with random rows."""
    count, tangents = int(rng.integers(4, 10)), int(rng.integers(1, 3))
    rows = count * (1 + tangents)
    nv = (rows + 3, max(3, rows // 2), 6)[rng.integers(0, 3)]
    root = rng.normal(size=(nv, nv))
    jacobian = rng.normal(size=(count, 1 + tangents, nv))
    mass = root @ root.T / nv + 0.1 * np.eye(nv)
    friction = rng.uniform(0.1, 1.5, count)
    return ContactProblem(mass, rng.normal(size=nv), jacobian[:, 0], jacobian[:, 1:], friction)


def main() -> None:
    """Print how many problems were solved by which method, and the time of each."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    spent, solved, missed, none = [0.0, 0.0], 0, 0, 0
    for seed in range(number):
        made = problem(np.random.default_rng(seed))
        answers = []
        for i, enumerate_all in enumerate((False, True)):
            start = time.perf_counter()
            solution = impulse_velocity_mode(made, range(made.contacts), enumerate_all=enumerate_all)
            answers.append(solution.status is Status.SOLVED)
            spent[i] += time.perf_counter() - start
        solved += answers[0]
        missed += answers[1] and not answers[0]
        none += not answers[1]
    print(f"{number} problems: {solved} solved by pivoting, {missed} by enumeration only, {none} have no mode")
    print("ms a problem: {:.1f} pivoting, {:.1f} enumeration".format(*(1e3 * seconds / number for seconds in spent)))


if __name__ == "__main__":
    main()
