"""How far an answer violates the conditions of an impact law, computed without the solver.

Both kernels return the largest violation of the natural map: each complementarity condition "z is in a convex set Z,
and −w' in the normal cone of Z at z" is measured as |z − projection of z − w' onto Z|, in scaled units
(:mod:`.friction_axes`), so that 1e-9 means nine digits of the speed of the approach.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel


@kernel(forceinline=True)
def axes_residual(g, H, w, cap, c, z, out):
    """Violation of Halm (72)–(74) on friction axes, scaled: z_n against [0, cap], and z_l against [−c z_n, c z_n].

    Args:
        g … c: :class:`.IncrementProblem`; cap = inf gives Halm (31)–(33). z: (p,).
        out: out, (p,), w' = w + H z, computed afresh.
    """
    p = H.shape[0]
    worst = 0.0
    for i in range(p):
        out[i] = w[i]
    for j in range(p):  # by columns, which are rows: sums along a row wait for each addition
        impulse = z[j]
        if impulse != 0.0:
            for i in range(p):
                out[i] += H[j, i] * impulse
    for k in range(cap.shape[0]):
        a = k * (1 + g)
        near = min(max(z[a] - out[a], 0.0), cap[k])
        worst = _larger(worst, abs(z[a] - near))
        bound = c[k] * max(z[a], 0.0)
        for i in range(a + 1, a + 1 + g):
            near = min(max(z[i] - out[i], -bound), bound)
            worst = _larger(worst, abs(z[i] - near))
    return worst


@kernel(forceinline=True)
def _larger(a, b):
    """The larger of two numbers; a NaN is kept."""
    return a if a >= b or a != a else b


@kernel
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


@kernel
def increment_residual(directions, G, u, mu, cap, V, impulse, after):
    """Violation of Halm (72)–(74), or of (31c, d) where cap = inf, by an impulse in SI units.

    Args:
        directions: vertices of the friction polygon; without effect in the plane.
        G: (r, r), r = m (1 + d). u: (r,), m/s, before. mu: (m,). cap: (m,), N s.
        V: √J, of :func:`.friction_axes.prepare` for the velocity with which the whole impact started.
        impulse: (m, 1 + d), N s.
        after: out, (r,), m/s, J v'.
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
