"""Proofs that a piecewise linear map expands: directions that it enlarges, linear functions that it multiplies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from hybrid_contact_ros.orbits.piecewise import Piece

Array = NDArray[np.float64]
_BOUNDARY = 1e-7  # of its length: how far outside its cone a direction may be and count as in its boundary
_REAL = 1e-9  # of its modulus: a smaller imaginary part of an eigenvalue is none


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """A proof that a fixed point is not exponentially stable.

    Attributes:
        matrices: (n, n), one: the word whose direction grows; or all pieces, whose common function grows.
        vector: (n,) or complex. As a direction: A ν = λ ν, with both ν and A ν in the word's cone, or, where that is
            the whole space, the plane of its real and imaginary parts. As a function: wᴴ A = λ wᴴ for all pieces.
        eigenvalue: λ. length: returns that the word takes. growth: |λ|^(1/length), for each return.
        cone: (r, n), the word's; rows of length 1, none for a function. functional: whether it is a function.
        depth: how far inside the cone the direction and its image are, as the sine of an angle; 0 in its boundary,
            where pieces agree, and 1 without a cone.
        margin: how far |λ| − 1 exceeds what errors of the matrices can do to it.
    """

    matrices: tuple[Array, ...]
    vector: NDArray[np.complex128]
    eigenvalue: complex
    length: int
    growth: float
    cone: Array
    functional: bool
    depth: float
    margin: float

    def holds(self) -> bool:
        """Whether it proves what it says, from its matrices, cone and vector alone."""
        if not abs(self.eigenvalue) > 1.0:
            return False
        for matrix in self.matrices:
            acting = matrix.conj().T if self.functional else matrix
            value = np.conj(self.eigenvalue) if self.functional else self.eigenvalue
            left = acting @ self.vector - value * self.vector
            if np.linalg.norm(left) > 1e-6 * np.linalg.norm(acting, 2) * np.linalg.norm(self.vector):
                return False
        if not len(self.cone) or self.functional:
            return True
        if np.abs(self.vector.imag).max() > 0.0:
            return False
        image = self.matrices[0] @ self.vector.real
        here = (self.cone @ self.vector.real).min() / np.linalg.norm(self.vector)
        return bool(min(here, (self.cone @ image).min() / np.linalg.norm(image)) >= -_BOUNDARY)


def expanding_direction(word: Piece, length: int, error: float) -> Expansion | None:
    """Pace's test of instability: an eigenvector ν with |λ| > 1, and both ν and A ν in the cone of A.

    Args:
        word: the matrix and cone of ``length`` returns. error: of its matrix, which |λ| > 1 must survive.
    """
    best = None
    for value, vector, sensitivity in _eigenpairs(word.matrix):
        margin = abs(value) - 1.0 - error * sensitivity
        if margin <= 0.0:
            continue
        real = abs(value.imag) <= _REAL * abs(value)
        if not real and len(word.cone):
            continue
        depth = 1.0
        if len(word.cone):
            straight = vector.real / np.linalg.norm(vector.real)
            sides = [(sign * straight, _depth(word, sign * straight)) for sign in (1.0, -1.0)]
            vector, depth = max(sides, key=lambda side: side[1])
            if depth < -_BOUNDARY:
                continue
            depth = max(depth, 0.0)
        if best is None or (depth > 0.0, abs(value)) > (best.depth > 0.0, abs(best.eigenvalue)):
            number = complex(value.real) if real else complex(value)
            growth = float(abs(value) ** (1.0 / length))
            whole = np.asarray(vector, dtype=np.complex128)
            best = Expansion((word.matrix,), whole, number, length, growth, word.cone, False, depth, float(margin))
    return best


def expanding_functional(matrices: Sequence[Array], error: float) -> Expansion | None:
    """A linear function w that every piece multiplies by the same λ, |λ| > 1: |wᴴ x| grows whatever the order.

    Args:
        matrices: of the pieces; more than one. error: of each of them.
    """
    if len(matrices) < 2:
        return None
    size = max(float(np.linalg.norm(matrix, 2)) for matrix in matrices)
    for value, vector, sensitivity in _eigenpairs(matrices[0].T):
        left = np.asarray(vector.conj(), dtype=np.complex128)  # Aᵀ u = λ u is wᴴ A = λ wᴴ with w the conjugate of u
        strays = max(float(np.linalg.norm(left.conj() @ matrix - value * left.conj())) for matrix in matrices)
        # what errors of the pieces may add to λ, and the difference between pieces that is taken for an error
        margin = abs(value) - 1.0 - sensitivity * error
        if margin > 0.0 and strays <= error + 1e-9 * size:
            return Expansion(
                tuple(matrices),
                left,
                complex(value),
                1,
                float(abs(value)),
                np.zeros((0, len(left))),
                True,
                1.0,
                float(margin),
            )
    return None


def _eigenpairs(matrix: Array) -> list[tuple[complex, Array, float]]:
    """Eigenvalue, eigenvector of length 1, and ∂|λ| for an error of the matrix of norm 1 (to first order)."""
    values, lefts, rights = eig(matrix, left=True, right=True)
    found = []
    for k, value in enumerate(values):
        overlap = abs(np.vdot(lefts[:, k], rights[:, k]))
        found.append((complex(value), rights[:, k], float(1.0 / overlap) if overlap > 0.0 else np.inf))
    return found


def _depth(word: Piece, direction: Array) -> float:
    """How far inside the cone a direction and its image lie."""
    return min(word.depth(direction), word.depth(word.matrix @ direction))
