"""Bounds that no outcome of an impact exceeds, whatever the order, the step or the friction polygon: the fast ones."""

import math

from hybrid_contact_ros.kernels.compiling import kernel

_SOLVER_ROOM = 1e-8  # of √G_nn ‖v‖_M: room for the solver's residual in every velocity that is bounded
_SEPARATED = 2e-8  # m/s; the published implementation takes contacts that approach by 1e-8 m/s as separated


@kernel
def impulse_bounds(
    # problem:
    d,
    G,
    u,
    mu,
    restitution_gain,
    residual_slack,
    speed,
    # scratch:
    N,
    # out:
    low,
    high,
):
    """Bound the total normal impulse of every contact, N s, over all outcomes whose contacts have separated.

    The bounds follow from three properties of every increment: compression pushes only where the contact does not
    separate in the end (J_n v' ≤ 0 where λ_n > 0, the complementarity of Halm (75)); impulses lie in the friction cone;
    and when all is over no contact approaches. A unit of normal impulse at contact i opens it by
    a_i = G_ii − μ_i ‖G_i,it‖ or more, and one at j closes it by ν_ij = max(0, μ_j ‖G_i,jt‖ − G_ij) or less. What
    compression opens was closed before:

        a_i C_i ≤ max(−u_i⁻, 0) + Σ_{j≠i} ν_ij Λ_j,

    where C_i is the impulse of compression at i, and Λ_j all of the impulse at j. For max(−u_i, 0), and what the other
    contacts can still close, sum to a number that never increases, and that each push at i lowers by a_i or more.
    Poisson's law has Λ_i ≤ (1 + e) C_i; by Stronge's law Λ_i is bounded as if it had
    (:func:`hybrid_contact_ros.impacts.impulse_laws.restitution_row`). Together N Λ ≤ max(−u⁻, 0) with N_ij ≤ 0 off the
    diagonal. Where N is an M-matrix its inverse has no negative entry, and Λ ≤ N⁻¹ max(−u⁻, 0). That no contact
    penetrates then bounds Λ from below.

    Args:
        d: tangents per contact. G: (r, r), 1/kg, r = m (1 + d). u: J v⁻ (r,), m/s. mu: μ (m,).
        restitution_gain: (m,), total impulse over that of compression alone, 1 + e.
        residual_slack: how many times the room for the solver's residual is needed; 1 but for Stronge's law.
        speed: ‖v⁻‖_M, √J. N: scratch (m, m). low, high: out, (m,), N s.

    Returns:
        1; or 0 where N is no M-matrix (contacts coupled so strongly that these properties bound nothing), and then
        low is 0 and high infinite.
    """
    m = mu.shape[0]
    w = 1 + d
    for i in range(m):
        own = G[i * w, i * w]
        if not own > 0.0:
            return _unbounded(low, high)
        high[i] = max(-u[i * w], 0.0) + residual_slack * (_SOLVER_ROOM * math.sqrt(own) * speed + _SEPARATED)
        for j in range(m):
            direct, friction = _coupling(d, G, mu, i, j)
            if i == j:
                N[i, j] = (own - friction) / restitution_gain[i]
            else:
                N[i, j] = min(direct - friction, 0.0)
    # Elimination without pivoting; all pivots are positive exactly for an M-matrix.
    for k in range(m):
        if not N[k, k] > 1e-9 * G[k * w, k * w]:
            return _unbounded(low, high)
        for i in range(k + 1, m):
            factor = N[i, k] / N[k, k]
            if factor != 0.0:
                for j in range(k + 1, m):
                    N[i, j] -= factor * N[k, j]
                high[i] -= factor * high[k]
    for k in range(m - 1, -1, -1):
        s = high[k]
        for j in range(k + 1, m):
            s -= N[k, j] * high[j]
        high[k] = s / N[k, k] * (1.0 + 1e-9)
    for i in range(m):
        direct, friction = _coupling(d, G, mu, i, i)
        s = -u[i * w] - _SOLVER_ROOM * math.sqrt(direct) * speed - _SEPARATED
        for j in range(m):
            if j != i:
                other, rubbing = _coupling(d, G, mu, i, j)
                s -= max(other + rubbing, 0.0) * high[j]
        low[i] = max(s, 0.0) / (direct + friction) * (1.0 - 1e-9)
    return 1


