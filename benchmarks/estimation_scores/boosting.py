"""Gradient boosting of shallow trees for yes/no answers: what ceilings are made with. Numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.estimation_scores.episodes import Array, Bools

_BINS = 48
_RATE, _RIDGE = 0.15, 20.0  # part of each tree that is added; what is added to the curvature of a leaf


@dataclass(frozen=True, slots=True, eq=False)
class Boosted:
    """edges: (features, bins − 1). trees: of each, features and bins of its 2^depth − 1 splits, and 2^depth leaves."""

    edges: Array
    base: float
    trees: list[tuple[np.ndarray, np.ndarray, Array]]

    def probability(self, x: Array) -> Array:
        """Of rows (n, features)."""
        binned, score = _binned(x, self.edges), np.full(len(x), self.base)
        for feature, cut, leaves in self.trees:
            score += leaves[_leaf(binned, feature, cut)]
        return np.asarray(1.0 / (1.0 + np.exp(-score)))


def boost(x: Array, y: Bools, rounds: int = 60, depth: int = 3) -> Boosted:
    """Fit rows x (n, features) to y (n,) by Newton steps on the log loss, level by level.

    Example:
        >>> x = np.linspace(-1.0, 1.0, 400)[:, None]
        >>> fitted = boost(x, x[:, 0] > 0.25)
        >>> fitted.probability(np.array([[-0.5], [0.5]])).round(1).tolist()
        [0.0, 1.0]
    """
    edges = np.quantile(x, np.linspace(0.0, 1.0, _BINS + 1)[1:-1], axis=0).T.copy()
    binned = _binned(x, edges)
    share = float(np.clip(y.mean(), 1e-3, 1.0 - 1e-3))
    base = float(np.log(share / (1.0 - share)))
    score, trees = np.full(len(x), base), []
    for _ in range(rounds):
        p = 1.0 / (1.0 + np.exp(-score))
        tree = _tree(binned, y - p, p * (1.0 - p), depth)
        score += tree[2][_leaf(binned, tree[0], tree[1])]
        trees.append(tree)
    return Boosted(edges, base, trees)


def _binned(x: Array, edges: Array) -> np.ndarray:
    return np.stack([np.searchsorted(e, column, side="left") for e, column in zip(edges, x.T, strict=True)])


def _leaf(binned: np.ndarray, feature: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Which leaf each row ends in; node j has the children 2 j + 1 and 2 j + 2."""
    node, rows = np.zeros(binned.shape[1], dtype=np.int64), np.arange(binned.shape[1])
    for _ in range(int(np.log2(feature.size + 1))):
        node = 2 * node + 1 + (binned[feature[node], rows] > cut[node])
    return node - feature.size


def _tree(binned: np.ndarray, g: Array, h: Array, depth: int) -> tuple[np.ndarray, np.ndarray, Array]:
    inner = 2**depth - 1
    feature, cut = np.zeros(inner, dtype=np.int64), np.full(inner, _BINS)
    node = np.zeros(g.size, dtype=np.int64)
    rows = np.arange(g.size)
    for level in range(depth):
        width, first = 2**level, 2**level - 1
        gains = np.empty((binned.shape[0], width, _BINS))
        for f, column in enumerate(binned):
            at = (node - first) * _BINS + column
            left = [np.bincount(at, w, width * _BINS).reshape(width, _BINS).cumsum(axis=1) for w in (g, h)]
            total = [x[:, -1:] for x in left]
            gains[f] = sum(_gain(a, b) for a, b in (left, [t - x for t, x in zip(total, left, strict=True)]))
        for j in range(width):
            feature[first + j], cut[first + j] = np.unravel_index(int(gains[:, j].argmax()), gains[:, j].shape)
        node = 2 * node + 1 + (binned[feature[node], rows] > cut[node])
    size = inner + 1
    sums = [np.bincount(node - inner, w, size) for w in (g, h)]
    return feature, cut, _RATE * sums[0] / (sums[1] + _RIDGE)


def _gain(g: Array, h: Array) -> Array:
    return np.asarray(g**2 / (h + _RIDGE))
