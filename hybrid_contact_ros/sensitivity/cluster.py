"""What a prediction needs of a cluster of touchdowns: words as plain arrays, and what a covariance makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.sensitivity.orders import ChainImpact

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterMoments:
    """What a Gaussian deviation of the state before a cluster leads to.

    The mean is that of the state that was given, not the corner. Words without a map take no part in mean and
    covariance, which are those of the other words, with probabilities that add to one.

    Attributes:
        time_sigma: (k,), s, of each contact's touchdown if none struck before.
        probability: (w,) of each word. missing: the probability of words without a map, and of what the cap on words
            left out.
        mean: (2 nv,), of (δq⁺, v⁺): the displacement from the corner, and v⁺ itself. covariance: (2 nv, 2 nv) of both,
            over all words, the jumps between them included.
    """

    time_sigma: Array
    probability: Array
    missing: float
    mean: Array
    covariance: Array


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSensitivity:
    """All words of a cluster of k touchdowns, as of :class:`~.words.TouchdownWords`; there are w words, p parameters.

    x = (δq, v) (2 nv,) in the tangent space at the corner. Arrays are the record's own, and have no rows where
    ``status`` tells why there are no words.

    Attributes:
        status: VALID, or CUT where the cap on words left some out (those that are listed hold) or where more contacts
            take part than the computation was made for; NOT_TOUCHING: contacts do not approach, or their gaps cannot be
            closed together; SINGULAR: M, or a number that is not finite. why: in words.
        contacts: of the cluster, ascending. closed: contacts that rest before it, ascending.
        ahead: s, from the state that was given to the corner's instant.
        q, velocity_before: the corner (nq,), and v⁻ (nv,). moved: √J s, how far the configuration was moved there.
        gaps: (k,), m, of the state carried to the corner's instant. speeds: (k,), m/s, of approach.
        times: (k, 2 nv), ∂τ/∂x of each contact's touchdown if none struck before, s. spread: s, as of TouchdownWords.
        impacts: (w,), of each word. struck, rests: (w, i, m), what strikes in its impacts, and rests after each.
        validity: (w,), values of EventValidity. A word that is not VALID has NaN in what follows the cones.
        cone_rows: (w,). cones: (w, r, k): word j holds for the gaps with cones[j, :cone_rows[j]] @ δφ ≥ 0.
        last_time: (w, k): ∂τ/∂δφ, s/m, of the last impact.
        velocity, acceleration: v⁺ and v̇ after it (w, nv). matrix: S (w, 2 nv, 2 nv). rank: (w,), of S; 0 unless VALID.
        parameters: names of columns, as of Saltation: μ, then e, then the heights of the ground, of all contacts above.
        parameter_matrix: ∂x⁺/∂p (w, 2 nv, p). parameter_times: ∂τ/∂p (k, p).
        moments: None without a covariance.
    """

    status: EventValidity
    why: str
    contacts: tuple[int, ...]
    closed: tuple[int, ...]
    ahead: float
    q: Array
    velocity_before: Array
    moved: float
    gaps: Array
    speeds: Array
    times: Array
    spread: float
    impacts: Counts
    struck: Codes
    rests: Codes
    validity: Codes
    cone_rows: Counts
    cones: Array
    last_time: Array
    velocity: Array
    acceleration: Array
    matrix: Array
    rank: Counts
    parameters: tuple[tuple[str, int], ...]
    parameter_matrix: Array
    parameter_times: Array
    moments: ClusterMoments | None

    @property
    def words(self) -> int:
        """w."""
        return len(self.impacts)

    def chain(self, word: int) -> tuple[ChainImpact, ...]:
        """The impacts of a word in turn; :func:`~.orders.word_of` spells them."""
        return tuple(
            ChainImpact(*(frozenset(np.flatnonzero(row).tolist()) for row in rows))
            for rows in zip(
                self.struck[word, : self.impacts[word]], self.rests[word, : self.impacts[word]], strict=True
            )
        )

    def velocity_gradient(self, word: int) -> Array:
        """∂v⁺/∂x (nv, 2 nv) of the velocity right after the last impact of a word, whenever that takes place."""
        nv = len(self.velocity_before)
        last = (self.last_time[word] * self.speeds) @ self.times
        return np.asarray(self.matrix[word, nv:] + np.outer(self.acceleration[word], last))
