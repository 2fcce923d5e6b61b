"""Single bodies that bounced: a cube and an ellipse, laid out alike, in two parts of which the first is to learn from.

Both come as :class:`~hybrid_contact_ros.identification.observed_impacts.ObservedImpact`, which
``hybrid-contact identify`` makes from recordings, too; material and sets are those of the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import cube_tosses
from benchmarks.landing_sets.sets import LandingSet, Score, score
from hybrid_contact_ros.identification.material import Material, material, quantile, tells
from hybrid_contact_ros.identification.observed_impacts import ObservedImpact
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
Interval = tuple[float, float]
_SAMPLES, _STEPS, _STEP = 128, 100, 0.5  # draws, increments, of the impulse scale


@dataclass(frozen=True, slots=True)
class Body:
    """Impacts of one body: ``learnt`` from, and ``rest``. directions: of friction, of :func:`post_impact_set`."""

    name: str
    directions: int
    learnt: list[ObservedImpact]
    rest: list[ObservedImpact]


def observed(problem: ContactProblem, after: Array) -> ObservedImpact:
    """With the impulses that explain the jump best, in the kinetic norm; contacts that would pull have none."""
    J, jump = problem.jacobian(), after - problem.velocity
    W = np.linalg.solve(problem.mass, J.T)
    impulse = np.linalg.pinv(J @ W, rcond=1e-9, hermitian=True) @ J @ jump
    impulse = impulse.reshape(problem.contacts, -1)
    impulse[impulse[:, 0] < 0.0] = 0.0
    left = jump - W @ impulse.ravel()
    part = np.sqrt(left @ problem.mass @ left / (jump @ problem.mass @ jump))
    return ObservedImpact(0, problem, np.arange(problem.contacts), after, impulse, float(part))


def ellipse(shared: Path, third: int = 0) -> Body | None:
    """Every third of the 1141 impacts, drawn with a fixed seed, is to learn from; None without the data."""
    path = shared / "data" / "ellipse_impacts" / "impacts.npz"
    if not path.is_file():
        return None
    data = dict(np.load(path))
    parts: tuple[list[ObservedImpact], list[ObservedImpact]] = ([], [])
    drawn = np.random.default_rng(0).permutation(len(data["q"])) % 3
    for i in range(len(drawn)):
        normal, tangent = data["normal_jacobian"][i][None], data["tangent_jacobian"][i][None, None]
        problem = ContactProblem(data["mass"], data["v_minus"][i], normal, tangent, np.zeros(1))
        parts[int(drawn[i] != third)].append(observed(problem, data["v_plus"][i]))
    return Body("ellipse", 2, *parts)


def cube(third: int = 0, body: cube_tosses.Cube | None = None) -> Body | None:
    """Every third toss is to learn from: e and μ, and the cube itself (centre of mass, inertia, corners) where it is
    not given. A toss has all its events on one side. None without the data."""
    events = cube_tosses.load()
    if events is None:
        return None
    tosses = sorted({event.toss for event in events})
    side = {toss: i % 3 != third for i, toss in enumerate(tosses)}
    alone = [event for event in events if len(event.corners) == 1 and not side[event.toss]]
    body = body or cube_tosses.fit_body(alone)
    rest = [observed(body.problem(event), event.after) for event in events if side[event.toss]]
    return Body("cube", 8, [observed(body.problem(event), event.after) for event in alone], rest)


HEAD = """| set | n | distance median / p90 / p95 | < 5 % | < 10 % | radius | half-width | ball 5 % | ball 10 % |
|---|---|---|---|---|---|---|---|---|"""


def row(name: str, scores: list[Score]) -> str:
    """A line of a table, % of the jump: distances, shares within 5 and 10 %, sizes (medians), and the radius of the
    smallest ball around the nominal outcome that holds, within 5 and 10 %, as many as the sets do."""
    d, far = (100.0 * np.array([getattr(s, k) for s in scores]) for k in ("distance", "nominal_distance"))
    cells = [name, str(len(scores)), " / ".join(f"{x:.1f}" for x in np.percentile(d, [50, 90, 95]))]
    cells += [f"{100.0 * np.mean(d <= part):.0f}" for part in (5.0, 10.0)]
    cells += [f"{100.0 * np.median([getattr(s, k) for s in scores]):.1f}" for k in ("radius", "half_width")]
    for part in (5.0, 10.0):
        held = int(np.sum(d <= part))
        cells.append(f"{max(0.0, np.sort(far)[held - 1] - part):.0f}" if held else "–")
    return "| " + " | ".join(cells) + " |"


def found_material(body: Body) -> Material:
    """e (Poisson) and μ of each of the impacts to learn from that tell them."""
    return material([impact for impact in body.learnt if tells(impact)], "poisson")


def intervals(found: Material, share: float) -> tuple[Interval, Interval]:
    """Of e and μ, from the quantile ``share`` to 1 − ``share``."""
    low, high = np.quantile(found.restitution, [share, 1.0 - share])
    mu = [float(quantile(found.friction, found.sticks_from, part)) for part in (share, 1.0 - share)]
    return (float(low), float(high)), (mu[0], mu[1])


def scored(body: Body, e: Interval, mu: Interval, law: str = "poisson", nominal_e: float | None = None) -> list[Score]:
    """Each impact of the rest against the set of these intervals. The nominal outcome, whose jump is the unit, is that
    of the middle of the intervals, or of ``nominal_e``."""
    middle = {"restitution": 0.5 * sum(e) if nominal_e is None else nominal_e, "friction": 0.5 * sum(mu)}
    scores = []
    for impact in body.rest:
        problem = impact.problem
        scale = impulse_scale(problem)
        if scale == 0.0:  # nothing approaches: what was observed is no impact
            continue
        common, empty = {"directions": body.directions}, np.zeros((0, problem.nv))
        draws = np.full((1, _STEPS, problem.contacts), 1e3 * scale)
        one = post_impact_set(problem, scale, 1, _STEPS, law="poisson", maximum_impulses=draws, **middle, **common)
        many = post_impact_set(problem, _STEP * scale, _SAMPLES, _STEPS, law=law, restitution=e, friction=mu, **common)
        points = many.velocities[many.terminated]
        kept = LandingSet(one.velocities[0], problem.velocity, points, empty, problem.mass)
        scores.append(score(kept, impact.after))
    return scores
