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
from hybrid_contact_ros.kernels.sensitivity.word_compression import compress
from hybrid_contact_ros.kernels.sensitivity.word_restitution import give_back
from hybrid_contact_ros.kernels.stability.chain_impact import solve_impact

_VALID, _UNEXPLAINED = int(EventValidity.VALID), int(EventValidity.UNEXPLAINED)
_PUSHES = 1e-7  # of the largest impulse: less is none
_EXPLAINED = 1e-4  # of the largest velocity: outcome and course may differ by this much


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
    code = compress(sliding, before, local, impact)
    if code != _VALID:
        return code
    for k in range(n):
        impact.total[k] = impact.impulse[k]
    if gives:
        code = give_back(resting, energy, before, local, chain, memory, impact)
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
