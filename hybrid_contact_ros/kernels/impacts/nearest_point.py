"""The point of a convex hull plus a zonotope that is nearest to another point (Wolfe 1976)."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel

_SOLVED, _LIMIT, _INACCURATE = int(Status.SOLVED), int(Status.STEP_LIMIT), int(Status.INACCURATE)
_PIVOT = 1e-26  # squared: corners that are nearer to the flat of the others lie on it
_ROUNDING = 4e-16  # of the target's coordinates
_WEIGHT = 1e-13  # less is none


@kernel
def _corner(points, generators, target, x, corner, signs):
    """Write the corner that reaches farthest against ``x``, less ``target``. Returns its point's index and corner·x."""
    n = x.size
    best, least = 0, np.inf
    for i in range(points.shape[0]):
        along = 0.0
        for k in range(n):
            along += (points[i, k] - target[k]) * x[k]
        if along < least:
            best, least = i, along
    for k in range(n):
        corner[k] = points[best, k] - target[k]
    for j in range(generators.shape[0]):
        along = 0.0
        for k in range(n):
            along += generators[j, k] * x[k]
        signs[j] = -1.0 if along > 0.0 else 1.0 if along < 0.0 else 0.0
        if signs[j] != 0.0:
            for k in range(n):
                corner[k] += signs[j] * generators[j, k]
    least = 0.0
    for k in range(n):
        least += corner[k] * x[k]
    return best, least


@kernel
def _flat_weights(count, corners, Q, R, t, u):
    """Weights ``u`` of the point nearest to 0 on the flat through the corners. Returns whether they span it.

    By orthonormal rows Q of the differences qᵢ − q0 = Σ R[j, i] Qⱼ, each made orthogonal twice; corners may lie as far
    from 0 and as near to each other as they like.
    """
    n = corners.shape[1]
    size = count - 1
    for i in range(size):
        first = 0.0
        for k in range(n):
            Q[i, k] = corners[i + 1, k] - corners[0, k]
            first += Q[i, k] * Q[i, k]
            R[k, i] = 0.0
        for _ in range(2):
            for j in range(i):
                along = 0.0
                for k in range(n):
                    along += Q[j, k] * Q[i, k]
                R[j, i] += along
                for k in range(n):
                    Q[i, k] -= along * Q[j, k]
        square = 0.0
        for k in range(n):
            square += Q[i, k] * Q[i, k]
        if not square > _PIVOT * first:
            return False
        R[i, i] = square**0.5
        for k in range(n):
            Q[i, k] /= R[i, i]
    u[0] = 1.0
    for i in range(size):
        t[i] = 0.0
        for k in range(n):
            t[i] -= Q[i, k] * corners[0, k]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            t[i] -= R[i, j] * t[j]
        t[i] /= R[i, i]
        u[i + 1] = t[i]
        u[0] -= t[i]
    return True


@kernel
def _keep_positive(count, corners, indices, signs, weights):
    """Drop corners without weight. Returns how many are left."""
    kept = 0
    for i in range(count):
        if weights[i] > _WEIGHT:
            if kept < i:
                for k in range(corners.shape[1]):
                    corners[kept, k] = corners[i, k]
                for j in range(signs.shape[1]):
                    signs[kept, j] = signs[i, j]
                indices[kept], weights[kept] = indices[i], weights[i]
            kept += 1
    return kept


@kernel
def _move(count, weights, u):
    """Move from ``weights`` to ``u``, or to the first weight that vanishes on the way. Returns whether it arrives."""
    part, first = 1.0, -1
    for i in range(count):
        if u[i] <= _WEIGHT and weights[i] > u[i]:
            reach = weights[i] / (weights[i] - u[i])
            if reach < part or first < 0:
                part, first = min(reach, 1.0), i
    for i in range(count):
        weights[i] += part * (u[i] - weights[i])
    if first < 0:
        return True
    weights[first] = 0.0
    return False


