"""``./run bench sensitivity_filter [RUNS [NAME ...]]``: covariances through landings of the demo's Go2, held against
runs of ``simulate`` and of MuJoCo.

A filter carries mean and covariance from a start in the air past the touchdowns (``salted_update``). Starts are drawn
from that covariance and followed, and NEES says whether the errors are those that the filter claims.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import landing_block
from benchmarks.hop_landings import OPTIONS, SIGMA, Landing, hop, landing, two_feet
from hybrid_contact_ros import ExecutionEventKind, RobotSystem, simulate, touchdown_words
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.consistency import consistency
from hybrid_contact_ros.sensitivity.salted import SaltedBranch, merged_branches, salted_branches, salted_update

Array = NDArray[np.float64]
TOUCHDOWN = ExecutionEventKind.TOUCHDOWN
PARTS = 1e-6, 1e-3, 1e-1  # of the largest standard deviation, in units of those at the start; below the first is null
SETTLED = 5e-3  # s after a touchdown, from when on MuJoCo's soft contacts are compared


class Belief(NamedTuple):
    """A filter at the end of a landing."""

    name: str
    q: Array
    v: Array
    covariance: Array


def held(system: RobotSystem, q: Array, v: Array, feet: Iterable[int]) -> tuple[Array, Array]:
    """The state with the gaps of these feet closed, and those at rest held: a mean is in the contact's tangent space
    and misses the contact itself by the square of the deviation."""
    feet = sorted(feet)
    for _ in range(6):
        problem = system.problem(q, v)
        lift = np.linalg.solve(problem.mass, problem.normal_jacobian[feet].T)
        q = system.integrate(q, -lift @ np.linalg.solve(problem.normal_jacobian[feet] @ lift, problem.gap[feet]))
    problem = system.problem(q, v)
    slips = {i: float(np.linalg.norm(problem.tangent_jacobian[i] @ v)) for i in feet}
    still = [problem.normal_jacobian[feet], *(problem.tangent_jacobian[i] for i in feet if slips[i] < 1e-4)]
    rows = np.vstack(still)
    lift = np.linalg.solve(problem.mass, rows.T)
    return q, v - lift @ np.linalg.solve(rows @ lift, rows @ v)


def carried(case: Landing, touch: float, q: Array, v: Array, feet: Iterable[int]) -> tuple[Array, Array, Array]:
    """(q, v) at the end from the touchdown on, and ∂x(end)/∂x(touch)."""
    start = held(case.system, q, v, feet)
    after = simulate(case.system, *start, case.duration, t_start=touch, **OPTIONS)
    flow = variational_flow(after)
    if flow.inadmissible is not None:
        raise SystemExit(f"no derivative after the touchdown: {flow.inadmissible.why}")
    return after.q[-1], after.v[-1], flow.matrix


def single(case: Landing, scale: float) -> list[Belief]:
    """Filters through one touchdown: salted, and one that ignores the jump."""
    nominal = case.run(np.zeros(36))
    flow, event = variational_flow(nominal), nominal.events[0]
    before = flow.at(np.nextafter(event.time, 0.0))[0]
    prior = before @ np.diag((scale * SIGMA) ** 2) @ before.T
    mean, covariance = salted_update((event.q, event.velocity_before), prior, flow.saltations[0])
    q, v, after = carried(case, event.time, *mean, event.contacts)
    return [Belief("salted", q, v, after @ covariance @ after.T), Belief("ignoring", q, v, after @ prior @ after.T)]


def cluster(case: Landing, scale: float) -> list[Belief]:
    """Filters through two touchdowns: the mixture over words, the likeliest word alone, one that ignores the jumps."""
    nominal = case.run(np.zeros(36))
    event = nominal.events[0]
    before = variational_flow(nominal).at(np.nextafter(event.time, 0.0))[0]
    prior = before @ np.diag((scale * SIGMA) ** 2) @ before.T
    mean = event.q, event.velocity_before
    words = touchdown_words(case.system, *mean, [0, 1])
    found, afters = [], []
    branches = salted_branches(mean, prior, words, system=case.system)
    for branch in branches:
        print(f"    word {branch.word}: probability {branch.probability:.3f}")
        q, v, after = carried(case, event.time, *branch.mean, (0, 1))
        found.append(SaltedBranch(branch.word, branch.probability, (q, v), after @ branch.covariance @ after.T))
        afters.append(after)
    whole = merged_branches(tuple(found), system=case.system)
    best = int(np.argmax([branch.probability for branch in branches]))
    (word,) = (word for word in words.words if word.word == branches[best].word)
    alone = afters[best] @ word.saltations[1].required() @ word.saltations[0].required()
    q, v, _ = carried(case, event.time, words.q, word.velocity, (0, 1))
    return [
        Belief("all words", *whole.mean, whole.covariance),
        Belief("one word", q, v, alone @ prior @ alone.T),
        Belief("ignoring", nominal.q[-1], nominal.v[-1], afters[best] @ prior @ afters[best].T),
    ]


def errors(system: RobotSystem, belief: Belief, ends: list[tuple[Array, Array]]) -> Array:
    """(N, 36), of ends beside the mean."""
    return np.array([np.r_[system.difference(belief.q, q), v - belief.v] for q, v in ends])


def compare(
    engine: str, system: RobotSystem, beliefs: list[Belief], ends: list[tuple[Array, Array]], scale: float
) -> None:
    """Print a row for each filter: on the range of the first one's covariance, and on its well-conditioned part."""
    units = scale * SIGMA
    values, axes = np.linalg.eigh(beliefs[0].covariance / np.outer(units, units))
    deviations = np.sqrt(values.clip(0.0)) / np.sqrt(values[-1])
    null = axes[:, deviations <= PARTS[0]].T / units
    for belief in beliefs:
        off = errors(system, belief, ends)
        row = f"    {engine:12s} {belief.name:10s}"
        for least in PARTS:
            along = axes[:, deviations > least].T / units
            found = consistency(off @ along.T, along @ belief.covariance @ along.T, smallest=1e-9)
            low, high = found.interval()
            row += f"| dof {found.rank}: {found.ratio:9.3g} ({low:.3f} … {high:.3f}), "
            row += f"{100 * found.inside():3.0f} % inside "
        if len(null):
            claimed = np.sqrt(np.diag(null @ belief.covariance @ null.T).clip(0.0)).max()
            seen = np.sqrt(((off @ null.T) ** 2).mean(axis=0)).max()
            row += f"| {len(null)} null: claimed {claimed:.1e}, seen {seen:.1e}"
        print(row, flush=True)


