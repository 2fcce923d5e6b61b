"""Intervals of a landing's terms from recorded landings: the least set that holds them, by linear programs.

Around the middle of the intervals the law of a landing is linear in its terms. In coordinates y = Lᵀ v / ‖jump‖, in
which the kinetic norm is the Euclidean one (M = L Lᵀ) and the nominal jump is 1, the outcome of landing i is

    yᵢ = cᵢ + Σⱼ Gᵢⱼ zᵢⱼ + rᵢ,        lowₜ ≤ zᵢⱼ ≤ highₜ for each j of a term t

The ends of the intervals are common to all landings, the values z are each landing's own, and r is what the terms leave
over. Minimised is the mean half-width of the sets, which is linear in the ends, plus a price for what is left over:

    mean half-width + price · mean_i max(0, ‖rᵢ‖₁ − tolerance)

as support vectors bound a region: landings that would cost too much stay outside. The program is solved twice, the
second time linearised where the first one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from hybrid_contact_ros.identification.landing_records import RecordedLanding
from hybrid_contact_ros.impacts.convex_set import ConvexSet
from hybrid_contact_ros.impacts.landing_model import LandingTerms, joint_drives
from hybrid_contact_ros.impacts.landing_set import LandingLaw, LandingPoints
from hybrid_contact_ros.scoring.containment import SetScore, set_score

Array = NDArray[np.float64]

TOLERANCE = 0.03  # of the jump: what may be left over at no price
FIRST = {"duration": 0.002, "rebound": 0.05, "drive": 0.001}
"""Where the first program is linearised: s, -, kg m²."""
_DIFFERENCES = {"duration": 0.001, "rebound": 0.05, "drive": 0.0005}
_ENDS = {  # what a landing can be: (least, greatest)
    "duration": (0.0, 0.02), "rebound": (-0.5, 0.6), "drive": (0.0, 0.05), "drive_own": (-0.02, 0.02),
    "slip": (-0.2, 0.2), "creep": (0.0, 0.5), "settling": (-1.5, 1.5), "bounce": (-0.3, 0.3),
}  # fmt: skip
INTERVALS = ("duration", "rebound", "drive")  # both ends are fitted
_SYMMETRIC = ("drive_own", "slip", "settling", "bounce")  # ± one number
_ROUNDS = 2
_AT_REST = 0.01  # as in impacts/landing_set.py


@dataclass(frozen=True, slots=True, eq=False)
class Linearised:
    """A landing in the coordinates above: ``missing`` (nv,) is y of v⁺ less that of the law in the middle, and columns
    of each term's values are rows of ``columns[term]`` (p, nv)."""

    missing: Array
    columns: dict[str, Array] = field(default_factory=dict)


