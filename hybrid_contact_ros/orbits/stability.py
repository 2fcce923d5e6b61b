"""Whether a periodic orbit is exponentially stable, by the Bouligand derivative of its return map (Pace, §6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.contact_sets import counts, finite, not_negative
from hybrid_contact_ros.orbits.common_norm import common_norm, induced_norm
from hybrid_contact_ros.orbits.expansion import Expansion, expanding_direction, expanding_functional
from hybrid_contact_ros.orbits.piecewise import Answer, Piece, PiecewiseLinear, composed, piecewise_linear

Array = NDArray[np.float64]
_ERROR = 1e-7  # of the largest entry, assumed of matrices by default


@dataclass(frozen=True, slots=True, eq=False)
class Contraction:
    """A proof of exponential stability: a norm in which all that the map does in ``length`` returns contracts.

    Attributes:
        norm: P (n, n), ‖x‖² = xᵀ P x. length: k, returns. words: the matrices (n, n) of k returns, one for each
            sequence of pieces that some direction takes. factor: the largest ‖A‖_P among them, below 1.
        margin: errors of the pieces' matrices up to this, in the 2-norm, leave every factor below 1.
    """

    norm: Array
    length: int
    words: tuple[Array, ...]
    factor: float
    margin: float

    @property
    def rate(self) -> float:
        """What a small deviation is multiplied by at each return, or less, in the long run."""
        return float(self.factor ** (1.0 / self.length))

    def holds(self) -> bool:
        """Whether it proves what it says, from its matrices alone: P is positive definite, and every word contracts."""
        try:
            return max(induced_norm(self.norm, word) for word in self.words) < 1.0
        except np.linalg.LinAlgError:
            return False


@dataclass(frozen=True, slots=True, eq=False)
class OrbitStability:
    """Whether a periodic orbit is exponentially stable.

    Attributes:
        answer: YES: deviations die out geometrically. NO: some grow geometrically at first order. UNDECIDED: neither
            was proven. why: in words.
        certificate: the proof, a :class:`Contraction` for YES or an :class:`~.expansion.Expansion` for NO.
        multipliers: the eigenvalues (n,) of each piece, by falling modulus. With one piece they decide.
        bound: of the growth at each return in the long run, from the best norm that was found; inf where there is none.
    """

    answer: Answer
    why: str
    certificate: Contraction | Expansion | None
    multipliers: tuple[NDArray[np.complex128], ...]
    bound: float


def orbit_stability(
    derivative: PiecewiseLinear | ArrayLike, *, error: float | None = None, length: int = 4, words: int = 64
) -> OrbitStability:
    """Whether the fixed point of a return map is exponentially stable, with a proof (Pace, §6.2).

    YES where one quadratic norm makes all words of k returns contract, k ≤ ``length``. Pace asks this of k = 1; words
    go further, since several norms of the selections together make one, and since words whose cones no direction takes
    are left out. NO by Pace's test, also of words: an eigenvector inside its own cone, whose image is in it, too, with
    an eigenvalue beyond 1; or by a linear function that every piece multiplies by one number beyond 1 (a left
    eigenvector that they share), which decides where eigenvectors are in no cone (complex ones, for example). NO means
    not exponentially stable: at first order there is growth that no constant bounds.

    >>> orbit_stability([[0.9, 5.0], [0.0, -0.8]]).answer.name
    'YES'
    >>> found = orbit_stability([[0.9, 5.0], [0.0, -1.1]])
    >>> found.answer.name, round(found.certificate.growth, 6)
    ('NO', 1.1)
    >>> orbit_stability([[0.0, -1.0], [1.0, 0.0]]).answer.name  # a centre: the derivative does not tell
    'UNDECIDED'

    Args:
        derivative: of :meth:`~.poincare.PoincareMap.derivative`, or one matrix (n, n).
        error: of each piece's matrix in the 2-norm, which proofs must survive; by default 1e-7 of the largest entry.
        length: k, returns, at most. words: so many of them are looked at, at most; longer ones are not.

    Raises:
        ValueError: no derivative; matrices that are not square, are empty, complex or not finite; an error that is
            negative or not finite; ``length`` or ``words`` below 1.
    """
    counts(length=length, words=words)
    if error is not None:
        not_negative(error=error)
        finite(error=error)
    given = derivative if isinstance(derivative, PiecewiseLinear) else piecewise_linear([derivative])
    pieces = given.required()
    n = pieces[0].matrix.shape[1]
    if pieces[0].matrix.shape != (n, n) or n == 0:
        raise ValueError(f"matrices of a return map are square and not empty, not {pieces[0].matrix.shape}")
    allowed = _ERROR * max(float(np.abs(p.matrix).max(initial=0.0)) for p in pieces) if error is None else float(error)
    multipliers = tuple(_eigenvalues(piece.matrix) for piece in pieces)
    bound, now = np.inf, list(pieces)
    for k in range(1, length + 1):
        for word in now:
            grows = expanding_direction(word, k, _word_error(pieces, k, allowed))
            if grows is not None:
                why = f"a direction is its own image after {k} returns, enlarged"
                return OrbitStability(Answer.NO, why, grows, multipliers, bound)
        shared = expanding_functional([piece.matrix for piece in pieces], allowed) if k == 1 else None
        if shared is not None:
            return OrbitStability(Answer.NO, "a linear function grows at every return", shared, multipliers, bound)
        radius = max(float(np.abs(np.linalg.eigvals(word.matrix)).max()) for word in now)
        if radius < 1.0:
            found = _contraction(pieces, now, k, 0.5 * (1.0 + radius))
            bound = min(bound, found.rate)
            if found.factor < 1.0 and found.margin >= allowed and found.holds():
                why = f"what {k} returns do contracts in one norm, in every cone (matrices: {len(now)})"
                return OrbitStability(Answer.YES, why, found, multipliers, bound)
        if len(pieces) == 1:
            break
        following = [both for word in now for piece in pieces if (both := composed(word, piece)) is not None]
        if not following or len(following) > words:
            break
        now = following
    why = f"no norm was found that contracts, and no direction that grows, in words of {k} returns"
    if len(pieces) == 1:
        why = f"the largest modulus of its multipliers, {abs(multipliers[0][0]):.9g}, is not told from 1"
    return OrbitStability(Answer.UNDECIDED, why, None, multipliers, bound)


def _eigenvalues(matrix: Array) -> NDArray[np.complex128]:
    values = np.asarray(np.linalg.eigvals(matrix), dtype=np.complex128)
    return np.asarray(values[np.argsort(-np.abs(values), kind="stable")])


def _word_error(pieces: Sequence[Piece], length: int, error: float) -> float:
    """How far the product of so many matrices may be off, in the 2-norm."""
    size = max(float(np.linalg.norm(piece.matrix, 2)) for piece in pieces)
    return float((size + error) ** length - size**length)


def _contraction(pieces: Sequence[Piece], words: Sequence[Piece], length: int, goal: float) -> Contraction:
    matrices = tuple(word.matrix for word in words)
    norm, _ = common_norm(matrices, goal)
    factor = max(induced_norm(norm, matrix) for matrix in matrices)
    values = np.linalg.eigvalsh(norm)
    stretch = float(np.sqrt(values[-1] / values[0]))  # ‖E‖_P ≤ stretch ‖E‖₂
    size = max(induced_norm(norm, piece.matrix) for piece in pieces)
    # (size + e)^k − size^k < 1 − factor for errors e in the norm
    margin = (max(1.0 - factor, 0.0) + size**length) ** (1.0 / length) - size
    return Contraction(norm, length, matrices, factor, margin / stretch)
