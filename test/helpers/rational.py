"""Proofs about matrices of rational numbers, which do not round."""


def positive_definite(matrix):
    """Whether all pivots of Gauss' elimination are positive, in rational numbers."""
    rows = [list(row) for row in matrix]
    for k in range(len(rows)):
        if rows[k][k] <= 0:
            return False
        for i in range(k + 1, len(rows)):
            share = rows[i][k] / rows[k][k]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True