class Case:
    """One recorded landing under the law: outcomes by values of the terms."""

    def __init__(self, landing: RecordedLanding) -> None:
        self.landing = landing
        n, m, d = landing.velocity.size, landing.hitting.size, landing.tangents
        still = np.zeros(m)
        self._law = LandingLaw(LandingTerms(), d, n, landing.friction, (still, still), landing.driven)
        u = (landing.rows @ landing.velocity).reshape(m, 1 + d)
        self.contact_velocity = u
        self.approach = np.where(landing.hitting, -np.minimum(u[:, 0], 0.0), 0.0)
        self.nominal = self.outcomes(np.zeros(1), np.zeros(1), np.zeros((1, m)))[0]
        self._factor = np.linalg.cholesky(landing.mass)
        self.jump = float(np.linalg.norm((self.nominal - landing.velocity) @ self._factor))

    def outcomes(self, duration: Array, drive: Array, rebound: Array) -> Array:
        """v⁺ (c, nv) of c values: s (c,), k (c,), e (c, m)."""
        landing = self.landing
        left = np.zeros((duration.size, landing.hitting.size, 1 + landing.tangents))
        left[:, :, 0] = np.where(landing.hitting, landing.restitution + rebound, 0.0) * self.approach
        found = self._law.solve(
            landing.mass, landing.bias, landing.rows, landing.velocity, duration,
            joint_drives(drive, landing.mass, landing.driven),
            np.tile(landing.friction, (duration.size, 1)), left.reshape(duration.size, -1),
        )  # fmt: skip
        return np.asarray(found[0])

    def scaled(self, v: Array) -> Array:
        """Velocities (…, nv) in the coordinates of this file."""
        return np.asarray(v @ self._factor / self.jump)

    def back(self) -> Array:
        """M⁻¹ Jᵀ G⁺ as rows (m, 1 + d, nv): the velocity that moves one contact in one direction and no other."""
        J = self.landing.rows
        R = np.linalg.solve(self.landing.mass, J.T)
        rows = (R @ np.linalg.pinv(J @ R, rcond=1e-9, hermitian=True)).T
        return rows.reshape(self.landing.hitting.size, -1, J.shape[1])

    def made(self, terms: LandingTerms) -> LandingPoints:
        """What these terms make of the landing."""
        landing, n = self.landing, self.landing.velocity.size
        terms = replace(terms, friction=max(terms.friction, landing.friction_part))
        bouncing = landing.restitution, landing.restitution
        law = LandingLaw(terms, landing.tangents, n, landing.friction, bouncing, landing.driven)
        return law.points(landing.mass, landing.bias, landing.rows, landing.velocity, landing.hitting, self.nominal)

    def score(self, terms: LandingTerms) -> SetScore:
        """The recorded v⁺ against the set that these terms make."""
        made = self.made(terms)
        points = np.vstack([made.points, self.nominal]) if terms.off else made.points
        found = ConvexSet(points, made.generators, terms.margin * self.jump, self.landing.mass, self.jump)
        return set_score(found, self.nominal, self.landing.after)

    def linearised(self, middle: dict[str, float]) -> Linearised:
        """The landing around the ``middle`` of the intervals."""
        landing, m = self.landing, self.landing.hitting.size
        s, e, k = (middle[name] for name in ("duration", "rebound", "drive"))
        ds, de, dk = (_DIFFERENCES[name] for name in ("duration", "rebound", "drive"))
        least = max(k - dk, 0.0)
        struck = np.flatnonzero(landing.hitting)
        count = 5 + 2 * struck.size
        duration, drive, rebound = np.full(count, s), np.full(count, k), np.full((count, m), e)
        duration[1:3] = s + ds, max(s - ds, 0.0)
        drive[3:5] = k + dk, least
        first = 5 + 2 * np.arange(struck.size)
        rebound[first, struck], rebound[first + 1, struck] = e + de, e - de
        v = self.outcomes(duration, drive, rebound)
        back, u = self.back(), self.contact_velocity
        fastest = self.approach.max(initial=0.0)
        moving = ~landing.hitting & (np.abs(u).max(axis=1) > _AT_REST * fastest)
        inverse = np.linalg.inv(landing.mass)
        J = landing.rows
        free = inverse - back.reshape(J.shape).T @ (J @ inverse)
        pull = -(v[0] - landing.velocity)[:, None] * free.T
        n = landing.velocity.size
        columns = {
            "duration": (v[1] - v[2])[None] / (duration[1] - duration[2]),
            "drive": (v[3] - v[4])[None] / (k + dk - least),
            "rebound": (v[first] - v[first + 1]) / (2.0 * de),
            "drive_own": pull[landing.driven],
            "slip": (self.approach[struck, None, None] * back[struck, 1:]).reshape(-1, n),
            "creep": np.einsum("mt,mtn->mn", u[struck, 1:], back[struck, 1:]),
            "settling": (np.abs(u)[moving, :, None] * back[moving]).reshape(-1, n),
            "bounce": fastest * back[moving, 0],
        }
        return Linearised(
            self.scaled(landing.after - v[0]), {name: self.scaled(column) for name, column in columns.items()}
        )


