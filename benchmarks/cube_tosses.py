"""How well sets with restitution contain what a real cube did: the ContactNets tosses (Pfrommer, Halm, Posa 2020).

Run from the repository root: ``./run bench cube_tosses``. Needs the extracted events (``events.npz``) in
``$HYBRID_CONTACT_SHARED/data/cube_tosses`` or ``../shared/data/cube_tosses``; without them it says so and ends.

The cube (centre of mass, inertia, corner rounding, timing), e and μ are identified from the clean single-corner events
of the tosses with toss_id % 3 == 1; every number of the table is of the tosses with toss_id % 3 == 2, unseen by that.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.identification.material import common_friction, quantile
from hybrid_contact_ros.impacts.single_contact import fit_friction, fit_restitution
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

ROOT = Path(__file__).resolve().parents[1]
Array = NDArray[np.float64]
Ends = tuple[float, ...]

MASS, HALF_WIDTH, INERTIA = 0.37, 0.0524, 0.00081  # kg, m, kg m²: as published
WEIGHT = np.sqrt(np.r_[np.ones(3), np.full(3, INERTIA / MASS)])  # of (v, ω), for distances
SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
FRAME = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # normal, tangents
SAMPLES, DIRECTIONS, MAX_STEPS, STEP = 256, 8, 100, 0.5  # STEP: of the impulse scale
TOLERANCES = (0.05, 0.10, 0.15, 0.20)


@dataclass(frozen=True)
class Cube:
    """Radius of gyration² about the centre of mass along x and y, and along z (m²), centre of mass (m, body frame),
    radius of the corners (m), and how long after the fitted impact time the contact forces act on average (s)."""

    gyration: float = INERTIA / MASS
    gyration_z: float = INERTIA / MASS
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    delay: float = 0.0

    def pose(self, rotation: Rotation, omega: Array) -> Array:
        """Rotation matrix (3, 3) at the time the contact forces act."""
        return (Rotation.from_rotvec(self.delay * omega) * rotation).as_matrix()

    def points(self, R: Array, corners: Array) -> Array:
        """Contact points (n, 3) relative to the origin, world axes."""
        return (SIGNS[corners] * (HALF_WIDTH - self.radius)) @ R.T - [0.0, 0.0, self.radius]

    def mass_matrix(self, R: Array) -> Array:
        """(6, 6) for the velocity of the origin and the angular velocity, world axes."""
        S = np.cross(R @ self.centre, -np.eye(3))  # S x = centre × x
        inertia = MASS * (R @ np.diag([self.gyration, self.gyration, self.gyration_z]) @ R.T - S @ S)
        return np.block([[MASS * np.eye(3), -MASS * S], [MASS * S, inertia]])

    def problem(self, event: Event) -> ContactProblem:
        """Of one event, with the corners within 3 mm of the lowest (``corner_near``)."""
        R = self.pose(event.rotation, event.before[3:])
        points = self.points(R, event.corners)
        rows = np.concatenate([np.tile(FRAME, (len(points), 1, 1)), np.cross(points[:, None], FRAME)], axis=2)
        zero = np.zeros(len(points))
        return ContactProblem(self.mass_matrix(R), event.before, rows[:, 0], rows[:, 1:], zero)


@dataclass(frozen=True)
class Event:
    """An observed impact: (v, ω) before and after, of the origin, in world axes."""

    toss: int
    rotation: Rotation
    before: Array
    after: Array
    corners: Array
    lowest: int


def load() -> list[Event] | None:
    """The clean events, or None where the data is absent (and why, on stderr)."""
    shared = Path(os.environ.get("HYBRID_CONTACT_SHARED") or ROOT.parent / "shared")
    path = shared / "data" / "cube_tosses" / "events.npz"
    if not path.is_file():
        print(f"skipped: no {path}; name the folder of the reference data in HYBRID_CONTACT_SHARED")
        return None
    with np.load(path, allow_pickle=False) as data:
        rotation = Rotation.from_quat(np.roll(data["quat_wxyz"], -1, axis=1))
        before = np.hstack([data["v_pre"], data["omega_world_pre"]]).astype(float)
        after = np.hstack([data["v_post"], data["omega_world_post"]]).astype(float)
        near, height = data["corner_near"].astype(bool), data["corner_height"]
        return [
            Event(int(data["toss_id"][i]), rotation[i], before[i], after[i], np.flatnonzero(near[i]),
                  int(height[i].argmin()))
            for i in np.flatnonzero(data["clean"])
        ]  # fmt: skip


def single_impulse(cube: Cube, event: Event) -> tuple[Array, Array, Array]:
    """The impulse (3,) at the lowest corner nearest to the jump, what it leaves (6,) over the jump, and the contact's
    velocities before and after (2, 3); normal first."""
    one = replace_corners(event)
    problem = cube.problem(one)
    J = problem.jacobian()
    A = WEIGHT[:, None] * np.linalg.solve(problem.mass, J.T)
    jump = WEIGHT * (event.after - event.before)
    impulse, *_ = np.linalg.lstsq(A, jump, rcond=None)
    return impulse, (A @ impulse - jump) / np.linalg.norm(jump), np.stack([J @ event.before, J @ event.after])


def replace_corners(event: Event) -> Event:
    """The event with its lowest corner alone."""
    return replace(event, corners=np.array([event.lowest]))


def fit_body(alone: list[Event]) -> Cube:
    """The cube with which impulses at the lowest corner explain the jumps of single-corner events best."""

    def cube(x: Array) -> Cube:
        return Cube(x[0] * 1e-3, x[1] * 1e-3, tuple(x[2:5] * 1e-3), x[5] * 1e-3, x[6] * 1e-3)

    def misfit(x: Array) -> Array:
        return np.concatenate([single_impulse(cube(x), event)[1] for event in alone])

    start = np.array([2.7, 2.7, 0.0, 0.0, 0.0, 2.0, 0.5])
    return cube(least_squares(misfit, start, loss="soft_l1", f_scale=0.03, diff_step=1e-3, max_nfev=12).x)


def identify(events: list[Event]) -> tuple[Cube, dict[str, Ends], Ends, Array]:
    """Cube, e by law and μ (5, 50 and 95 % of the events) and residuals, from single-corner events.

    e and μ of an event are those whose path along the normal impulse ends as observed, as of ``hybrid-contact
    identify``; an event that sticks to its end bounds μ from below.
    """
    alone = [event for event in events if len(event.corners) == 1]
    found = fit_body(alone)
    single = []
    for event in alone:
        impulse, _, u = single_impulse(found, event)
        problem = found.problem(replace_corners(event))
        J = problem.jacobian()
        single.append((J @ np.linalg.solve(problem.mass, J.T), u[0], impulse))
    fits = [fit_friction(*one) for one in single]
    most = np.array([fit.sticks_from for fit in fits])
    mu, middle = common_friction(fits, 2.0 * float(np.median([fit.misfit for fit in fits])))
    own = np.where(most <= middle, middle, mu)
    parts = (0.05, 0.5, 0.95)
    e = {}
    for name in ("poisson", "stronge"):
        values = [fit_restitution(*one, float(x), name) for one, x in zip(single, own, strict=True)]
        e[name] = tuple(float(x) for x in np.quantile(values, parts))
    residual = np.array([np.linalg.norm(single_impulse(found, event)[1]) for event in alone])
    return found, e, tuple(float(quantile(mu, most, part)) for part in parts), residual


Model = Callable[[ContactProblem], Array]


def law(name: str, restitution=None, friction=None, single: bool = False, **options) -> Model:
    """A model: problem to velocities (n, 6). ``single``: all contacts at once, the law's textbook answer."""

    def outcomes(problem: ContactProblem) -> Array:
        scale = impulse_scale(problem)
        if scale == 0.0:
            return problem.velocity[None]
        draws = np.full((1, MAX_STEPS, problem.contacts), 1e3 * scale) if single else None
        found = post_impact_set(
            problem, STEP * scale, 1 if single else SAMPLES, MAX_STEPS, directions=DIRECTIONS, law=name,
            restitution=restitution, friction=friction, maximum_impulses=draws, **options,
        )  # fmt: skip
        return found.velocities[found.terminated]

    return outcomes


