"""How far an answer violates the conditions of an impact law, found without the solver.

Both kernels return a largest violation in the natural-map sense: each complementarity condition "z in a convex set Z
and −w' in the normal cone of Z at z" is measured as |z − projection onto Z of (z − w')|, in scaled units (velocities
over V scale, impulses over V / scale, :mod:`.delassus`), so that 1e-9 means nine digits of the approach's speed.
"""

import math

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def axes_residual(g, H, w, cap, c, z, out):
    """Violation on friction axes, everything scaled; out (p,) is w' = w + H z, computed afresh.

    z_n against [0, cap] and z_l against [−c z_n, c z_n] (H 72–74); cap = inf gives H 31–33.
    """
    p = H.shape[0]
    worst = 0.0
    for i in range(p):
        s = w[i]
        for j in range(p):
            s += H[i, j] * z[j]
        out[i] = s
    for k in range(cap.shape[0]):
        a = k * (1 + g)
        near = min(max(z[a] - out[a], 0.0), cap[k])
        worst = _larger(worst, abs(z[a] - near))
        bound = c[k] * max(z[a], 0.0)
        for i in range(a + 1, a + 1 + g):
            near = min(max(z[i] - out[i], -bound), bound)
            worst = _larger(worst, abs(z[i] - near))
    return worst


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _larger(a, b):
    """max that keeps a NaN."""
    return a if a >= b or a != a else b


@njit(cache=True, nogil=True, error_model="numpy")
def _polygon_distance(directions, radius, px, py, zx, zy):
    """Distance from z to the projection of p onto the regular polygon with vertices radius (cos, sin)(2πj/k)."""
    k = directions
    turn = 2.0 * math.pi / k
    inside = k > 2
    if inside:
        apothem = radius * math.cos(turn / 2)
        for j in range(k):
            angle = turn * (j + 0.5)
            if px * math.cos(angle) + py * math.sin(angle) > apothem:
                inside = False
                break
    if inside:
        return math.hypot(px - zx, py - zy)
    best = math.inf
    bx = 0.0
    by = 0.0
    for j in range(k):
        ax = radius * math.cos(turn * j)
        ay = radius * math.sin(turn * j)
        ex = radius * math.cos(turn * (j + 1)) - ax
        ey = radius * math.sin(turn * (j + 1)) - ay
        length = ex * ex + ey * ey
        s = ((px - ax) * ex + (py - ay) * ey) / length if length > 0.0 else 0.0
        s = min(max(s, 0.0), 1.0)
        qx = ax + s * ex
        qy = ay + s * ey
        distance = (px - qx) ** 2 + (py - qy) ** 2
        if distance < best:
            best = distance
            bx = qx
            by = qy
    return math.hypot(bx - zx, by - zy)


@njit(cache=True, nogil=True, error_model="numpy")
def increment_residual(directions, G, u, mu, cap, V, impulse, after):
    """Violation of H (72)–(74), or of (31c, d) where cap = inf, by an impulse.

    ``directions`` vertices of the friction polygon (unused in the plane); G (m (1 + d))², u (m (1 + d),) before,
    mu (m,), cap (m,) N s, V the scale that :func:`~.delassus.condense` returned for the velocity that the whole impact
    started with, impulse (m, 1 + d); after (m (1 + d),) out, J v'.
    """
    r = u.shape[0]
    rows = impulse.shape[1]
    m = mu.shape[0]
    largest = 0.0
    for i in range(m):
        largest = max(largest, G[i * rows, i * rows])
    for a in range(r):
        s = u[a]
        for b in range(r):
            s += G[a, b] * impulse[b // rows, b % rows]
        after[a] = s
    worst = 0.0
    if V <= 0.0:
        for i in range(m):
            for x in range(rows):
                worst = _larger(worst, abs(impulse[i, x]))
        return worst
    for i in range(m):
        a = i * rows
        inertia = G[a, a]
        if not inertia > 1e-14 * largest:
            inertia = largest if largest > 0.0 else 1.0
        scale = math.sqrt(inertia)
        unit = V / scale
        speed = V * scale
        z = impulse[i, 0] / unit
        near = min(max(z - after[a] / speed, 0.0), cap[i] / unit)
        worst = _larger(worst, abs(z - near))
        radius = mu[i] * max(z, 0.0)
        zx = impulse[i, 1] / unit
        px = zx - after[a + 1] / speed
        if rows == 2:
            near = min(max(px, -radius), radius)
            worst = _larger(worst, abs(zx - near))
        else:
            zy = impulse[i, 2] / unit
            py = zy - after[a + 2] / speed
            worst = _larger(worst, _polygon_distance(directions, radius, px, py, zx, zy))
    return worst