def fit_terms(cases: Sequence[Case], price: float, own: bool = True, tolerance: float = TOLERANCE) -> LandingTerms:
    """The terms whose sets are least and hold the landings.

    Args:
        cases: the landings. price: of the mean that is left over, in mean half-widths: the larger, the more landings
            are held, and the wider are the sets. own: whether each joint may have a ``drive_own``.
        tolerance: of the jump, what may be left over of each landing.

    Raises:
        ValueError: there is no landing, or the program could not be solved.
    """
    if not cases:
        raise ValueError("there are no landings to fit the terms of landings to")
    middle, found = dict(FIRST), LandingTerms()
    left_out = () if own else ("drive_own",)
    for _ in range(_ROUNDS):
        found = _solved([case.linearised(middle) for case in cases], middle, price, tolerance, left_out)
        middle = {name: 0.5 * (getattr(found, f"{name}_min") + getattr(found, f"{name}_max")) for name in INTERVALS}
    return found


class _Rows:
    """Rows of a sparse matrix, one entry after the other."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.right: list[float] = []

    def add(self, entries: dict[int, float], right: float) -> None:
        self.rows += [len(self.right)] * len(entries)
        self.columns += entries.keys()
        self.values += entries.values()
        self.right.append(right)

    def block(self, block: Array, columns: Sequence[int], right: Array) -> None:
        r, c = np.nonzero(block)
        self.rows += (len(self.right) + r).tolist()
        self.columns += np.asarray(columns)[c].tolist()
        self.values += block[r, c].tolist()
        self.right += right.tolist()

    def matrix(self, width: int) -> sparse.csr_matrix:
        return sparse.csr_matrix((self.values, (self.rows, self.columns)), shape=(len(self.right), width))


def _solved(
    landings: Sequence[Linearised], middle: dict[str, float], price: float, tolerance: float, left_out: Sequence[str]
) -> LandingTerms:
    names = [name for name in _ENDS if name not in left_out]
    cost: list[float] = []
    bounds: list[tuple[float | None, float | None]] = []
    ends: dict[str, tuple[int, int]] = {}  # of low and high; −high is low where the term is symmetric
    for name in names:
        # What a unit of the interval's half adds to the mean half-width.
        width = float(np.mean([np.abs(x.columns[name]).sum(axis=0).mean() for x in landings]))
        low, high = _ENDS[name]
        if name in INTERVALS:
            ends[name] = len(cost), len(cost) + 1
            cost += [-0.5 * width, 0.5 * width]
            bounds += [(low, middle[name]), (middle[name], high)]
        else:
            ends[name] = len(cost), len(cost)
            cost.append(width if name in _SYMMETRIC else 0.5 * width)
            bounds.append((0.0, high))
    equal, below = _Rows(), _Rows()
    for landing in landings:
        columns, places = [], []
        for name in names:
            low, high = ends[name]
            at = middle.get(name, 0.0)
            for column in landing.columns[name]:
                j = len(cost)
                cost.append(0.0)
                bounds.append((0.0 if name == "creep" else None, None))
                columns.append(column)
                places.append(j)
                below.add({j: 1.0, high: -1.0}, -at)
                if name in INTERVALS:
                    below.add({j: -1.0, low: 1.0}, at)
                elif name in _SYMMETRIC:
                    below.add({j: -1.0, high: -1.0}, 0.0)
        n, first = landing.missing.size, len(cost)
        cost += [0.0] * (2 * n) + [price / len(landings)]
        bounds += [(0.0, None)] * (2 * n + 1)
        rest = list(range(first, first + 2 * n))
        block = np.hstack([np.array(columns).reshape(-1, n).T, np.eye(n), -np.eye(n)])
        equal.block(block, places + rest, landing.missing)
        below.add(dict.fromkeys(rest, 1.0) | {first + 2 * n: -1.0}, tolerance)
    answer = linprog(
        cost, below.matrix(len(cost)), below.right, equal.matrix(len(cost)), equal.right, bounds, method="highs-ipm"
    )
    if answer.x is None:
        raise ValueError(f"the intervals of the landings could not be found: {answer.message}")
    values: dict[str, float] = {}
    for name in names:
        low, high = (float(answer.x[i]) for i in ends[name])
        values |= {f"{name}_min": low, f"{name}_max": max(low, high)} if name in INTERVALS else {name: max(high, 0.0)}
    return LandingTerms(**values)
