"""Polyhedral cones in up to three dimensions as spherical polygons: cutting them, and Gaussian measures with moments.

A cone is kept as its intersection with the eight octants. Each of these is a convex polygon of up to sixteen rays, and
an inequality cuts it as a plane cuts a polygon. In fewer dimensions the others are free. A Gaussian is integrated along
each ray in closed form, and over directions by Gauss's rule on triangles, which are halved until they are small against
one, and against the angle that one sigma about the mean has as seen from the corner.
"""

from __future__ import annotations

import math

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel

_ON = 1e-12  # of the length of a row: a ray that is so near to its plane lies on it
_THIN = 1e-9  # a polygon of less area is empty
_LARGEST = 1.0  # rad: triangles with longer edges are halved, and sooner where the mean is far
_STACK = 48
_NEGLECTED = 32.0  # a triangle all of whose density is below exp(−32) of the largest
_ANGLES, _SHARES = (np.array(list(values)) for values in np.polynomial.legendre.leggauss(4))
# Gauss's rule in both directions of a triangle, of which one is squeezed to a point
POINTS = np.array([
    ((1.0 + x) / 2.0 * (1.0 - (1.0 + y) / 2.0), (1.0 + y) / 2.0, w * v / 4.0 * (1.0 - (1.0 + y) / 2.0))
    for x, w in zip(_ANGLES, _SHARES, strict=True)
    for y, v in zip(_ANGLES, _SHARES, strict=True)
])  # fmt: skip


@kernel
def whole_space(corners, size):
    """Write the cone of everything: corners (8, 16, 3), size (8,)."""
    for o in range(8):
        size[o] = 3
        for axis in range(3):
            for r in range(3):
                corners[o, axis, r] = 0.0
            corners[o, axis, axis] = -1.0 if (o >> axis) & 1 else 1.0


@kernel
def cut(a, b, c, corners, size):
    """Keep of a cone what has (a, b, c)·z ≥ 0; returns whether it has an interior.

    A polygon that would get more corners than fit stays as it is.
    """
    length = math.sqrt(a * a + b * b + c * c)
    left = False
    most = corners.shape[1]
    for o in range(8):
        count = size[o]
        if count == 0:
            continue
        ring = corners[o]
        above, below = 0, 0
        for i in range(count):
            height = a * ring[i, 0] + b * ring[i, 1] + c * ring[i, 2]
            above += height > _ON * length
            below += height < -_ON * length
        if below == 0:
            left = left or above > 0
            if above == 0:
                size[o] = 0
            continue
        if above == 0:
            size[o] = 0
            continue
        if count == most:
            left = True
            continue
        size[o] = _cut_ring(a, b, c, _ON * length, ring, count)
        if _area(ring, size[o]) <= _THIN:
            size[o] = 0
        left = left or size[o] > 0
    return left


@kernel
def _cut_ring(a, b, c, near, ring, count):
    """Cut one polygon in place; returns its corners."""
    # Turn the ring so that it starts with a corner that stays and follows one that goes.
    start = 0
    for i in range(count):
        before = (i + count - 1) % count
        here = a * ring[i, 0] + b * ring[i, 1] + c * ring[i, 2]
        last = a * ring[before, 0] + b * ring[before, 1] + c * ring[before, 2]
        if here >= -near and last < -near:
            start = i
    _rotate(ring, count, start)
    stay = 0
    while stay < count and a * ring[stay, 0] + b * ring[stay, 1] + c * ring[stay, 2] >= -near:
        stay += 1
    # The corners from ``stay`` on go; two new ones take their place, on the edges at either end of them.
    x0, y0, z0 = _crossing(a, b, c, near, ring[stay - 1], ring[stay])
    x1, y1, z1 = _crossing(a, b, c, near, ring[0], ring[count - 1])
    ring[stay, 0], ring[stay, 1], ring[stay, 2] = x0, y0, z0
    ring[stay + 1, 0], ring[stay + 1, 1], ring[stay + 1, 2] = x1, y1, z1
    return stay + 2


@kernel
def _rotate(ring, count, start):
    """Turn the corners of a ring, so that ``start`` comes first."""
    for _ in range(start):
        x, y, z = ring[0, 0], ring[0, 1], ring[0, 2]
        for i in range(count - 1):
            for r in range(3):
                ring[i, r] = ring[i + 1, r]
        ring[count - 1, 0], ring[count - 1, 1], ring[count - 1, 2] = x, y, z


@kernel
def _crossing(a, b, c, near, inside, outside):
    """Where the edge from a corner that stays to one that goes meets the plane."""
    here = a * inside[0] + b * inside[1] + c * inside[2]
    there = a * outside[0] + b * outside[1] + c * outside[2]
    if here <= near:
        return inside[0], inside[1], inside[2]
    part = here / (here - there)
    x = inside[0] + part * (outside[0] - inside[0])
    y = inside[1] + part * (outside[1] - inside[1])
    z = inside[2] + part * (outside[2] - inside[2])
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@kernel
def _area(ring, count):
    """The area of the flat triangles from the first corner, twice."""
    total = 0.0
    for i in range(1, count - 1):
        ax, ay, az = ring[i, 0] - ring[0, 0], ring[i, 1] - ring[0, 1], ring[i, 2] - ring[0, 2]
        bx, by, bz = ring[i + 1, 0] - ring[0, 0], ring[i + 1, 1] - ring[0, 1], ring[i + 1, 2] - ring[0, 2]
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        total += math.sqrt(x * x + y * y + z * z)
    return total


