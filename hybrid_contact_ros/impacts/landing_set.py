"""The set of what a landing adds to an impact: the law at the corners of its intervals, and generators of the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.kernels.impacts.landing_law import contact_response, landing_outcomes, landing_scratch

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_FRICTIONS = 7
"""Values of μ between its ends: from sticking to sliding an outcome bends, and the ends alone leave out what lies
between."""
_STEPS, _TOLERANCE = 1000, 1e-8
_USABLE = 1e-4  # a case with a larger residual is no point of the set
_AT_REST = 0.01  # of the fastest |u_n⁻|: a contact that stands and is slower is at rest
_HITS = 0.1  # of the fastest |u_n⁻|: a contact of which nothing else is known hits if it is faster

QUANTILE = 0.999
"""Share of the model's outcomes within :func:`quantile_bounds`."""
WIDER = 0.1
"""Part of the half-width by which the bounds are wider than the set (measured: docs/landings.md)."""


@dataclass(frozen=True, slots=True, eq=False)
class LandingPoints:
    """What the terms of a landing make of its impact: hull(points) ⊕ {Σ aᵢ generatorsᵢ: |aᵢ| ≤ 1}.

    Attributes:
        points: (k, n), the first in the middle of all intervals. generators: (g, n).
        offset: (n,), from the outcome without these terms to the first point: what moves the samples of all orders.
        status: SOLVED, INACCURATE where a case could not be solved (it is left out), SINGULAR. residual: largest, of
            all cases.
    """

    points: Array
    generators: Array
    offset: Array
    status: Status
    residual: float


def hits(rows: Array, velocity: Array, d: int) -> Flags:
    """Which contacts (m,) hit where nothing tells which stand: those that approach with a tenth of the fastest, or
    more. rows: J (m (1 + d), n)."""
    approach = -np.minimum(rows[:: 1 + d] @ velocity, 0.0)
    return np.asarray((approach > 0.0) & (approach >= _HITS * approach.max(initial=0.0)))


