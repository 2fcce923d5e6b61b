"""The restitution of one impact of a word, by Poisson's law, with its course held.

Contacts that bounce are given e Λ_n on top of compression's Λ_n. What they are given may press in contacts that
compression stopped; those hold, by impulses of their own along their normals.
"""

from __future__ import annotations

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.sensitivity.elimination import eliminate
from hybrid_contact_ros.kernels.stability.chain_impact import solve_impact

_VALID, _CAPPED = int(EventValidity.VALID), int(EventValidity.CAPPED)
_ENERGY = 1e-9  # of vᵀMv before: an impact that adds more than this would need a smaller e
_HOLDS = 1e-10  # of the largest impulse: less is none


@kernel
def give_back(resting, energy, before, local, chain, memory, impact):
    """Add Poisson's restitution, and what keeps the contacts that compression stopped from being pressed in.

    Arguments are those of :func:`~.word_impact.resolve`; ``impact.total`` (n,) N s and the derivatives are written.

    Returns:
        The validity: VALID, or CAPPED where the impact would add energy.
    """
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
        impact.holds[i] = memory.scope[i] and memory.solved[3 * i] > _HOLDS * largest
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