def measure(name: str, case: Landing, scale: float, runs: int, settled: bool) -> None:
    """One table: filters beside ``runs`` of simulate and, where contacts have settled at the end, of MuJoCo."""
    start = time.perf_counter()
    print(f"{name}, {scale:g} times the deviations, until {case.duration:.4f} s:", flush=True)
    beliefs = (cluster if name == "two feet" else single)(case, scale)
    rng = np.random.default_rng(12)
    drawn = [scale * SIGMA * rng.normal(size=36) for _ in range(runs)]
    ran = [case.run(deviation) for deviation in drawn]
    words = Counter(tuple(tuple(sorted(e.contacts)) for e in one.events if e.kind is TOUCHDOWN) for one in ran)
    print(f"    touchdowns in simulate: {dict(words)}")
    compare("simulate", case.system, beliefs, [(one.q[-1], one.v[-1]) for one in ran], scale)
    if settled:
        in_mujoco(case, beliefs, drawn, scale)
    print(f"    ({time.perf_counter() - start:.0f} s)", flush=True)


def in_mujoco(case: Landing, beliefs: list[Belief], drawn: list[Array], scale: float) -> None:
    """The rows of MuJoCo: beside the filters' means, and beside its own run from their start."""
    ends = [case.in_mujoco(deviation) for deviation in drawn]
    compare("MuJoCo", case.system, beliefs, ends, scale)
    q, v = case.in_mujoco(np.zeros(36))
    compare("about its own", case.system, [beliefs[0]._replace(q=q, v=v)], ends, scale)
    problem = case.system.problem(q, v)
    foot = int(problem.gap.argmin())
    deep, speed = -1e6 * problem.gap[foot], 1e3 * problem.normal_jacobian[foot] @ v
    print(f"    at the end of MuJoCo's run from the mean a foot is {deep:.0f} µm deep and moves at {speed:.1f} mm/s")


def main() -> None:
    """Print all tables, with 500 runs each or as many as are asked for; of the named landings only, if any is."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    chosen = sys.argv[2:] or ["block", "landing", "two-feet", "hop"]
    for scale in (1e-3, 1e-4) if "block" in chosen else ():
        found = landing_block.filters(scale, runs)
        low, high = found.words.interval()
        print(f"block, {scale:g}: likelier word {found.probability:.3f}, seen {found.share:.3f}; NEES/dof of all words")
        print(f"    {found.words.ratio:.3f} ({low:.3f} … {high:.3f}) of {found.words.rank} degrees of freedom,")
        print(f"    {100 * found.words.inside():.0f} % inside, of one word {found.one.ratio:.2g} of {found.one.rank}")
    for scale in (1.0, 0.1, 0.01) if "landing" in chosen else ():
        measure("landing", landing(0.01, 0.008), scale, runs, settled=scale > 0.01)
    for scale, after in ((1.0, 6e-3), (0.02, 2.5e-4)) if "two-feet" in chosen else ():
        measure("two feet", two_feet(0.008, after), scale, runs, settled=after > SETTLED)
    if "hop" in chosen:
        measure("hop", hop(0.01)[0], 1.0, runs, settled=True)


if __name__ == "__main__":
    main()
