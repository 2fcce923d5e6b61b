"""The saltation matrices of a word, multiplied up: what an impact makes of the derivatives before it.

With δq and δv before an impact of impulse Λ, a the acceleration and τ the time of its touchdown,

    δq⁺ = δq − M⁻¹JᵀΛ δτ,    δv⁺ = δv + ∂(M⁻¹JᵀΛ)/∂q δq + M⁻¹Jᵀ δΛ − (a⁺ − a*) δτ,    δτ = −J_i δq/φ̇_i.

Here a* is what the impact's own derivative makes of (v⁻, a⁻), and δΛ answers to the change of u = J v and of the
Delassus matrix. δq differs from that before the word by one product of a column and a row for each impact.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.sensitivity.local_model import clear, dot


@kernel
def start_map(local, levels, rate):
    """Write the identity, and ∂(J v)/∂q (n, nv) of the first velocity."""
    nv = local.J.shape[1]
    clear(levels.change[0])
    for i in range(nv):
        levels.change[0, i, nv + i] = 1.0
    for r in range(rate.shape[0]):
        for k in range(nv):
            levels.rate[0, r, k] = rate[r, k]


@kernel
def carry(step, struck, approach, local, levels, impact):
    """Write the derivatives after impact ``step`` (from 0) into the next level, but for the part of a⁺ − a*.

    ``struck``: the contact whose touchdown tells the time. ``approach``: m/s. Writes a* into ``impact.vector`` (nv,).
    """
    n, nv = local.J.shape
    c = n // 3
    s = 2 * nv + 3 * c
    before, after = levels.change[step], levels.change[step + 1]
    tau = levels.tau[step]
    rows, holding = _active(impact)
    _combine(step, rows, holding, local, levels, impact)
    # δτ: the row of the normal, δq before the impact; the ground's height counts against the gap
    for k in range(s):
        tau[k] = 0.0
    for k in range(nv):
        tau[k] = local.J[3 * struck, k] / approach
    _through_lifts(step, local.J[3 * struck], 1.0 / approach, levels, tau)
    tau[2 * nv + 2 * c + struck] -= 1.0 / approach
    # δu, of what has an impulse, and with what G changes by
    reach, reach2 = impact.reach, impact.reach2
    for a in range(rows):
        r = impact.acting[a]
        for k in range(s):
            reach[a, k] = 0.0
        for k in range(nv):
            reach[a, k] = impact.slope[r, k]
        _through_lifts(step, impact.slope[r], 1.0, levels, reach[a])
        _add_rows(nv, local.J[r], before, reach[a])
        if holding:
            for k in range(s):
                reach2[a, k] = reach[a, k]
            for k in range(nv):
                reach2[a, k] += impact.slope2[r, k]
            _through_lifts(step, impact.slope2[r], 1.0, levels, reach2[a])
    push = impact.push
    for a in range(rows):
        r = impact.acting[a]
        for k in range(s):
            push[a, k] = 0.0
        for b in range(rows):
            q = impact.acting[b]
            _take(impact.first[r, q], reach[b], push[a])
            if holding:
                _take(impact.second[r, q], reach2[b], push[a])
        for i in range(c):
            push[a, 2 * nv + i] += impact.by_friction[r, i]
            push[a, 2 * nv + c + i] += impact.by_restitution[r, i]
    for i in range(nv):
        out, turned, given = after[i], impact.turned[i], before[i]
        x = y = z = 0.0
        p, q, r = push[0], push[1], push[2]
        if rows > 0:
            one = impact.acting[0]
            x, y, z = local.A[one, i], local.A[one + 1, i], local.A[one + 2, i]
        for k in range(s):
            out[k] = given[k] + x * p[k] + y * q[k] + z * r[k]
        for a in range(3, rows, 3):
            one = impact.acting[a]
            x, y, z = local.A[one, i], local.A[one + 1, i], local.A[one + 2, i]
            p, q, r = push[a], push[a + 1], push[a + 2]
            for k in range(s):
                out[k] += x * p[k] + y * q[k] + z * r[k]
        for k in range(nv):
            out[k] += turned[k]
        _through_lifts(step, turned, 1.0, levels, out)
    _carried_field(step, rows, local, levels, impact)


@kernel
def _combine(step, rows, holding, local, levels, impact):
    """Write ∂(M⁻¹JᵀΛ)/∂q into ``turned``, and −M⁻¹JᵀΛ into ``lift``.

    ``slope`` is ∂u/∂q at fixed v with what G changes by in compression, ``slope2`` what it changes by more in
    restitution, and ``rate`` of the next level ∂(J v⁺)/∂q.
    """
    n, nv = local.J.shape
    turned, lift = impact.turned, levels.lift[step]
    clear(turned)
    for i in range(nv):
        lift[i] = 0.0
    for r in range(n):
        for k in range(nv):
            levels.rate[step + 1, r, k] = levels.rate[step, r, k]
    for a in range(rows):
        r = impact.acting[a]
        for k in range(nv):
            impact.slope[r, k] = levels.rate[step, r, k]
            impact.slope2[r, k] = 0.0
    a = 0
    while a + 3 <= rows:  # contacts, three rows each
        r = impact.acting[a]
        a += 3
        x, y, z = impact.total[r], impact.total[r + 1], impact.total[r + 2]
        p, q, o = impact.impulse[r], impact.impulse[r + 1], impact.impulse[r + 2]
        for i in range(nv):
            lift[i] -= x * local.A[r, i] + y * local.A[r + 1, i] + z * local.A[r + 2, i]
            out, one, two, three = turned[i], local.turn[r, i], local.turn[r + 1, i], local.turn[r + 2, i]
            for k in range(nv):
                out[k] += x * one[k] + y * two[k] + z * three[k]
        for i in range(n):
            out = levels.rate[step + 1, i]
            one, two, three = local.rate[r, i], local.rate[r + 1, i], local.rate[r + 2, i]
            for k in range(nv):
                out[k] += x * one[k] + y * two[k] + z * three[k]
        for b in range(rows):
            i = impact.acting[b]
            out, one, two, three = impact.slope[i], local.bend[r, i], local.bend[r + 1, i], local.bend[r + 2, i]
            for k in range(nv):
                out[k] += p * one[k] + q * two[k] + o * three[k]
            if holding:
                out = impact.slope2[i]
                for k in range(nv):
                    out[k] += (x - p) * one[k] + (y - q) * two[k] + (z - o) * three[k]


@kernel
def _add_rows(count, factors, matrix, out):
    """Add the sum of factors times rows of a matrix to ``out``; four rows at once."""
    j = 0
    while j + 4 <= count:
        a, b, c, d = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
            one, two, three, four = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
            for k in range(out.shape[0]):
                out[k] += a * one[k] + b * two[k] + c * three[k] + d * four[k]
        j += 4
    while j < count:
        _take(-factors[j], matrix[j], out)
        j += 1


@kernel
def _active(impact):
    """List the rows with an impulse in ``impact.acting``; returns how many there are, and whether contacts hold."""
    count, holding = 0, False
    n = impact.total.shape[0]
    for i in range(n // 3):
        if impact.kind[i] > 0 or impact.holds[i]:
            for r in range(3 * i, 3 * i + 3):
                impact.acting[count] = r
                count += 1
            holding = holding or impact.holds[i]
    return count, holding


@kernel
def _through_lifts(step, row, factor, levels, out):
    """Add factor row · (δq − δq at the start) to ``out`` (s,): the part of earlier impacts."""
    s = out.shape[0]
    for e in range(step):
        tau = levels.tau[e]
        total = factor * dot(row, levels.lift[e], levels.lift.shape[1])
        for k in range(s):
            out[k] += total * tau[k]


@kernel
def _take(value, row, out):
    if value != 0.0:
        for k in range(out.shape[0]):
            out[k] -= value * row[k]


@kernel
def _carried_field(step, rows, local, levels, impact):
    """Write a*, the velocity part of the impact's derivative applied to (v⁻, a⁻), into ``impact.vector``."""
    nv = local.J.shape[1]
    velocity, acceleration, out = levels.velocity[step], levels.acceleration[step], impact.vector
    for i in range(nv):
        out[i] = acceleration[i] + dot(impact.turned[i], velocity, nv)
    for b in range(rows):
        q = impact.acting[b]
        one = dot(impact.slope[q], velocity, nv) + dot(local.J[q], acceleration, nv)
        two = one + dot(impact.slope2[q], velocity, nv)
        for a in range(rows):
            r = impact.acting[a]
            value = impact.first[r, q] * one + impact.second[r, q] * two
            if value != 0.0:
                for i in range(nv):
                    out[i] -= local.A[r, i] * value


@kernel
def shift(step, levels, impact):
    """Take (a⁺ − a*) δτ from the derivatives after impact ``step``; a⁺ is that of the next level."""
    tau, after = levels.tau[step], levels.change[step + 1]
    for i in range(after.shape[0]):
        _take(levels.acceleration[step + 1, i] - impact.vector[i], tau, after[i])


@kernel
def write_map(steps, levels, matrix, columns):
    """Write S (2 nv, 2 nv) and the columns of parameters (2 nv, 3 c) of a word of so many impacts."""
    nv, s = levels.change.shape[1], levels.change.shape[2]
    last = levels.change[steps]
    for i in range(nv):
        for k in range(2 * nv):
            matrix[i, k] = 0.0
            matrix[nv + i, k] = last[i, k]
        for k in range(2 * nv, s):
            columns[i, k - 2 * nv] = 0.0
            columns[nv + i, k - 2 * nv] = last[i, k]
        matrix[i, i] = 1.0
        for e in range(steps):
            value = levels.lift[e, i]
            tau = levels.tau[e]
            for k in range(nv):
                matrix[i, k] += value * tau[k]
            for k in range(2 * nv, s):
                columns[i, k - 2 * nv] += value * tau[k]