@kernel
def nearest_point(
    # constants:
    tolerance, limit,
    # problem:
    points, generators, target,
    # scratch:
    corners, indices, signs, weights, Q, R, t, u, x,
    # out:
    share, part, normal,
):  # fmt: skip
    """Find the point of hull(points) + {Σ zⱼ gⱼ : |zⱼ| ≤ 1} that is nearest to ``target``.

    Wolfe's method: x is the nearest point of a simplex of corners of the set; the corner that reaches farthest against
    x joins them, and those without weight leave. Each x is a point of the set, and each corner bounds the distance from
    below, since nothing of the set lies beyond the plane through it across x: both ends are certain at any step.

    Args:
        tolerance: allowed difference of the bounds, and distance that counts as none, in parts of the largest distance
            of a corner; what numbers are rounded by is added, of which little is known near the set. limit: of steps.
        points: (k, n), k ≥ 1. generators: (g, n). target: (n,).
        corners: (n + 2, n). indices: (n + 2,) int64. signs: (n + 2, g). weights, t, u: (n + 2,). Q: (n + 1, n).
            R: (n + 1, n + 1). x: (n,).
        share: (k,) weights of the points, ≥ 0, of sum 1. part: (g,) z. normal: (n,), a unit vector, or 0 where the
            target is inside: nothing of the set reaches farther against it than ``lower``.

    Returns:
        (status, upper, lower, steps): the distance lies between the bounds. INACCURATE or STEP_LIMIT where they are
        farther apart than ``tolerance``.
    """
    n, g = target.size, generators.shape[0]
    scale, nearest = 0.0, np.inf
    for i in range(points.shape[0]):
        square = 0.0
        for k in range(n):
            square += (points[i, k] - target[k]) ** 2
        scale = max(scale, square**0.5)
        if square < nearest:
            nearest = square
            for k in range(n):
                x[k] = points[i, k] - target[k]
    for j in range(g):
        square = 0.0
        for k in range(n):
            square += generators[j, k] ** 2
        scale += square**0.5
    square = 0.0
    for k in range(n):
        square += target[k] * target[k]
        normal[k] = 0.0
    near = tolerance * scale + _ROUNDING * n * square**0.5
    indices[0], _ = _corner(points, generators, target, x, corners[0], signs[0])
    weights[0] = 1.0
    count = 1
    for k in range(n):
        x[k] = corners[0, k]
    status, lower, upper, steps = _LIMIT, 0.0, np.inf, 0
    while steps < limit:
        steps += 1
        square = 0.0
        for k in range(n):
            square += x[k] * x[k]
        before, upper = upper, square**0.5
        if upper <= near:
            lower, status = 0.0, _SOLVED
            for k in range(n):
                normal[k] = 0.0
            break
        index, along = _corner(points, generators, target, x, corners[count], signs[count])
        if along / upper > lower:
            lower = along / upper
            for k in range(n):
                normal[k] = x[k] / upper
        # A plane's place is rounded by some ulps of scale², its distance by that over ``upper``.
        if upper - lower <= near or (upper - lower) * upper <= _ROUNDING * n * scale * scale:
            status = _SOLVED
            break
        if upper >= before or count > n:  # rounding: nothing gained
            status = _INACCURATE
            break
        indices[count], weights[count] = index, 0.0
        count += 1
        spans = True
        while True:
            spans = _flat_weights(count, corners, Q, R, t, u)
            if not spans:
                count -= 1  # the last one lies on the flat of the others, but for rounding
                break
            arrived = _move(count, weights, u)
            count = _keep_positive(count, corners, indices, signs, weights)
            if arrived:
                break
        total = 0.0
        for i in range(count):
            total += weights[i]
        for k in range(n):
            x[k] = 0.0
            for i in range(count):
                x[k] += weights[i] / total * corners[i, k]
        if not spans:
            status = _INACCURATE
            break
    for i in range(points.shape[0]):
        share[i] = 0.0
    for j in range(g):
        part[j] = 0.0
    total = 0.0
    for i in range(count):
        total += weights[i]
    for i in range(count):
        share[indices[i]] += weights[i] / total
        for j in range(g):
            part[j] += weights[i] / total * signs[i, j]
    return status, upper, lower, steps