@kernel
def _coupling(d, G, mu, i, j):
    """(G_in,jn, μ_j ‖G_in,jt‖): what a unit normal impulse at j does to the normal velocity of i, and what its friction
    can do at most."""
    row = i * (1 + d)
    column = j * (1 + d)
    s = 0.0
    for t in range(1, 1 + d):
        s += G[row, column + t] ** 2
    return G[row, column], mu[j] * math.sqrt(s)


@kernel
def _unbounded(low, high):
    """Write that nothing is known of the impulses."""
    for i in range(low.shape[0]):
        low[i] = 0.0
        high[i] = math.inf
    return 0


@kernel
def tighten(d, B, base, mu, low, high, lower, upper):
    """Narrow bounds of base + Bᵀ Λ by the impulses that are possible: normal ones in [low, high], friction in the cone.

    Args:
        d, mu, low, high: as of :func:`impulse_bounds`. B: (m (1 + d), k). base: (k,).
        lower, upper: in and out, (k,).
    """
    m = mu.shape[0]
    for k in range(base.shape[0]):
        least = base[k]
        most = base[k]
        size = abs(base[k])
        for i in range(m):
            row = i * (1 + d)
            s = 0.0
            for t in range(1, 1 + d):
                s += B[row + t, k] ** 2
            rub = mu[i] * math.sqrt(s)
            up = B[row, k] + rub
            down = B[row, k] - rub
            if up != 0.0:
                part = up * (high[i] if up > 0.0 else low[i])
                most += part
                size += abs(part)
            if down != 0.0:
                part = down * (low[i] if down > 0.0 else high[i])
                least += part
                size += abs(part)
        lower[k] = max(lower[k], least - 1e-12 * size)
        upper[k] = min(upper[k], most + 1e-12 * size)


@kernel
def energy_bounds(L, Y, v, Q, lower, upper):
    """Bound every v⁺ with ‖v⁺‖_M ≤ ‖v‖_M that impulses at the contacts can cause, component by component.

    In x = Lᵀ v, whose length is the kinetic norm, impulses do not change the part that is orthogonal to the rows of Y,
    and the rest ends within the ball of its present length. The bounds are wider by 1e-9 of that for rounding.

    Args:
        L: (n, n), M = L Lᵀ. Y: (r, n), the rows L⁻¹ Jᵀ. v: (n,). Q: scratch (n + 1, n). lower, upper: out, (n,).
    """
    n = v.shape[0]
    rank = 0
    for a in range(Y.shape[0]):
        if rank == n:
            break
        q = Q[rank]
        size = 0.0
        for k in range(n):
            q[k] = Y[a, k]
            size += q[k] * q[k]
        if size == 0.0:
            continue
        size = math.sqrt(size)
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            for b in range(rank):
                s = 0.0
                for k in range(n):
                    s += Q[b, k] * q[k]
                for k in range(n):
                    q[k] -= s * Q[b, k]
        rest = 0.0
        for k in range(n):
            rest += q[k] * q[k]
        rest = math.sqrt(rest)
        if rest > 1e-11 * size:
            for k in range(n):
                q[k] /= rest
            rank += 1
    x = Q[n]
    energy = 0.0
    for i in range(n):
        s = 0.0
        for k in range(i, n):
            s += L[k, i] * v[k]
        x[i] = s
        energy += s * s
        upper[i] = 0.0
    moving = 0.0
    for b in range(rank):
        s = 0.0
        for k in range(n):
            s += Q[b, k] * x[k]
        moving += s * s
        for k in range(n):
            x[k] -= s * Q[b, k]
    for b in range(rank + 1):
        y = Q[b] if b < rank else x
        for i in range(n - 1, -1, -1):
            s = y[i]
            for k in range(i + 1, n):
                s -= L[k, i] * y[k]
            y[i] = s / L[i, i]
        if b < rank:
            for i in range(n):
                upper[i] += y[i] * y[i]
    radius = math.sqrt(moving) * (1.0 + 1e-9) + 1e-12 * math.sqrt(energy)
    for i in range(n):
        half = radius * math.sqrt(upper[i]) + 1e-12 * abs(x[i])
        lower[i] = x[i] - half
        upper[i] = x[i] + half
