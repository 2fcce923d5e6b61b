"""What continuous-time evolution through impacts answers: x̄ = (t, q, v) along s (H §4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import Status

Array = NDArray[np.float64]


class Phase(Enum):
    """What happens along a piece of s."""

    FREE = "free"
    """No contact forces, ds = dt (H 46)."""
    CONTACT = "contact"
    """Sustained contact, ds = (1 + Σ λ_n) dt (H 52, 63)."""
    IMPACT = "impact"
    """A collision; t and q stand still (H 49)."""
    IMPACT_WITHOUT_COLLISION = "impact without collision"
    """The same where nothing approached but no contact forces exist (Painlevé), or where it was preferred."""
    ACCUMULATION = "accumulation"
    """Infinitely many pieces, of which only the end is known (Zeno); a straight line here."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A piece of the path, from knot ``start`` to knot ``stop``.

    Attributes:
        phase: which of the modes of H (53), or what stands for many of them.
        status: (m,) ContactStatus of each contact along a FREE or CONTACT piece; UNKNOWN in impacts, where it changes.
        ended: why the piece ended: "touchdown B", "liftoff A", "slip A", "stick A", "jam A" (no forces exist any
            more), "separation" (of impacts), "accumulation", "end".
        interpolant: y(s) = (q, v, t, Λ) along the piece.
    """

    phase: Phase
    start: int
    stop: int
    status: tuple[int, ...]
    ended: str
    interpolant: Callable[[float], Array]


@dataclass(frozen=True, slots=True)
class Accumulation:
    """Infinitely many impacts in finite time, extrapolated.

    Attributes:
        t, s: where they accumulate. error: by how much the last two extrapolations of t differ, s.
        contacts: struck again and again. period: impacts until the same contacts are struck again.
        ratio: by which the time between impacts shrinks per impact, of the last ones.
        impacts: computed before the extrapolation.
    """

    t: float
    s: float
    error: float
    contacts: tuple[int, ...]
    period: int
    ratio: float
    impacts: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A state from which the model allows several motions.

    Attributes:
        t, s: where. modes: ContactStatus tuples of the force-acceleration modes with different accelerations.
        impact: whether an impact without collision is another.
        taken: the index into ``modes``, or −1 for the impact.
    """

    t: float
    s: float
    modes: tuple[tuple[int, ...], ...]
    impact: bool
    taken: int


@dataclass(frozen=True, slots=True, eq=False)
class ContinuousTimePath:
    """A solution of H (53), with knots at the steps of the integrator and the ends of the pieces.

    Attributes:
        s: (k,) increasing. t: (k,) s, not decreasing. q, v: (k, nv), continuous in s.
        impulses: (k, m, 2) N s, accumulated per contact, normal first: forces and impacts; s − s₀ = t − t₀ + Σ Λ_n.
        pieces: in order; each starts where the one before stopped.
        accumulations: Zeno points. branches: where another motion was possible when a mode was chosen.
        drift: the largest gap or velocity error (m, m/s) of a closed contact that was projected away.
        status: SOLVED; STEP_LIMIT before t_final was reached; NONE_FOUND where neither forces nor an impact were.
    """

    s: Array
    t: Array
    q: Array
    v: Array
    impulses: Array
    pieces: tuple[Piece, ...]
    accumulations: tuple[Accumulation, ...]
    branches: tuple[Branch, ...]
    drift: float
    status: Status

    def at(self, s: ArrayLike) -> tuple[Array, Array, Array, Array]:
        """(t, q, v, impulses) at the given s (k,), from the integrator's own interpolation.

        Raises:
            ValueError: an s outside the path.
        """
        wanted = np.atleast_1d(np.asarray(s, dtype=np.float64))
        if not ((wanted >= self.s[0]) & (wanted <= self.s[-1])).all():
            raise ValueError(f"s must lie in [{self.s[0]:g}, {self.s[-1]:g}], where the path is")
        nv, m = self.q.shape[1], self.impulses.shape[1]
        y = np.empty((wanted.size, 2 * nv + 1 + 2 * m))
        ends = np.array([self.s[piece.stop] for piece in self.pieces])
        for row, value in enumerate(wanted):
            if not self.pieces:
                y[row] = np.concatenate([self.q[0], self.v[0], self.t[:1], self.impulses[0].reshape(-1)])
                continue
            piece = self.pieces[min(int(np.searchsorted(ends, value)), len(self.pieces) - 1)]
            y[row] = piece.interpolant(float(value))
        q, v, t, impulse = np.split(y, [nv, 2 * nv, 2 * nv + 1], axis=1)
        return t[:, 0], q, v, impulse.reshape(-1, m, 2)

    def s_at(self, t: float) -> float:
        """The first s at which time t is reached; during an impact time stands still, and its beginning is meant.

        Raises:
            ValueError: a t outside the path.
        """
        if not self.t[0] <= t <= self.t[-1]:
            raise ValueError(f"t is {t}; it must lie in [{self.t[0]:g}, {self.t[-1]:g}], where the path is")
        after = int(np.searchsorted(self.t, t))
        low, high = float(self.s[max(after - 1, 0)]), float(self.s[after])
        for _ in range(200):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if self.at(middle)[0][0] >= t:
                high = middle
            else:
                low = middle
        return high
