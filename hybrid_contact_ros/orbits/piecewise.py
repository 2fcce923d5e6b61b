"""Piecewise linear maps: what Bouligand derivatives of outcomes, return maps and inputs are (Pace (23)-(26))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.sensitivity.checked import real_numbers
from hybrid_contact_ros.sensitivity.cones import has_interior
from hybrid_contact_ros.sensitivity.saltation import Validity

Array = NDArray[np.float64]
Word = tuple[tuple[int, ...], ...]
_ZERO = 1e-9  # of the size of what made it: a shorter row of a cone is none, and a smaller difference, too
_SAMPLES = 256  # directions in which the pieces are compared


class Answer(Enum):
    """Of a question whose answer comes with a proof."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"
    """Neither could be proven; nothing is claimed."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One linear piece: ``matrix @ z`` where ``cone @ z ≥ 0``.

    Attributes:
        matrix: (k, n). cone: (r, n), rows of length 1; without rows it holds everywhere.
        word: the order of touchdowns at each instant that has several; empty for given matrices.
    """

    matrix: Array
    cone: Array
    word: Word = ()

    def depth(self, direction: Array) -> float:
        """How far inside its cone a direction lies: the least of cone @ z / ‖z‖; +1 without a cone."""
        length = float(np.linalg.norm(direction))
        return float((self.cone @ direction).min(initial=length) / length) if length else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PiecewiseLinear:
    """A continuous map that is linear in each of finitely many cones, or why there is none.

    Attributes:
        validity: ``pieces`` is empty unless it is VALID. why: in words, empty if VALID.
        pieces: their cones cover all directions, and agree where they meet.
    """

    validity: Validity
    why: str
    pieces: tuple[Piece, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether there is a map."""
        return self.validity is Validity.VALID

    def required(self) -> tuple[Piece, ...]:
        """The pieces.

        Raises:
            ValueError: there is no such derivative; the text says why.
        """
        if not self.valid:
            raise ValueError(f"there is no Bouligand derivative ({self.validity.value}): {self.why}")
        return self.pieces

    def at(self, direction: ArrayLike) -> Piece:
        """The piece that holds along a direction (n,); where several meet, the one that it lies deepest in.

        Raises:
            ValueError: as :meth:`required`, or another shape.
        """
        pieces, given = self.required(), np.asarray(direction, dtype=np.float64)
        if given.shape != (pieces[0].matrix.shape[1],):
            raise ValueError(f"the direction has shape {given.shape}; ({pieces[0].matrix.shape[1]},) is needed")
        return max(pieces, key=lambda piece: piece.depth(given))

    def apply(self, direction: ArrayLike) -> Array:
        """What becomes of a direction (n,): (k,).

        Raises:
            ValueError: as :meth:`at`.
        """
        return np.asarray(self.at(direction).matrix @ np.asarray(direction, dtype=np.float64))


def piecewise_linear(matrices: Sequence[ArrayLike], cones: Sequence[ArrayLike] | None = None) -> PiecewiseLinear:
    """A map of given matrices (k, n), each in its cone {z : rows z ≥ 0} (r, n).

    >>> fold = piecewise_linear([[[1.0]], [[-2.0]]], [[[1.0]], [[-1.0]]])
    >>> fold.apply([3.0]).tolist(), fold.apply([-3.0]).tolist()
    ([3.0], [6.0])

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, several matrices without cones, or, of 256
            directions that are drawn, one that no cone holds, or one in which two pieces that hold differ.
    """
    given = [real_numbers(matrix, "a matrix") for matrix in matrices]
    if not given or any(matrix.ndim != 2 or matrix.shape != given[0].shape for matrix in given):
        raise ValueError(f"matrices of one shape are needed, got {[matrix.shape for matrix in given]}")
    n = given[0].shape[1]
    if cones is None:
        if len(given) > 1:
            raise ValueError(f"{len(given)} matrices need a cone each")
        cones = [np.zeros((0, n))]
    rows = [real_numbers(cone, "a cone") for cone in cones]
    if len(rows) != len(given):
        raise ValueError(f"there are {len(given)} matrices and {len(rows)} cones")
    if any(cone.size and cone.shape[-1] != n for cone in rows):
        raise ValueError(f"cones have shapes {[cone.shape for cone in rows]}; rows of {n} numbers are needed")
    rows = [cone.reshape(-1, n) if cone.size else np.zeros((0, n)) for cone in rows]
    if not all(np.isfinite(array).all() for array in (*given, *rows)):
        raise ValueError("matrices and cones must be finite")
    found = [Piece(matrix, unit_rows(cone)) for matrix, cone in zip(given, rows, strict=True)]
    _fit(found)
    return PiecewiseLinear(Validity.VALID, "", tuple(found))


def _fit(pieces: list[Piece]) -> None:
    """Refuse pieces that leave directions out, or jump between cones.

    Each pair of cones is also compared in directions that are brought to their boundaries.
    """
    size = max(np.abs(piece.matrix).max(initial=0.0) for piece in pieces)
    n = pieces[0].matrix.shape[1]
    draws = np.random.default_rng(0).normal(size=(_SAMPLES, n))
    edges = [row for piece in pieces for row in piece.cone]
    projected = [z - row * (row @ z) for row in edges for z in draws[: max(_SAMPLES // max(len(edges), 1), 8)]]
    for z in (*draws, *projected):
        holding = [piece for piece in pieces if piece.depth(z) >= -_ZERO]
        if not holding:
            raise ValueError(f"no cone holds the direction {z.tolist()}")
        outcomes = [piece.matrix @ z for piece in holding]
        if max(np.abs(one - outcomes[0]).max(initial=0.0) for one in outcomes) > 1e-6 * size * np.linalg.norm(z):
            raise ValueError(f"pieces disagree in the direction {z.tolist()}, which several cones hold")


def unit_rows(rows: Array, size: float | None = None) -> Array:
    """Rows with length 1, without those that vanish beside ``size``, by default that of the largest one."""
    lengths = np.linalg.norm(rows, axis=1)
    kept = lengths > _ZERO * (lengths.max(initial=0.0) if size is None else size)
    return np.asarray(rows[kept] / lengths[kept, None])


def composed(first: Piece, second: Piece) -> Piece | None:
    """``second`` after ``first``; None where no direction with a neighbourhood takes this way."""
    rows = unit_rows(second.cone @ first.matrix, float(np.linalg.norm(first.matrix, 2)))
    cone = np.vstack((first.cone, rows))
    if not has_interior(cone):
        return None
    return Piece(second.matrix @ first.matrix, cone, first.word + second.word)