def score(cube: Cube, model: Model, events: list[Event]) -> Array:
    """Per event, over the norm of the jump: distance from the observed v⁺ to the nearest outcome, and the set's radius
    (largest distance of an outcome from their mean; 95 % quantile of it)."""
    rows = []
    for event in events:
        jump = np.linalg.norm(WEIGHT * (event.after - event.before))
        found = WEIGHT * model(cube.problem(event)) / jump
        spread = np.linalg.norm(found - found.mean(axis=0), axis=1)
        nearest = np.linalg.norm(found - WEIGHT * event.after / jump, axis=1).min()
        rows.append((nearest, spread.max(), np.quantile(spread, 0.95)))
    return np.array(rows)


def show(name: str, scores: Array, corners: Array) -> None:
    """One model, by number of near-simultaneous corners."""
    for label, chosen in (("all", corners > 0), ("1", corners == 1), ("2", corners == 2), ("3-4", corners >= 3)):
        part = scores[chosen]
        cells = "".join(f"{100 * np.mean(part[:, 0] <= t):7.1f}" for t in TOLERANCES)
        radius = "".join(f"{x:8.3f}" for x in np.median(part[:, 1:], axis=0))
        print(f"{name:<44}{label:>4}{len(part):>5}{cells}{np.median(part[:, 0]):>9.3f}{radius}")
        name = ""


