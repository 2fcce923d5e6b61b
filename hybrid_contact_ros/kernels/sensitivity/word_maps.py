"""The saltation matrices of a word, multiplied up: what an impact makes of the derivatives before it.

With δq and δv before an impact of impulse Λ, a the acceleration and τ the time of its touchdown,

    δq⁺ = δq − M⁻¹JᵀΛ δτ,    δv⁺ = δv + ∂(M⁻¹JᵀΛ)/∂q δq + M⁻¹Jᵀ δΛ − (a⁺ − a*) δτ,    δτ = −J_i δq/φ̇_i.

Here a* is what the impact's own derivative makes of (v⁻, a⁻), and δΛ answers to the change of u = J v and of the
Delassus matrix. δq differs from that before the word by one product of a column and a row for each impact.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.sensitivity.local_model import add_product, clear

_RANK = 1e-9


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
    _combine(step, local, levels, impact)
    # δτ: the row of the normal, δq before the impact; the ground's height counts against the gap
    for k in range(s):
        tau[k] = 0.0
    for k in range(nv):
        tau[k] = local.J[3 * struck, k] / approach
    _through_lifts(step, local.J[3 * struck], 1.0 / approach, levels, tau)
    tau[2 * nv + 2 * c + struck] -= 1.0 / approach
    # δu, of what has an impulse, and with what G changes by
    rows, holding = _active(impact)
    reach, reach2 = impact.reach, impact.reach2
    for a in range(rows):
        r = impact.index[a]
        for k in range(s):
            reach[a, k] = 0.0
        for k in range(nv):
            reach[a, k] = impact.slope[r, k]
        _through_lifts(step, impact.slope[r], 1.0, levels, reach[a])
        for j in range(nv):
            value = local.J[r, j]
            if value != 0.0:
                row = before[j]
                for k in range(s):
                    reach[a, k] += value * row[k]
        for k in range(s):
            reach2[a, k] = reach[a, k]
        if holding:
            for k in range(nv):
                reach2[a, k] += impact.slope2[r, k]
            _through_lifts(step, impact.slope2[r], 1.0, levels, reach2[a])
    push = impact.push
    for a in range(rows):
        r = impact.index[a]
        for k in range(s):
            push[a, k] = 0.0
        for b in range(rows):
            q = impact.index[b]
            _take(impact.first[r, q], reach[b], push[a])
            _take(impact.second[r, q], reach2[b], push[a])
        for i in range(c):
            push[a, 2 * nv + i] += impact.by_friction[r, i]
            push[a, 2 * nv + c + i] += impact.by_restitution[r, i]
    for i in range(nv):
        out, turned = after[i], impact.turned[i]
        for k in range(s):
            out[k] = before[i, k]
        for k in range(nv):
            out[k] += turned[k]
        _through_lifts(step, turned, 1.0, levels, out)
        a = 0
        while a + 3 <= rows:
            x = local.A[impact.index[a], i]
            y, z = local.A[impact.index[a + 1], i], local.A[impact.index[a + 2], i]
            p, q, r = push[a], push[a + 1], push[a + 2]
            for k in range(s):
                out[k] += x * p[k] + y * q[k] + z * r[k]
            a += 3
        while a < rows:
            _take(-local.A[impact.index[a], i], push[a], out)
            a += 1
    _carried_field(step, rows, local, levels, impact)


@kernel
def _combine(step, local, levels, impact):
    """Write ∂(M⁻¹JᵀΛ)/∂q into ``turned``, ∂u/∂q at fixed v with what G changes by into ``slope``, what it changes by more
    in restitution into ``slope2``, ∂(J v⁺)/∂q into the next level, and M⁻¹JᵀΛ into ``lift``."""
    n, nv = local.J.shape
    turned, lift = impact.turned, levels.lift[step]
    clear(turned)
    for i in range(nv):
        lift[i] = 0.0
    for r in range(n):
        for k in range(nv):
            impact.slope[r, k] = levels.rate[step, r, k]
            impact.slope2[r, k] = 0.0
            levels.rate[step + 1, r, k] = levels.rate[step, r, k]
    for r in range(n):
        value = impact.total[r]
        if value == 0.0:
            continue
        turn, rate, bend = local.turn[r], local.rate[r], local.bend[r]
        pressed = impact.impulse[r]
        for i in range(nv):
            lift[i] -= value * local.A[r, i]
            for k in range(nv):
                turned[i, k] += value * turn[i, k]
        for i in range(n):
            for k in range(nv):
                levels.rate[step + 1, i, k] += value * rate[i, k]
                impact.slope[i, k] += pressed * bend[i, k]
                impact.slope2[i, k] += (value - pressed) * bend[i, k]


@kernel
def _active(impact):
    """List the rows with an impulse in ``impact.index``; returns how many they are, and whether contacts hold others."""
    count, holding = 0, False
    n = impact.total.shape[0]
    for i in range(n // 3):
        if impact.kind[i] > 0 or impact.holds[i]:
            for r in range(3 * i, 3 * i + 3):
                impact.index[count] = r
                count += 1
            holding = holding or impact.holds[i]
    return count, holding


@kernel
def _through_lifts(step, row, factor, levels, out):
    """Add factor row · (δq − δq at the start) to ``out`` (s,): the part of earlier impacts."""
    s = out.shape[0]
    for e in range(step):
        total = 0.0
        lift, tau = levels.lift[e], levels.tau[e]
        for k in range(lift.shape[0]):
            total += row[k] * lift[k]
        total *= factor
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
        total = acceleration[i]
        for k in range(nv):
            total += impact.turned[i, k] * velocity[k]
        out[i] = total
    for b in range(rows):
        q = impact.index[b]
        one, two = 0.0, 0.0
        for k in range(nv):
            one += impact.slope[q, k] * velocity[k] + local.J[q, k] * acceleration[k]
            two += impact.slope2[q, k] * velocity[k]
        two += one
        for a in range(rows):
            r = impact.index[a]
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


@kernel
def rank_of(steps, matrix, echelon):
    """The rank of S = [Q 0; B V] (2 nv, 2 nv), whose Q differs from 1 by ``steps`` products.

    A vector that S loses has Q δq = 0, and V δv = −B δq. So many are lost as V loses, and Q, less those of the latter
    whose B δq is none of V.
    """
    nv = matrix.shape[0] // 2
    # Q first: its null vectors, by elimination of the rows, into the last columns of ``echelon``.
    for i in range(nv):
        for k in range(nv):
            echelon[i, k] = matrix[i, k]
    rank = _reduce(nv, nv, echelon)
    lost = nv - rank
    null = 0
    if lost > 0:
        lost = min(lost, steps, echelon.shape[1] - nv)
        null = _null_vectors(nv, lost, matrix, echelon)
    for i in range(nv):
        for k in range(nv):
            echelon[i, k] = matrix[nv + i, nv + k]
    rank = _reduce(nv, nv + null, echelon)
    # What is left below the rows of V are the images that V does not reach.
    more = 0
    for e in range(null):
        best, row = 0.0, -1
        for i in range(rank + more, nv):
            if abs(echelon[i, nv + e]) > best:
                best, row = abs(echelon[i, nv + e]), i
        if row < 0 or best <= _RANK:
            continue
        for k in range(nv, nv + null):
            echelon[row, k], echelon[rank + more, k] = echelon[rank + more, k], echelon[row, k]
        for i in range(rank + more + 1, nv):
            factor = echelon[i, nv + e] / echelon[rank + more, nv + e]
            for k in range(nv, nv + null):
                echelon[i, k] -= factor * echelon[rank + more, k]
        more += 1
    return nv - null + rank + more


@kernel
def _reduce(size, width, matrix):
    """Row echelon form of the first ``size`` rows and columns of a matrix, whose ``width`` columns follow; the rank."""
    rank, largest = 0, 0.0
    for i in range(size):
        for k in range(size):
            largest = max(largest, abs(matrix[i, k]))
    for column in range(size):
        row, best = -1, _RANK * largest
        for i in range(rank, size):
            if abs(matrix[i, column]) > best:
                row, best = i, abs(matrix[i, column])
        if row < 0:
            continue
        if row != rank:
            for k in range(width):
                matrix[row, k], matrix[rank, k] = matrix[rank, k], matrix[row, k]
        pivot = matrix[rank]
        for i in range(rank + 1, size):
            factor = matrix[i, column] / pivot[column]
            if factor != 0.0:
                below = matrix[i]
                for k in range(column, width):
                    below[k] -= factor * pivot[k]
        rank += 1
        if rank == size:
            break
    return rank


@kernel
def _null_vectors(nv, lost, matrix, echelon):
    """From the echelon form of Q, write B times null vectors of Q, of length 1, behind the first nv columns."""
    found = 0
    row = 0
    for column in range(nv):
        pivot = row < nv and abs(echelon[row, column]) > 0.0 and _leads(row, column, echelon)
        if pivot:
            row += 1
            continue
        if found == lost:
            break
        # The free unknown is 1; the pivots above follow from below upwards. It is kept in the target's own column.
        target = nv + found
        for i in range(nv):
            echelon[i, target] = 0.0
        echelon[column, target] = 1.0
        for r in range(row - 1, -1, -1):
            lead = 0
            while not _leads(r, lead, echelon):
                lead += 1
            total = 0.0
            for k in range(lead + 1, column + 1):
                total += echelon[r, k] * echelon[k, target]
            echelon[lead, target] = -total / echelon[r, lead]
        found += 1
    for e in range(found):
        size = 0.0
        for i in range(nv):
            size += echelon[i, nv + e] ** 2
        scale = 1.0 / size**0.5
        # B times it, by way of the scratch that the echelon form no longer needs
        for i in range(nv):
            total = 0.0
            for k in range(nv):
                total += matrix[nv + i, k] * echelon[k, nv + e]
            echelon[i, e] = total * scale
        for i in range(nv):
            echelon[i, nv + e] = echelon[i, e]
    return found


@kernel
def _leads(row, column, echelon):
    """Whether the first entry of a row that is not rounding stands in this column."""
    largest = 0.0
    for k in range(echelon.shape[0]):
        largest = max(largest, abs(echelon[0, k]))
    for k in range(column):
        if abs(echelon[row, k]) > _RANK * largest:
            return False
    return abs(echelon[row, column]) > _RANK * largest
