"""Whether constant inputs steer an execution's outcome in every direction (Pace, §6.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.orbits.piecewise import Answer, Piece, PiecewiseLinear, unit_rows
from hybrid_contact_ros.sensitivity.cones import has_interior

Array = NDArray[np.float64]
_SINGULAR = 1e-8  # of the largest singular value: a smaller one is not told from zero
_DEPTH = 1e-6  # how far inside or outside a cone a preimage must lie to be counted, as the sine of an angle
_DRAWS, _SUBSPACES = 400, 20


@dataclass(frozen=True, slots=True, eq=False)
class Degree:
    """The preimages of one outcome under a piecewise linear map of inputs, which prove what the map is like.

    With A_i non-singular in every cone, the number of preimages of an outcome that lies on no boundary, each counted
    with the sign of det A_i, is the same for every such outcome: the map's degree. Not zero: it reaches every outcome.
    If all determinants have one sign (coherent orientation; Scholtes, Proposition 2.3.7: the map is open) and one
    outcome has one preimage, then every such outcome has one. Two inputs of one outcome would be surrounded by two
    inputs of the outcomes near it, so that there are none: the map is a homeomorphism.

    Attributes:
        subspace: (m, k), an orthonormal basis of the inputs that were taken, as many as there are outcomes.
        pieces: of the map on it. signs: of their determinants. smallest: the least singular value of all pieces.
        outcome: (k,). preimages: (index of the piece, input (k,) in the subspace), all of them.
        depth: how clearly every candidate A_i⁻¹ y lies inside or outside its cone, as the sine of an angle.
        degree: the sum of the preimages' signs.
    """

    subspace: Array
    pieces: tuple[Piece, ...]
    signs: tuple[int, ...]
    smallest: float
    outcome: Array
    preimages: tuple[tuple[int, Array], ...]
    depth: float
    degree: int

    @property
    def coherent(self) -> bool:
        """Whether all determinants have one sign."""
        return len(set(self.signs)) == 1

    @property
    def homeomorphism(self) -> bool:
        """Whether the map is one: coherently oriented, and one preimage."""
        return self.coherent and len(self.preimages) == 1

    def holds(self) -> bool:
        """Whether it proves what it says, from its pieces and the outcome alone, by determinants and linear solves."""
        signs = [int(np.sign(np.linalg.det(piece.matrix))) for piece in self.pieces]
        if 0 in signs or tuple(signs) != self.signs:
            return False
        inside = []
        for k, piece in enumerate(self.pieces):
            depth = piece.depth(np.asarray(np.linalg.solve(piece.matrix, self.outcome), dtype=np.float64))
            if abs(depth) < 0.5 * self.depth:
                return False
            if depth > 0.0:
                inside.append(k)
        return inside == [k for k, _ in self.preimages] and sum(signs[k] for k in inside) == self.degree


@dataclass(frozen=True, slots=True, eq=False)
class Controllability:
    """Whether inputs near the nominal ones reach every outcome near the nominal one.

    Attributes:
        answer: YES, NO or UNDECIDED. why: in words.
        certificate: the :class:`Degree` that proves it; None where it is UNDECIDED.
        rank: the smallest rank of a piece, of the k that are needed.
    """

    answer: Answer
    why: str
    certificate: Degree | None
    rank: int


def local_controllability(inputs: PiecewiseLinear, targets: ArrayLike | None = None, seed: int = 0) -> Controllability:
    """Whether an outcome can be moved in every direction by small changes of constant inputs (Pace, §6.3; (27)).

    Pace's condition is that the Bouligand derivative of the outcome by the inputs, restricted to as many inputs as
    there are outcomes, is a piecewise linear homeomorphism. It is proven by coherent orientation and by one outcome
    that has exactly one preimage (:class:`Degree`). YES is also answered where the degree is not zero: every
    neighbourhood of the inputs then still covers one of the outcome, though not one to one. NO is answered where all
    pieces are regular, all inputs are needed, and an outcome has no preimage: the directions near it cannot be reached.
    A singular piece leaves it UNDECIDED, as the first order does not tell then.

    >>> from hybrid_contact_ros.orbits.piecewise import piecewise_linear
    >>> right, left = [[1.0, 0.0]], [[-1.0, 0.0]]
    >>> bent = piecewise_linear([[[1.0, 0.0], [0.0, 1.0]], [[3.0, 0.0], [-1.0, 1.0]]], [right, left])
    >>> folded = piecewise_linear([[[1.0, 0.0], [0.0, 1.0]], [[-3.0, 0.0], [-1.0, 1.0]]], [right, left])
    >>> local_controllability(bent).answer.name, local_controllability(folded).answer.name
    ('YES', 'NO')

    Args:
        inputs: of inputs (m,) to outcomes (k,), as ``outcome_derivative(execution, controls).inputs()`` gives it.
        targets: (j, k), rows that combine outcomes, where only these are asked for; by default all.
        seed: of the outcomes and subspaces that are drawn.

    Raises:
        ValueError: no derivative, targets of a wrong shape.
    """
    if not isinstance(inputs, PiecewiseLinear):
        raise ValueError(
            f"inputs is {type(inputs).__name__}; give a PiecewiseLinear, such as piecewise_linear([matrix])"
        )
    pieces = inputs.required()
    k, m = pieces[0].matrix.shape
    if targets is not None:
        rows = np.array(targets, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != k or not np.isfinite(rows).all():
            raise ValueError(f"targets have shape {rows.shape}; finite ones of (j, {k}) are needed")
        pieces = tuple(Piece(rows @ p.matrix, p.cone, p.word) for p in pieces)
        k = len(rows)
    rank = min(_rank(piece.matrix) for piece in pieces)
    if m < k:
        return Controllability(Answer.UNDECIDED, f"{m} inputs cannot move {k} outcomes at first order", None, rank)
    if rank < k:
        return Controllability(Answer.UNDECIDED, f"a piece has rank {rank} of {k}", None, rank)
    rng, found = np.random.default_rng(seed), None
    for basis in _subspaces(pieces, k, m, rng):
        restricted = _restricted(pieces, basis)
        if any(_rank(piece.matrix) < k for piece in restricted):
            continue
        for _ in range(_DRAWS):
            degree = _degree(restricted, basis, np.asarray(rng.normal(size=k)))
            if degree is None:
                continue
            if degree.degree:
                if not degree.homeomorphism and found is not None:
                    break
                found = degree
                break
            if m == k and not degree.preimages:
                return Controllability(Answer.NO, "an outcome has no preimage", degree, rank)
        if found is not None and found.homeomorphism:
            break
    if found is None:
        return Controllability(Answer.UNDECIDED, "no outcome was found that decides it", None, rank)
    text = "the map of inputs to outcomes is a homeomorphism"
    if not found.homeomorphism:
        text = f"the map of inputs to outcomes has degree {found.degree}"
    return Controllability(Answer.YES, text, found, rank)


def _rank(matrix: Array) -> int:
    values = np.linalg.svd(matrix, compute_uv=False)
    return int((values > _SINGULAR * values.max(initial=0.0)).sum())


def _subspaces(pieces: Sequence[Piece], k: int, m: int, rng: np.random.Generator) -> Iterator[Array]:
    """Orthonormal bases (m, k) to try: where pieces act most, on average and each, and random ones."""
    if m == k:
        yield np.eye(m)
        return
    mean = np.mean([piece.matrix for piece in pieces], axis=0)
    for matrix in (mean, *(piece.matrix for piece in pieces)):
        yield np.asarray(np.linalg.svd(matrix)[2][:k].T)
    for _ in range(_SUBSPACES):
        yield np.asarray(np.linalg.qr(rng.normal(size=(m, k)))[0])


def _restricted(pieces: Sequence[Piece], basis: Array) -> list[Piece]:
    found = []
    for piece in pieces:
        cone = unit_rows(piece.cone @ basis, 1.0)
        if has_interior(cone):
            found.append(Piece(piece.matrix @ basis, cone, piece.word))
    return found


def _degree(pieces: Sequence[Piece], basis: Array, outcome: Array) -> Degree | None:
    """All preimages of an outcome; None where one of the candidates lies too near a boundary to be counted."""
    depth, preimages = 1.0, list[tuple[int, Array]]()
    signs = tuple(int(np.linalg.slogdet(piece.matrix)[0]) for piece in pieces)
    for index, piece in enumerate(pieces):
        candidate = np.asarray(np.linalg.solve(piece.matrix, outcome), dtype=np.float64)
        inside = piece.depth(candidate)
        depth = min(depth, abs(inside))
        if depth < _DEPTH:
            return None
        if inside > 0.0:
            preimages.append((index, candidate))
    smallest = min(float(np.linalg.svd(piece.matrix, compute_uv=False)[-1]) for piece in pieces)
    degree = sum(signs[index] for index, _ in preimages)
    return Degree(basis, tuple(pieces), signs, smallest, outcome, tuple(preimages), depth, degree)
