"""Saltation matrices beside those of hybrid-tools, on its own bouncing ball: a part of ``./run bench sensitivity``.

hybrid-tools (Kong, Payne, Council and Johnson: the salted Kalman filter; ``benchmarks/requirements.txt``) is compared
in the matrix of a bounce, and in the covariance that a fall from 2.5 m carries through two bounces, without process
noise: theirs by a prediction of the filter, ours by ``simulate`` and the variational flow. Both must agree to 1e-10 of
the largest entry; times are ratios of thread times, taken in turns.

In hybrid-tools 0.1.0 guards do not end the integration, so that its filter carries the covariance over the whole step
before a bounce, and over the rest of it once more. Its answer with steps of 5 ms is printed as it comes; for the
comparison its guards are told to stop. It takes ∂x(t)/∂x of each flight from a formula that its example gives (I + A t,
which is exact for a ball), and the flight from RK45 at 1e-3; the flow solves the variational equation at 1e-8, along an
execution at 1e-9. Steps of ``simulate`` may be as long as half a second here: gaps are watched within each, and by
default they end after 20 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import sympy
from numpy.typing import NDArray

from benchmarks.sensitivity_clusters import in_turns
from hybrid_contact_ros import Constraint, LagrangianSystem, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse
from hybrid_contact_ros.sensitivity.saltation import saltation
from hybrid_contact_ros.sensitivity.touchdown import touchdown_saltation
from hybrid_contact_ros.simulation.execution import Execution

Array = NDArray[np.float64]
E, G = 0.8, 9.81  # their example's
START, SPREAD, END = np.array([2.5, 0.0]), 0.1 * np.eye(2), 2.5  # m and m/s, covariance, s
SPEEDS = (-0.5, -2.0, -7.0)
EQUAL = 1e-10
LONGEST = 0.5  # s, of a step of simulate
PARAMETERS, NO_INPUT, STEP = np.array([E, G]), np.zeros(1), 0.005


def ours() -> LagrangianSystem:
    """Their ball as a system of this suite."""
    height = sympy.Symbol("q")
    ground = Constraint("ground", height, restitution=E)
    return LagrangianSystem("ball", [height], sympy.Matrix([[1.0]]), G * height, [ground])


def bounce(system: LagrangianSystem, speed: float) -> Array:
    """Ξ of a bounce: impact, its derivative, and the columns of μ, e and the ground's height beside it."""
    course = ImpactCourse(frozenset({0}), bounced=frozenset({0}))
    return touchdown_saltation(system, [0.0], [speed], 0, course=course).required()


def their_bounce(peer: Any, speed: float) -> Array:
    """Ξ by hybrid-tools, from functions that sympy wrote."""
    from hybrid_tools.hybrid_helper_functions import compute_saltation_matrix

    state = np.array([0.0, speed])
    return np.asarray(compute_saltation_matrix(state, NO_INPUT, STEP, PARAMETERS, "I", "J", peer))


def from_their_functions(peer: Any, speed: float) -> Array:
    """Ξ by :func:`saltation` from what their functions return: the same work as theirs."""
    given = np.array([0.0, speed]), NO_INPUT, STEP, PARAMETERS
    reset, guard = peer.resets["I"]["J"], peer.guards["I"]["J"]
    after = reset.r(*given).reshape(2)
    ahead = peer.dynamics["I"].f_cont(*given).reshape(2)
    behind = peer.dynamics["J"].f_cont(after, *given[1:]).reshape(2)
    return saltation(reset.R(*given), guard.G(*given).reshape(2), ahead, behind).required()


def executed(system: LagrangianSystem) -> Execution:
    """The fall with its bounces."""
    return simulate(system, START[:1], START[1:], END, max_step=LONGEST)


def carried(execution: Execution) -> Array:
    """The covariance at END."""
    flow = variational_flow(execution)
    return np.asarray(flow.matrix @ SPREAD @ flow.matrix.T)


def their_carried(peer: Any, step: float) -> Array:
    """The covariance at END by their filter, in predictions of ``step`` s."""
    from hybrid_tools import SKF

    skf = SKF(
        init_state=START.copy(), init_mode="I", init_cov=SPREAD, dt=step, parameters=PARAMETERS, hybrid_system=peer
    )
    for k in range(round(END / step)):
        skf.predict(k * step, NO_INPUT)
    return np.asarray(skf.current_cov)


def stopped(peer: Any) -> Array:
    """The same in one prediction, with guards that end the integration."""
    from hybrid_tools.hybrid_helper_functions import solve_ivp_guard_funcs

    def guards(*given: Any) -> tuple[list[Any], list[str]]:
        found, modes = solve_ivp_guard_funcs(*given)
        for guard in found:
            guard.terminal, guard.direction = True, -1.0
        return found, modes

    with patch("hybrid_tools.skf.solve_ivp_guard_funcs", guards):
        return their_carried(peer, END)


def agree(what: str, found: Array, theirs: Array, must: bool = True) -> None:
    """Print the largest relative difference; where they must agree, a larger one than EQUAL ends the run."""
    off = float(np.abs(found - theirs).max() / np.abs(found).max())
    print(f"  {what}: differ by {off:.1e} of the largest entry")
    if must and not off <= EQUAL:
        raise SystemExit(f"{what}: {found.tolist()} and {theirs.tolist()} differ by more than {EQUAL}")


def report() -> None:
    """Print differences and times."""
    try:
        from hybrid_tools.basic_hybrid_systems import bouncing_ball
    except ImportError as error:
        print(f"left out: {error} (pip install --no-deps -r benchmarks/requirements.txt)")
        return
    peer, system = bouncing_ball(), ours()
    for noise in peer.noises.values():
        noise.W = np.zeros((1, 1))
    for speed in SPEEDS:
        agree(f"bounce at {speed} m/s", bounce(system, speed), their_bounce(peer, speed))
        agree("  from their functions", from_their_functions(peer, speed), their_bounce(peer, speed))
    execution = executed(system)
    agree(f"covariance after {END} s", carried(execution), stopped(peer))
    agree(f"  their filter as it comes, steps of {STEP} s", carried(execution), their_carried(peer, STEP), must=False)
    compare(
        "Ξ of one bounce",
        {
            "hybrid-tools": lambda: their_bounce(peer, -2.0),
            "saltation of their functions": lambda: from_their_functions(peer, -2.0),
            "touchdown_saltation (impact, its derivative, μ, e, height)": lambda: bounce(system, -2.0),
        },
        2000,
    )
    compare(
        "covariance over two bounces",
        {
            "hybrid-tools": lambda: stopped(peer),
            "their filter as it comes": lambda: their_carried(peer, STEP),
            "variational_flow of an execution": lambda: carried(execution),
            "simulate and variational_flow": lambda: carried(executed(system)),
        },
        20,
    )


def compare(what: str, works: dict[str, Callable[[], Any]], rounds: int) -> None:
    """Print times, and how many times as fast as the first one each is."""
    times = in_turns(works, rounds)
    reference = next(iter(times.values()))
    print(f"{what}, µs (times as fast as hybrid-tools):")
    for name, each in times.items():
        print(f"  {name}: {each:.1f} ({reference / each:.2g})")