class LandingLaw:
    """The law of landings at the same contacts, state after state, in the same arrays. One thread at a time.

    Args:
        terms: what is not known. d, n: tangents, coordinates. friction: μ (m,).
        restitution: (low, high), each (m,), of the contacts' material; ``rebound`` adds to both.
        driven: (n,) bool, coordinates with a drive.
    """

    def __init__(
        self, terms: LandingTerms, d: int, n: int, friction: Array, restitution: tuple[Array, Array], driven: Flags
    ) -> None:
        self.terms, self.d, self._driven = terms, d, driven
        m = friction.size
        self._low, self._high = restitution[0] + terms.rebound_min, restitution[1] + terms.rebound_max
        self._usual = 0.5 * (restitution[0] + restitution[1])
        self._scratch = landing_scratch(m, d, n)
        r = m * (1 + d)
        self._square, self._column = np.empty((r, r)), np.empty(r)
        ends = sorted({terms.duration_min, terms.duration_max})
        drives = sorted({terms.drive_min, terms.drive_max, 0.5 * (terms.drive_min + terms.drive_max)})
        factors = np.linspace(1.0 - terms.friction, 1.0 + terms.friction, _FRICTIONS) if terms.friction else [1.0]
        middle = 0.5 * (terms.duration_min + terms.duration_max), 0.5 * (terms.drive_min + terms.drive_max), 1.0
        corners = [middle, *((s, k, f) for k in drives for f in factors for s in ends)]
        self._corners = len(corners)
        # Then the law without these terms, and for each contact both ends of its rebound.
        self._table = np.array([*corners, (0.0, 0.0, 1.0), *[middle] * (2 * m)]).reshape(-1, 3)
        self._friction = np.ascontiguousarray(self._table[:, 2:] * friction)
        self._drive = np.ascontiguousarray(self._table[:, 1:2] * driven)

    def solve(
        self, mass: Array, bias: Array, rows: Array, velocity: Array, duration: Array, drive: Array, friction: Array,
        left: Array,
    ) -> tuple[Array, Array, Array, Status]:  # fmt: skip
        """Outcomes of cases.

        Args:
            mass (n, n), bias = h − Sᵀτ (n,), rows J (m (1 + d), n), velocity v⁻ (n,).
            duration: s (c,). drive: k (c, n), kg m². friction: μ (c, m). left: w (c, m (1 + d)), m/s, velocities with
                which contacts are left (:mod:`~hybrid_contact_ros.kernels.impacts.landing_law`).

        Returns:
            v⁺ (c, n), impulses (c, m (1 + d)), residuals (c,), and the worst status.
        """
        count = duration.size
        out = np.empty((count, velocity.size)), np.zeros(left.shape), np.empty(count)
        status, _ = landing_outcomes(
            _STEPS, _TOLERANCE, self.d, mass, bias, rows, velocity, duration, drive, friction, left,
            *self._scratch, *out,
        )  # fmt: skip
        return *out, Status(status)

    def points(
        self, mass: Array, bias: Array, rows: Array, velocity: Array, hitting: Flags, G: Array, R: Array,
        lasting: bool = True,
    ) -> LandingPoints:  # fmt: skip
        """What the terms make of an impact.

        Args:
            mass … velocity: as of :meth:`solve`. hitting: (m,), the others stand.
            G: J M⁻¹ Jᵀ. R: M⁻¹ Jᵀ as rows. lasting: False leaves the duration out, where the torques are not known.
        """
        w, m = 1 + self.d, hitting.size
        u = (rows @ velocity).reshape(m, w)
        approach = np.where(hitting, -np.minimum(u[:, 0], 0.0), 0.0)
        struck = np.flatnonzero(hitting & (self._low < self._high))
        count = self._corners + 1 + 2 * struck.size
        left = np.zeros((count, m, w))
        left[:, :, 0] = 0.5 * (self._low + self._high) * approach
        left[self._corners, :, 0] = self._usual * approach
        first = self._corners + 1 + 2 * np.arange(struck.size)
        left[first, struck, 0] = (self._high * approach)[struck]
        left[first + 1, struck, 0] = (self._low * approach)[struck]
        duration = self._table[:count, 0] if lasting else np.zeros(count)
        found, _, residuals, status = self.solve(
            mass, bias, rows, velocity, np.ascontiguousarray(duration), self._drive[:count], self._friction[:count],
            left.reshape(count, m * w),
        )  # fmt: skip
        usable = residuals <= _USABLE
        if not (usable[0] and usable[self._corners]):
            status = status if status == Status.SINGULAR else Status.INACCURATE
            return LandingPoints(found[:0], found[:0], np.zeros(velocity.size), status, float(residuals.max()))
        both = usable[first] & usable[first + 1]
        generators = [0.5 * (found[first] - found[first + 1])[both]]
        back = np.empty(R.shape)
        contact_response(G, R, self._square, self._column, back)
        of_contact = back.reshape(m, w, -1)
        generators += self._linear(u, approach, hitting, of_contact)
        if self.terms.drive_own > 0.0:
            generators.append(self._own(mass, found[0] - velocity, back, R))
        creep = 0.5 * self.terms.creep * np.einsum("mt,mtn->mn", u[hitting, 1:], of_contact[hitting, 1:])
        generators.append(creep)
        middle = creep.sum(axis=0)
        points = found[: self._corners][usable[: self._corners]] + middle
        every = np.concatenate(generators)
        return LandingPoints(
            points=points,
            generators=every[np.any(every != 0.0, axis=1)],
            offset=points[0] - found[self._corners],
            status=status,
            residual=float(residuals.max()),
        )

    def _linear(self, u: Array, approach: Array, hitting: Flags, back: Array) -> list[Array]:
        """Slip of hitting contacts, and what standing ones that still move may do."""
        terms, n = self.terms, back.shape[2]
        found = []
        if terms.slip > 0.0:
            found.append((terms.slip * approach[hitting, None, None] * back[hitting, 1:]).reshape(-1, n))
        fastest = approach.max(initial=0.0)
        speed = np.abs(u)
        moving = ~hitting & (speed.max(axis=1) > _AT_REST * fastest)
        if (terms.settling > 0.0 or terms.bounce > 0.0) and moving.any():
            restless = terms.settling * speed[moving]
            restless[:, 0] += terms.bounce * fastest
            found.append((restless[:, :, None] * back[moving]).reshape(-1, n))
        return found

    def _own(self, mass: Array, jump: Array, back: Array, R: Array) -> Array:
        """The impulse −k_j Δq̇_j of each drive's own k, in what the contacts let move: rows (drives, n)."""
        inverse = np.linalg.inv(mass)[self._driven]
        free = inverse - R[:, self._driven].T @ back
        return np.asarray(-self.terms.drive_own * jump[self._driven, None] * free)


def quantile_bounds(points: Array, generators: Array) -> tuple[Array, Array]:
    """Bounds (n,) of each coordinate that hold QUANTILE of the model's outcomes: those of the set, wider by WIDER of
    their half-width, because the generators are linearised. Without points they are infinite."""
    if not len(points):
        return np.full(points.shape[1], -np.inf), np.full(points.shape[1], np.inf)
    low, high = points.min(axis=0), points.max(axis=0)
    more = np.abs(generators).sum(axis=0)
    more += WIDER * (0.5 * (high - low) + more)
    return low - more, high + more