def main() -> None:
    """Identify on one part of the tosses, and print the table of the other."""
    events = load()
    if events is None:
        return
    train = [event for event in events if event.toss % 3 == 1]
    test = [event for event in events if event.toss % 3 == 2]
    corners = np.array([len(event.corners) for event in test])
    cube, e, mu, residual = identify(train)
    print(f"identified from {len(residual)} single-corner events of tosses with toss_id % 3 == 1:")
    print(f"  centre of mass {np.round(1e3 * np.array(cube.centre), 2)} mm, corner radius {1e3 * cube.radius:.1f} mm,")
    gyration = np.array([cube.gyration, cube.gyration_z]) * MASS
    print(f"  inertia {gyration[0]:.5f} (x, y) {gyration[1]:.5f} (z) kg m² (published: {INERTIA}),")
    print(
        f"  contact acts {1e3 * cube.delay:.2f} ms after the impact time; left of the jump: {np.median(residual):.3f}"
    )
    for name, x in {**{f"e ({name})": x for name, x in e.items()}, "μ": mu}.items():
        print(f"  {name} {x[1]:.3f} (5-95 %: {x[0]:.3f}-{x[2]:.3f})")
    poisson, stronge = e["poisson"], e["stronge"]
    wide = {name: {"restitution": (x[0], x[2]), "friction": (mu[0], mu[2])} for name, x in e.items()}
    print(
        f"\ncontainment (%) at a part of the jump, and the sets' median radius; {len(test)} events of tosses % 3 == 2"
    )
    head = "".join(f"{100 * t:6.0f}%" for t in TOLERANCES)
    print(f"{'model':<44}{'near':>4}{'n':>5}{head}{'distance':>9}{'radius':>8}{'95 %':>8}")
    rows = [
        ("inelastic, single-valued", law("inelastic", friction=mu[1], single=True)),
        ("inelastic set", law("inelastic", friction=mu[1])),
        (f"Poisson {poisson[1]:.2f}, single-valued", law("poisson", poisson[1], mu[1], single=True)),
        (f"Poisson set, e {poisson[1]:.2f}, μ {mu[1]:.2f}", law("poisson", poisson[1], mu[1])),
        ("Poisson set, intervals", law("poisson", **wide["poisson"])),
        (f"Stronge set, e {stronge[1]:.2f}, μ {mu[1]:.2f}", law("stronge", stronge[1], mu[1])),
        ("Stronge set, intervals", law("stronge", **wide["stronge"])),
    ]
    for label, body, chosen in (("published cube", Cube(), rows[1:5]), ("identified cube", cube, rows)):
        print(f"-- {label}")
        for name, model in chosen:
            show(name, score(body, model, test), corners)


if __name__ == "__main__":
    main()
