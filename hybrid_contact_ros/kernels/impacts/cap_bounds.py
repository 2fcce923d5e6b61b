"""How far outcomes of a landing may be from that of sticking contacts, by energy and by what contacts cannot do.

Symbols are those of :mod:`~hybrid_contact_ros.kernels.impacts.landing_bounds`. In y = Lᵀ v, M + diag k = L Lᵀ, let
c = L⁻¹Jᵀλ_s be what contacts that all stick would change, and e = L⁻¹JᵀΓ ũ what the outcome is beyond that. The law's
λᵀũ ≤ 0 is e·(c + e) ≤ 0. Split c = Σ ηᵢ nᵢ + c⊥ by the normals nᵢ = L⁻¹J_nᵢᵀ. No contact penetrates, nᵢ·e ≥ 0, and so,
where all ηᵢ ≥ 0,

    ‖e‖² + c⊥·e + Σ ηᵢ (nᵢ·e) ≤ 0:    ‖e + c⊥/2‖ ≤ ‖c⊥‖/2,    Σ ηᵢ (nᵢ·e) ≤ ‖c⊥‖²/4.

What of a contact pulls (ηᵢ < 0) counts as c⊥. This is much less than energy alone, ‖e‖ ≤ ‖c‖, since c⊥ is only what
friction would have to do; and it holds for any coupling of the contacts. What the parameters change of c they change of
c⊥ by no more than its part across the normals. All is said in contact space: nᵢ·nⱼ = Gₙᵢₙⱼ, K = G_nn⁻¹.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.bound_maps import inner, invert

_ROOM = 1e-9  # of sizes, for rounding


@kernel
def _across(w, velocity, impulse, s):
    """Norm of what a change of c, with contact velocities ``velocity`` (r,) and impulses ``impulse`` (r,), changes of
    c⊥; cap_m[4] = of η."""
    m = s.K.shape[0]
    whole, along = 0.0, 0.0
    for a in range(velocity.size):
        whole += velocity[a] * impulse[a]
    for i in range(m):
        total = 0.0
        for k in range(m):
            total += s.K[i, k] * velocity[k * w]
        s.cap_m[4, i] = total
        along += total * velocity[i * w]
    return math.sqrt(max(whole - along, 0.0) + _ROOM * _ROOM * abs(whole))


@kernel
def prepare_cap(w, duration_half, bias, radius, s):
    """What a piece of the interval of k needs: K, how coordinates depend on openings (cap_rows) and on e across the
    normals (n_vectors[8]), η (cap_m[0]) and by how much w and the duration change it (cap_m[1]), the impulses of c⊥
    (r_vectors[7]). Returns (‖c⊥‖, how much w and the duration change of it); (inf, inf) if normals are dependent."""
    m, n, r = s.K.shape[0], bias.size, radius.size
    still, rest, velocity, impulse = s.r_vectors[0], s.r_vectors[7], s.r_vectors[8], s.r_vectors[9]
    for i in range(m):
        for k in range(m):
            s.cap_square[i, k] = s.G[i * w, k * w]
    if not invert(m, _ROOM, s.cap_square, s.B, s.K):
        return math.inf, math.inf
    for i in range(m):
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += s.K[i, k] * s.R[k * w, j]
            s.cap_rows[i, j] = total
    for j in range(n):
        whole, along = 0.0, 0.0
        for a in range(r):
            whole += s.back[a, j] * s.R[a, j]
        for i in range(m):
            along += s.R[i * w, j] * s.cap_rows[i, j]
        s.n_vectors[8, j] = math.sqrt(max(whole - along, 0.0) + _ROOM * _ROOM * abs(whole))
    for i in range(m):
        total = 0.0
        for k in range(m):
            total += s.K[i, k] * inner(s.G[k * w], still)
        s.cap_m[0, i] = total
    for a in range(r):
        rest[a] = still[a] - (s.cap_m[0, a // w] if a % w == 0 else 0.0)
        velocity[a] = duration_half * inner(s.R[a], bias)
        impulse[a] = duration_half * inner(s.back[a], bias)
    changes, size = _across(w, velocity, impulse, s), 0.0
    for i in range(m):
        s.cap_m[1, i] = abs(s.cap_m[4, i])
        for k in range(m):
            s.cap_m[1, i] += abs(s.K[i, k]) * radius[k * w]
    for a in range(r):
        size += inner(s.G[a], rest) * rest[a]
        own = s.gamma[a, a] - (s.K[a // w, a // w] if a % w == 0 else 0.0)
        changes += radius[a] * math.sqrt(max(own, 0.0) + _ROOM * _ROOM * s.gamma[a, a])
    return math.sqrt(max(size, 0.0)), changes


@kernel
def narrow_by_cap(w, half, size_of_rest, changes, s):
    """Narrow the bounds of v⁺ − v⁻ (n_vectors 1 and 2), after :func:`~.bound_maps.vary`, whose spread is read; the
    arguments after ``half`` are what :func:`prepare_cap` returned."""
    m, n, r = s.K.shape[0], half.size, s.R.shape[0]
    centre, low, high, spread, size, across = (
        s.n_vectors[0], s.n_vectors[1], s.n_vectors[2], s.n_vectors[3], s.n_vectors[6], s.n_vectors[8],
    )  # fmt: skip
    slip, rest, velocity = s.r_vectors[1], s.r_vectors[7], s.r_vectors[8]
    for a in range(r):
        total = 0.0
        for j in range(n):
            total += s.R[a, j] * half[j] * 0.5 * (low[j] + high[j])
        velocity[a] = total
    more = changes + _across(w, velocity, s.r_vectors[6], s)
    for j in range(n):
        more += across[j] * size[j]
    for i in range(m):
        unsure = s.cap_m[1, i] + abs(s.cap_m[4, i])
        for j in range(n):
            unsure += abs(s.cap_rows[i, j]) * size[j]
        least = s.cap_m[0, i] - unsure
        s.cap_m[2, i] = least
        if least < 0.0:
            more -= least * math.sqrt(s.G[i * w, i * w])
    radius = 0.5 * size_of_rest + more
    square = (0.5 * (size_of_rest + more)) ** 2
    for i in range(m):  # how far contacts may open
        s.cap_m[3, i] = 2.0 * radius * math.sqrt(s.G[i * w, i * w])
        if s.cap_m[2, i] > 0.0:
            s.cap_m[3, i] = min(s.cap_m[3, i], square / s.cap_m[2, i])
    for j in range(n):
        middle = centre[j]
        for a in range(r):
            middle -= s.back[a, j] * slip[a] + 0.5 * s.R[a, j] * rest[a]
        up = down = best = worst = 0.0
        for i in range(m):
            opened = s.cap_rows[i, j]
            part = opened * s.cap_m[3, i]
            ratio = opened * square / s.cap_m[2, i] if s.cap_m[2, i] > 0.0 else opened * math.inf
            if opened > 0.0:
                up += part
                best = max(best, ratio)
            elif opened < 0.0:
                down += part
                worst = min(worst, ratio)
        reach = spread[j] + radius * across[j]
        reach += _ROOM * (reach + abs(middle) + up - down)
        low[j] = max(low[j], middle - reach + max(down, worst))
        high[j] = min(high[j], middle + reach + min(up, best))
