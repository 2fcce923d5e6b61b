"""Contact space: the Delassus matrix of a configuration, and its scaled form on friction axes."""

import math

from numba import njit

from hybrid_contact_ros.codes import Status

SOLVED = int(Status.SOLVED)
SINGULAR = int(Status.SINGULAR)
_PIVOT = 1e-14  # of the largest diagonal entry of M: below, M counts as singular
_ROUNDING = 1e-15  # of the sum of its parts' sizes: a contact velocity below is rounding of zero
_SLOW = 1e-5  # of ‖v‖_M: least velocity scale, so that rounding of v is never the measure of accuracy
_MASSLESS = 1e-14  # of the largest G_nn: a normal row below counts as zero and keeps its scale


@njit(cache=True, nogil=True, error_model="numpy")
def factor(M, L):
    """Cholesky factor of the mass matrix, M = L Lᵀ, reading the lower triangle only.

    M (n, n); L (n, n) out, upper triangle zero. SINGULAR where M is not safely positive definite (or not finite).
    """
    n = M.shape[0]
    largest = 0.0
    for i in range(n):
        largest = max(largest, M[i, i])
    for j in range(n):
        for i in range(j):
            L[i, j] = 0.0
        s = M[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        if not s > _PIVOT * largest:
            return SINGULAR
        diagonal = math.sqrt(s)
        L[j, j] = diagonal
        for i in range(j + 1, n):
            s = M[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / diagonal
    return SOLVED


@njit(cache=True, nogil=True, error_model="numpy")
def delassus(M, J, v, L, Y, R, G, u):
    """G = J M⁻¹ Jᵀ, u = J v and R = M⁻¹ Jᵀ of one configuration.

    M (n, n), J (r, n) contact by contact, v (n,); out: L (n, n) with M = L Lᵀ, Y (r, n) with rows L⁻¹ Jᵀ (so that
    G = Y Yᵀ and ‖R λ‖_M = ‖Yᵀ λ‖), R (r, n) with rows M⁻¹ Jᵀ, G (r, r), u (r,). Returns SOLVED or SINGULAR.
    """
    n = M.shape[0]
    r = J.shape[0]
    status = factor(M, L)
    if status != SOLVED:
        return status
    for a in range(r):
        for i in range(n):
            s = J[a, i]
            for k in range(i):
                s -= L[i, k] * Y[a, k]
            Y[a, i] = s / L[i, i]
        for i in range(n - 1, -1, -1):
            s = Y[a, i]
            for k in range(i + 1, n):
                s -= L[k, i] * R[a, k]
            R[a, i] = s / L[i, i]
        s = 0.0
        size = 0.0
        for i in range(n):
            part = J[a, i] * v[i]
            s += part
            size += abs(part)
        u[a] = s if abs(s) > _ROUNDING * size else 0.0
        for b in range(a + 1):
            s = 0.0
            for i in range(n):
                s += Y[a, i] * Y[b, i]
            G[a, b] = s
            G[b, a] = s
    return SOLVED


@njit(cache=True, nogil=True, error_model="numpy")
def axes(directions, d, A):
    """Unit vectors of the segments whose sum is the friction polygon with vertices at ``directions`` angles 2πj/k.

    A regular polygon with an even number k of vertices on the unit circle is the sum of the k/2 segments
    sin(π/k) [−1, 1] a_l, a_l its edge directions. A (g, d) out, g = 1 in the plane (d = 1), k/2 in space. Returns the
    half length of the segments: 1 in the plane, sin(π/k) in space.
    """
    if d == 1:
        A[0, 0] = 1.0
        return 1.0
    for axis in range(directions // 2):
        angle = math.pi * ((2 * axis + 1) / directions + 0.5)
        A[axis, 0] = math.cos(angle)
        A[axis, 1] = math.sin(angle)
    return math.sin(math.pi / directions)


@njit(cache=True, nogil=True, error_model="numpy")
def condense(A, half, floor, G, u, mu, scale, H, w, c):
    """The contact problem on friction axes, scaled so that G_nn = 1 and velocities are at most 1.

    A (g, d) and half as from :func:`axes`; floor, the least V to use; G (m (1 + d))², u (m (1 + d),), mu (m,).
    Out: scale (m,) = √G_nn, H (m (1 + g))² scaled Delassus matrix on normals and axes, w (m (1 + g),) velocities,
    c (m,) bound of an axis per normal impulse. Returns V: u = V scale w and λ = V λ_scaled / scale.
    """
    g = A.shape[0]
    d = A.shape[1]
    m = mu.shape[0]
    largest = 0.0
    for i in range(m):
        largest = max(largest, G[i * (1 + d), i * (1 + d)])
    for i in range(m):
        inertia = G[i * (1 + d), i * (1 + d)]
        if not inertia > _MASSLESS * largest:
            inertia = largest if largest > 0.0 else 1.0
        scale[i] = math.sqrt(inertia)
        c[i] = mu[i] * half
    V = floor
    for i in range(m):
        a = i * (1 + d)
        e = i * (1 + g)
        w[e] = u[a] / scale[i]
        V = max(V, abs(w[e]))
        for axis in range(g):
            s = 0.0
            for x in range(d):
                s += A[axis, x] * u[a + 1 + x]
            w[e + 1 + axis] = s / scale[i]
            V = max(V, abs(w[e + 1 + axis]))
        for j in range(i + 1):
            b = j * (1 + d)
            f = j * (1 + g)
            over = 1.0 / (scale[i] * scale[j])
            H[e, f] = G[a, b] * over
            for axis in range(g):
                s = 0.0
                t = 0.0
                for x in range(d):
                    s += A[axis, x] * G[a + 1 + x, b]
                    t += A[axis, x] * G[a, b + 1 + x]
                H[e + 1 + axis, f] = s * over
                H[e, f + 1 + axis] = t * over
                for q in range(g):
                    s = 0.0
                    for x in range(d):
                        for y in range(d):
                            s += A[axis, x] * A[q, y] * G[a + 1 + x, b + 1 + y]
                    H[e + 1 + axis, f + 1 + q] = s * over
            for p in range(1 + g):
                for q in range(1 + g):
                    H[f + q, e + p] = H[e + p, f + q]
    if V > 0.0:
        for e in range(m * (1 + g)):
            w[e] /= V
    return V


@njit(cache=True, nogil=True, error_model="numpy")
def prepare(directions, M, J, v, mu, L, Y, R, G, u, A, scale, H, w, c):
    """Everything that the impact solvers need of one configuration: :func:`delassus`, :func:`axes`, :func:`condense`.

    Returns (status, V); V = 0 if nothing moves.
    """
    status = delassus(M, J, v, L, Y, R, G, u)
    if status != SOLVED:
        return status, 0.0
    energy = 0.0
    n = v.shape[0]
    for i in range(n):
        s = 0.0
        for k in range(i, n):
            s += L[k, i] * v[k]
        energy += s * s
    half = axes(directions, A.shape[1], A)
    return SOLVED, condense(A, half, _SLOW * math.sqrt(energy), G, u, mu, scale, H, w, c)


@njit(cache=True, nogil=True, error_model="numpy")
def expand(A, scale, V, z, impulse):
    """Impulses in N s, (m, 1 + d) out, from scaled ones on axes, z (m (1 + g),)."""
    g = A.shape[0]
    d = A.shape[1]
    for i in range(scale.shape[0]):
        e = i * (1 + g)
        unit = V / scale[i]
        impulse[i, 0] = z[e] * unit
        for x in range(d):
            s = 0.0
            for axis in range(g):
                s += A[axis, x] * z[e + 1 + axis]
            impulse[i, 1 + x] = s * unit


@njit(cache=True, nogil=True, error_model="numpy")
def apply(v, R, impulse, out):
    """v⁺ = v + M⁻¹ Jᵀ Λ. v (n,), R (m (1 + d), n) rows M⁻¹ Jᵀ, impulse (m, 1 + d); out (n,)."""
    for k in range(v.shape[0]):
        out[k] = v[k]
    rows = impulse.shape[1]
    for i in range(impulse.shape[0]):
        for x in range(rows):
            s = impulse[i, x]
            if s != 0.0:
                for k in range(v.shape[0]):
                    out[k] += s * R[i * rows + x, k]
