"""One impact of a word: its outcome, and how the impulses answer to the velocities before it, in its course.

The course is what the contacts do: whose point sticks or slides after compression, who bounces, and who keeps others'
restitution from pressing it in. With the course held, the impulses solve linear equations in contact space, of which
one elimination gives the outcome and all derivatives:

    (G Λ + u) = 0 of the rows that stop,    Λ_t + μ Λ_n s(u⁺_t) = 0 of contacts that slide,

and then Λ_n (1 + e) of those that bounce, less what holds the others. ``sensitivity/word_impacts.py`` has the same in
coordinates of the robot.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.local_friction import resting_contact
from hybrid_contact_ros.kernels.sensitivity.elimination import eliminate
from hybrid_contact_ros.kernels.stability.chain_impact import solve_impact

_VALID, _CAPPED = int(EventValidity.VALID), int(EventValidity.CAPPED)
_UNEXPLAINED, _NOT_UNIQUE = int(EventValidity.UNEXPLAINED), int(EventValidity.NOT_UNIQUE)
_PUSHES = 1e-7  # of the largest impulse: less is none
_NEWTON = 30  # steps of the slip directions at most; three are the rule
_CLOSE = 1e-8  # relative: from a step so small the next one, of second order, leads to rounding
_PARALLEL = 1e-9  # of two unit vectors
_ENERGY = 1e-9
_EXPLAINED = 1e-4


@kernel
def resolve(resting, energy, before, local, chain, memory, impact):
    """Resolve the impact of the contacts in ``impact.scope``.

    Args:
        resting: m/s. energy: vᵀM v before. before: u = J v (n,).
        local: LocalModel. chain: ChainProblem. memory: ChainScratch. impact: ImpactScratch, of which kind … tableau and
            impulse … by_restitution are written; ``total`` is the whole impulse.

    Returns:
        The validity.
    """
    G, friction, restitution = local.G, local.friction, local.restitution
    c, n = friction.shape[0], before.shape[0]
    met, start = memory.met, memory.start
    for i in range(c):
        met[i] = impact.scope[i]
        memory.scope[i] = met[i]
    for k in range(n):
        start[k] = before[k]
    for i in range(c):
        if abs(before[3 * i]) <= resting and met[i]:
            start[3 * i] = 0.0
    if not _alone(resting, start, local, memory):
        solve_impact(friction, start, chain, memory)
    largest = 0.0
    for i in range(c):
        largest = max(largest, memory.solved[3 * i])
    gives, sliding = False, False
    for i in range(c):
        f = 3 * i
        pushes = met[i] and memory.solved[f] > _PUSHES * largest
        slip = math.sqrt(memory.after[f + 1] ** 2 + memory.after[f + 2] ** 2)
        slides = friction[i] == 0.0 or slip > resting
        impact.kind[i] = (2 if slides else 1) if pushes else 0
        impact.bounces[i] = pushes and restitution[i] > 0.0 and before[f] < -resting
        impact.holds[i] = 0
        gives = gives or impact.bounces[i]
        sliding = sliding or (impact.kind[i] == 2 and friction[i] > 0.0)
        for k in range(f, f + 3):
            impact.impulse[k] = memory.solved[k] if pushes else 0.0
            impact.after[k] = memory.after[k]
            memory.push[k] = memory.solved[k]
    code = _compress(sliding, before, local, impact)
    if code != _VALID:
        return code
    for k in range(n):
        impact.total[k] = impact.impulse[k]
    if gives:
        code = _give_back(resting, energy, before, local, chain, memory, impact)
        if code != _VALID:
            return code
    return _explains(before, G, memory, impact)


@kernel
def _alone(resting, start, local, memory):
    """Write the impact where one contact approaches, and its impulse lifts all others; returns whether that is so."""
    c, n = local.friction.shape[0], start.shape[0]
    only = -1
    for i in range(c):
        if memory.met[i] and start[3 * i] < 0.0:
            if only >= 0:
                return False
            only = i
    if only < 0:
        return False
    f = 3 * only
    for k in range(n):
        memory.solved[k] = 0.0
        memory.after[k] = start[k]
    force = memory.solved[f : f + 3]
    resting_contact(2, f, local.friction[only], 0.0, local.G, start[f : f + 3], force)
    for k in range(n):
        for d in range(3):
            memory.after[k] += local.G[k, f + d] * force[d]
    lifted = True
    for i in range(c):
        lifted = lifted and (not memory.met[i] or i == only or memory.after[3 * i] > resting)
    return lifted


@kernel
def _compress(sliding, before, local, impact):
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


@kernel
def _give_back(resting, energy, before, local, chain, memory, impact):
    """Add Poisson's restitution, and what keeps the contacts that compression stopped from being pressed in."""
    G, e, total, given = local.G, local.restitution, impact.total, impact.given
    c, n = e.shape[0], before.shape[0]
    for i in range(c):
        for k in range(3 * i, 3 * i + 3):
            given[k] = 0.0
        if impact.bounces[i]:
            given[3 * i] = e[i] * impact.impulse[3 * i]
    for k in range(n):
        memory.start[k] = impact.after[k]
        for i in range(c):
            memory.start[k] += G[k, 3 * i] * given[3 * i]
    for i in range(c):
        memory.scope[i] = impact.scope[i] and impact.after[3 * i] <= resting
    solve_impact(memory.smooth, memory.start, chain, memory)
    largest = 0.0
    for i in range(c):
        largest = max(largest, max(memory.solved[3 * i], given[3 * i]))
    size, index, tableau = 0, impact.acting, impact.tableau
    for i in range(c):
        impact.holds[i] = memory.scope[i] and memory.solved[3 * i] > 1e-10 * largest
        if impact.holds[i]:
            index[size] = 3 * i
            size += 1
        for k in range(3 * i, 3 * i + 3):
            memory.push[k] += given[k] + memory.solved[k]
            total[k] = impact.impulse[k] + given[k]
    work = 0.0
    for k in range(n):
        work += memory.push[k] * (before[k] + memory.after[k])
    if work > _ENERGY * energy:
        return _CAPPED
    for a in range(size):
        for b in range(size):
            tableau[a, b] = G[index[a], index[b]]
            tableau[a, size + b] = 0.0
        tableau[a, size + a] = 1.0
    eliminate(size, size, tableau, impact.order)
    # The contacts that hold answer to the velocities of their normals, with all that was given so far.
    for a in range(size):
        for b in range(size):
            r, s = index[a], index[b]
            impact.second[r, s] = tableau[a, size + b]
            total[r] -= tableau[a, size + b] * memory.start[s]
    for k in range(n):  # (1 + e) of the impulses of compression …
        for i in range(c):
            if impact.bounces[i]:
                impact.first[3 * i, k] += e[i] * impact.first[3 * i, k]
    for i in range(c):
        for j in range(c):
            if impact.bounces[j]:
                impact.by_friction[3 * j, i] += e[j] * impact.by_friction[3 * j, i]
        if impact.bounces[i]:
            impact.by_restitution[3 * i, i] = impact.impulse[3 * i]
    _hold(size, G, impact.first, impact)
    _hold(size, G, impact.by_friction, impact)
    _hold(size, G, impact.by_restitution, impact)
    return _VALID


@kernel
def _hold(size, G, change, impact):
    """Subtract K G X from the changes X (n, w) of what was given, K = ``second``: the answer of contacts that hold."""
    index, answer = impact.acting, impact.vector
    n = change.shape[0]
    for w in range(change.shape[1]):
        for a in range(size):
            answer[a] = 0.0
            for k in range(n):
                answer[a] += G[index[a], k] * change[k, w]
        for a in range(size):
            for b in range(size):
                change[index[a], w] -= impact.second[index[a], index[b]] * answer[b]


@kernel
def _explains(before, G, memory, impact):
    """Whether the course leads to the outcome that was solved for, told by the velocities of the contacts."""
    n = before.shape[0]
    apart, size = 0.0, 0.0
    for r in range(n):
        difference, after = 0.0, before[r]
        for k in range(n):
            difference += G[r, k] * (memory.push[k] - impact.total[k])
            after += G[r, k] * impact.total[k]
        apart, size = max(apart, abs(difference)), max(size, abs(before[r]) + abs(after))
    return _VALID if apart <= _EXPLAINED * size else _UNEXPLAINED
