"""The compression of one impact of a word, with its course held: impulses, and how they answer to what came before.

The contacts that press stick or slide, as ``impact.kind`` says, and the impulses Λ solve

    (G Λ + u) = 0 of the rows that stop,    Λ_t + μ Λ_n s(u⁺_t) = 0 of contacts that slide.

Where contacts slide in space the directions s depend on Λ, and Newton's method finds them; one more elimination at the
solution gives the derivatives by u (N s by m/s) and by μ.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.sensitivity.elimination import eliminate

_VALID, _NOT_UNIQUE = int(EventValidity.VALID), int(EventValidity.NOT_UNIQUE)
_NEWTON = 30  # steps of the slip directions at most; three are the rule
_CLOSE = 1e-8  # relative: from a step so small the next one, of second order, leads to rounding
_PARALLEL = 1e-9  # of two unit vectors


@kernel
def compress(sliding, before, local, impact):
    """Write impulse, slip, first and by_friction of compression, by Newton's method where contacts slide in space."""
    G, friction = local.G, local.friction
    c, n = friction.shape[0], before.shape[0]
    index, tableau = impact.acting, impact.tableau
    size = 0
    for i in range(c):
        if impact.kind[i] > 0:
            index[size] = 3 * i
            size += 1
            if friction[i] > 0.0:
                index[size], index[size + 1] = 3 * i + 1, 3 * i + 2
                size += 2
    for r in range(n):
        for k in range(n):
            impact.first[r, k] = 0.0
            impact.second[r, k] = 0.0
        for i in range(c):
            impact.by_friction[r, i] = 0.0
            impact.by_restitution[r, i] = 0.0
    for _ in range(_NEWTON if sliding else 0):
        if not _equations(False, size, sliding, before, local, impact):
            return _NOT_UNIQUE
        eliminate(size, 1, tableau, impact.order)
        moved, largest = 0.0, 0.0
        for a in range(size):
            value = tableau[a, size]
            moved, largest = max(moved, abs(value - impact.impulse[index[a]])), max(largest, abs(value))
            impact.impulse[index[a]] = value
        _velocities_after(size, before, G, impact)
        if moved <= _CLOSE * largest:
            break
    width = size + (c if sliding else 0)
    if not _equations(True, size, sliding, before, local, impact):
        return _NOT_UNIQUE
    rank = eliminate(size, width, tableau, impact.order)
    if rank < size and sliding and not _parallel(friction, impact):
        return _NOT_UNIQUE
    for a in range(size):
        value = 0.0
        for e in range(size):
            value -= tableau[a, size + e] * before[index[e]]
        impact.impulse[index[a]] = value
    _velocities_after(size, before, G, impact)
    for a in range(size):
        for e in range(size):
            impact.first[index[a], index[e]] = tableau[a, size + e]
        for i in range(width - size):
            impact.by_friction[index[a], i] = tableau[a, 2 * size + i]
    return _VALID


@kernel
def _equations(derived, size, sliding, before, local, impact):
    """Write the equations of the impulse into the tableau: with one right side, or with minus its derivatives.

    These are, if ``derived``, by the velocities before, and by μ of the contacts that slide. Returns whether each of
    these does so in some direction.
    """
    index, tableau = impact.acting, impact.tableau
    width = (size + (local.friction.shape[0] if sliding else 0)) if derived else 1
    for a in range(size):
        row = index[a]
        for e in range(size):
            tableau[a, e] = local.G[row, index[e]]
        for e in range(width):
            tableau[a, size + e] = 0.0
        if derived:
            tableau[a, size + a] = 1.0
        else:
            tableau[a, size] = -before[row]
    if sliding:
        for a in range(size):
            i = index[a] // 3
            slides = impact.kind[i] == 2 and local.friction[i] > 0.0 and index[a] == 3 * i
            if slides and not _slide(derived, a, i, size, before, local, impact):
                return False
    return True


@kernel
def _velocities_after(size, before, G, impact):
    """Write u⁺ = u + G Λ (n,), m/s, of the impulses of the rows that act."""
    for r in range(before.shape[0]):
        total = before[r]
        for a in range(size):
            total += G[r, impact.acting[a]] * impact.impulse[impact.acting[a]]
        impact.after[r] = total


@kernel
def _slide(derived, a, i, size, before, local, impact):
    """Write the rows Λ_t + μ Λ_n s(u_t⁺) = 0 of contact i, linearised at the last impulse, into the tableau.

    Row ``a`` is that of its normal. Returns whether the contact slides in any direction.
    """
    tableau, index, after = impact.tableau, impact.acting, impact.after
    mu, f = local.friction[i], 3 * i
    speed = math.sqrt(after[f + 1] ** 2 + after[f + 2] ** 2)
    if speed == 0.0:
        return False
    s, t = after[f + 1] / speed, after[f + 2] / speed
    impact.slip[i, 0], impact.slip[i, 1] = s, t
    normal = impact.impulse[f]
    bend = mu * max(normal, 0.0) / speed
    for d in range(2):
        along = s if d == 0 else t
        x = bend * ((1.0 - s * s) if d == 0 else -s * t)
        y = bend * (-s * t if d == 0 else (1.0 - t * t))
        row = tableau[a + 1 + d]
        for e in range(size):
            row[e] = x * local.G[f + 1, index[e]] + y * local.G[f + 2, index[e]]
        row[a + 1 + d] += 1.0
        row[a] += mu * along
        if derived:
            row[size + a + 1 + d] = 0.0
            row[size + a + 1], row[size + a + 2] = x, y
            row[2 * size + i] = -normal * along
        else:
            row[size] = -x * before[f + 1] - y * before[f + 2]
    return True


@kernel
def _parallel(friction, impact):
    """Whether all contacts that slide do so in one direction."""
    first = -1
    for i in range(friction.shape[0]):
        if impact.kind[i] == 2 and friction[i] > 0.0:
            if first < 0:
                first = i
            apart = max(abs(impact.slip[i, 0] - impact.slip[first, 0]), abs(impact.slip[i, 1] - impact.slip[first, 1]))
            if apart > _PARALLEL:
                return False
    return True
