"""``./run bench zeno``: how early a chatter may be truncated, and how well its end is then known.

The first table has, for each system and tolerance ε = ε_q = ε_v = ε_t, the fastest impact (m/s or rad/s) that may be
truncated by Or's Definition 6, and by ``reliable_truncation`` with interval arithmetic and with samples, and how many
bounces earlier that is. The second is for an impact of 0.01: the uncertainty of the Zeno time over that time, of the
Zeno point over the way and over the change of velocity until then, Or's bound (13) of the Zeno time over its true
length, and the time of a call.
"""

from __future__ import annotations

from math import log
from time import perf_counter

import numpy as np

from hybrid_contact_ros.stability.inclusion import or_ames_zeno_time
from hybrid_contact_ros.stability.interval_ranges import range_finder
from hybrid_contact_ros.stability.neighbourhood import truncation_speed
from hybrid_contact_ros.stability.ranges import bouncing
from hybrid_contact_ros.stability.truncation import Truncation, enclosed, reliable_truncation
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid
from hybrid_contact_ros.systems.lagrangian import LagrangianSystem
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop


class Sampled:
    """A system that shows nothing but its contact problems, so that ranges over it are sampled."""

    def __init__(self, system: LagrangianSystem) -> None:
        self.problem = system.problem


def fastest(system: object, q: np.ndarray, v: np.ndarray, direction: np.ndarray, epsilon: float) -> float:
    """Speed up to which an impact may be truncated, to 1 %."""

    def reliable(speed: float) -> bool:
        return truncated(system, q, v - direction * speed, epsilon).reliable

    low = 1e-9
    while reliable(2.0 * low):
        low *= 2.0
    high = 2.0 * low
    while high > 1.01 * low:
        middle = np.sqrt(low * high)
        low, high = (middle, high) if reliable(middle) else (low, middle)
    return low


def truncated(system: object, q: np.ndarray, v: np.ndarray, epsilon: float) -> Truncation:
    return reliable_truncation(system, q, v, epsilon_q=epsilon, epsilon_v=epsilon, epsilon_t=epsilon)


def main() -> None:
    """Print both tables."""
    places = [
        ("ball in a valley", ball_on_sinusoid(), [-1.0, np.sin(-1.0)], [0.5, 0.5 * np.cos(1.0)]),
        ("ball on a hill", ball_on_sinusoid(), [1.337, np.sin(1.337)], [-0.121, -0.121 * np.cos(1.337)]),
        ("pendulum", pendulum_with_stop(), [-0.7, 0.0], [0.3, 0.0]),
    ]
    print("| system | ε | Definition 6 | intervals | samples | bounces earlier |\n|---|---|---|---|---|---|")
    for name, system, place, rate in places:
        q, v = np.array(place), np.array(rate)
        problem = system.problem(q, v)
        direction, e = bouncing(problem, 0).direction, float(system.restitution[0])
        find = range_finder(system, problem, 0)
        for epsilon in (1e-2, 1e-3, 1e-4):
            paper = truncation_speed(find, q, v, problem.normal_jacobian[0], e, epsilon, epsilon, epsilon)
            ours, sampled = (fastest(s, q, v, direction, epsilon) for s in (system, Sampled(system)))
            earlier = log(ours / paper) / -log(e)
            print(f"| {name} | {epsilon:g} | {paper:.2g} | {ours:.2g} | {sampled:.2g} | {earlier:.1f} |")
    print("\n| system | variant | time | q | v | Or (13) | ms a call |\n|---|---|---|---|---|---|---|")
    for name, system, place, rate in places:
        for variant, asked in (("intervals", system), ("samples", Sampled(system))):
            q = np.array(place)
            v = np.array(rate) - bouncing(system.problem(q, rate), 0).direction * 0.01
            cut = truncated(asked, q, v, 10.0)
            start = perf_counter()
            for _ in range(20):
                truncated(asked, q, v, 10.0)
            cost = (perf_counter() - start) / 20
            low, high = cut.zeno_time
            middle_q, middle_v = cut.q_bounds.mean(axis=0), cut.v_bounds.mean(axis=0)
            spread = [np.linalg.norm(np.ptp(b, axis=0)) for b in (cut.q_bounds, cut.v_bounds)]
            moved = [np.linalg.norm(middle_q - q), np.linalg.norm(middle_v - v)]
            found = enclosed(asked, q, v, system.problem(q, v), 0, [])
            assert not isinstance(found, str)
            paper = or_ames_zeno_time(0.01, 0.5, found.a_min, found.a_max) / (0.5 * (low + high))
            print(
                f"| {name} | {variant} | {(high - low) / low:.2%} | {spread[0] / moved[0]:.2%} | "
                f"{spread[1] / moved[1]:.2%} | {paper:.3f} | {1e3 * cost:.1f} |"
            )


if __name__ == "__main__":
    main()