@kernel
def cone_moments(points, white, mean, corners, size, stack, moments):
    """Write the Gaussian measure of a cone, and moments within it.

    Args:
        points: :data:`POINTS`. white: (3, 3), lower triangular: y = white z has the unit covariance.
        mean: (3,) of y. corners, size: of the cone of z. stack: scratch (48, 9).
        moments: out (10,): ∫ φ, ∫ y φ, and ∫ y yᵀ φ as xx, xy, yy, xz, yz, zz, over the cone.
    """
    for r in range(10):
        moments[r] = 0.0
    far = math.sqrt(mean[0] ** 2 + mean[1] ** 2 + mean[2] ** 2)
    longest = _LARGEST / max(1.0, 0.5 * far)
    for o in range(8):
        for i in range(1, size[o] - 1):
            _whiten(white, corners[o, 0], stack[0], 0)
            _whiten(white, corners[o, i], stack[0], 3)
            _whiten(white, corners[o, i + 1], stack[0], 6)
            depth = 1
            while depth > 0:
                depth -= 1
                triangle = stack[depth]
                first, square = _longest_edge(triangle)
                if _negligible(triangle, mean, far, square):
                    continue
                if square > longest * longest and depth + 2 <= stack.shape[0]:
                    _halve(first, triangle, stack[depth + 1])
                    depth += 2
                else:
                    _integrate(points, triangle, mean, far, moments)


@kernel
def _whiten(white, corner, out, at):
    x = white[0, 0] * corner[0]
    y = white[1, 0] * corner[0] + white[1, 1] * corner[1]
    z = white[2, 0] * corner[0] + white[2, 1] * corner[1] + white[2, 2] * corner[2]
    length = math.sqrt(x * x + y * y + z * z)
    out[at], out[at + 1], out[at + 2] = x / length, y / length, z / length


@kernel
def _longest_edge(t):
    """(0, 1 or 2: the corner from which it starts, the square of its length)."""
    best, square = 0, -1.0
    for i in range(3):
        a, b = 3 * i, 3 * ((i + 1) % 3)
        value = (t[a] - t[b]) ** 2 + (t[a + 1] - t[b + 1]) ** 2 + (t[a + 2] - t[b + 2]) ** 2
        if value > square:
            best, square = i, value
    return best, square


@kernel
def _halve(first, triangle, other):
    """Halve a triangle along its longest edge; ``other`` gets the second half."""
    a, b = 3 * first, 3 * ((first + 1) % 3)
    x, y, z = triangle[a] + triangle[b], triangle[a + 1] + triangle[b + 1], triangle[a + 2] + triangle[b + 2]
    length = math.sqrt(x * x + y * y + z * z)
    for r in range(9):
        other[r] = triangle[r]
    triangle[b], triangle[b + 1], triangle[b + 2] = x / length, y / length, z / length
    other[a], other[a + 1], other[a + 2] = x / length, y / length, z / length


@kernel
def _negligible(t, mean, far, square):
    """Whether no ray through a triangle comes near to the mean: ‖y − mean‖² ≥ 2 · 32 everywhere."""
    if far * far <= 2.0 * _NEGLECTED:
        return False
    x, y, z = t[0] + t[3] + t[6], t[1] + t[4] + t[7], t[2] + t[5] + t[8]
    length = math.sqrt(x * x + y * y + z * z)
    cosine = (x * mean[0] + y * mean[1] + z * mean[2]) / (length * far)
    # A corner is nearer to the centre than the longest edge is long; an arc is at most π/2 times its chord.
    angle = math.acos(min(1.0, max(-1.0, cosine))) - 0.5 * math.pi * math.sqrt(square)
    if angle <= 0.0:
        return False
    distance = far if angle >= 0.5 * math.pi else far * math.sin(angle)
    return distance * distance > 2.0 * _NEGLECTED


@kernel
def _integrate(points, t, mean, far, moments):
    volume = t[0] * (t[4] * t[8] - t[5] * t[7]) - t[1] * (t[3] * t[8] - t[5] * t[6])
    volume += t[2] * (t[3] * t[7] - t[4] * t[6])
    volume = abs(volume) / (2.0 * math.pi) ** 1.5
    edge = math.exp(-0.5 * far * far)
    for k in range(points.shape[0]):
        s, r = points[k, 0], points[k, 1]
        q = 1.0 - s - r
        x = q * t[0] + s * t[3] + r * t[6]
        y = q * t[1] + s * t[4] + r * t[7]
        z = q * t[2] + s * t[5] + r * t[8]
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        b = x * mean[0] + y * mean[1] + z * mean[2]
        # I_n = ∫ r^n exp(−(r − b)²/2) dr, I_{n+1} = b I_n + n I_{n−1}; all of it times exp(−(far² − b²)/2)
        one = math.sqrt(0.5 * math.pi) * math.erfc(-b / math.sqrt(2.0)) * math.exp(-0.5 * max(far * far - b * b, 0.0))
        two = b * one + edge
        three = b * two + one
        four = b * three + 2.0 * two
        five = b * four + 3.0 * three
        weight = points[k, 2] * volume / (length * length * length)
        moments[0] += weight * three
        four *= weight
        moments[1] += four * x
        moments[2] += four * y
        moments[3] += four * z
        five *= weight
        moments[4] += five * x * x
        moments[5] += five * x * y
        moments[6] += five * y * y
        moments[7] += five * x * z
        moments[8] += five * y * z
        moments[9] += five * z * z
