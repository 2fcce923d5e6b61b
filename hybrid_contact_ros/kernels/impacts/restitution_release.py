"""Before an increment with restitution: the material of a sample, what contacts are to give back, and the LCP for it.

:mod:`.restitution` has the laws, :mod:`.restitution_stores` what happens to the stores after the increment.
"""

from __future__ import annotations

import math

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.random_stream import stream, uniform
from hybrid_contact_ros.kernels.impacts.restitution_stores import POISSON, negligible_store

MATERIAL = np.uint64(0x8CB92BA72F3D8DD7)  # sets the stream of materials apart from that of the caps
_ENDS = 1.25  # a draw of an interval is stretched by this and clipped: each end comes up one time in ten


@kernel(forceinline=True)
def _between(low, high, draw):
    """The number that a draw of [0, 1) stands for; both ends come up."""
    part = min(max(_ENDS * (draw - 0.5) + 0.5, 0.0), 1.0)
    return low + part * (high - low)


@kernel(forceinline=True)
def draw_material(seed, sample, material, stores):
    """Draw restitution e and friction bounds c of one sample into ``stores``."""
    state = stream(seed, sample) ^ MATERIAL
    state, first = uniform(state)
    state, second = uniform(state)
    for k in range(stores.e.shape[0]):
        if not material.common and k > 0:
            state, first = uniform(state)
            state, second = uniform(state)
        stores.e[k] = _between(material.e_low[k], material.e_high[k], first)
        stores.c[k] = _between(material.c_low[k], material.c_high[k], second)


@kernel(forceinline=True)
def empty_stores(g, H, stores):
    """Empty the stores of a sample, whose e and c are drawn; returns whether any contact restitutes."""
    gives_back = False
    for k in range(stores.e.shape[0]):
        gives_back = gives_back or stores.e[k] > 0.0
        stores.store[k] = 0.0
        stores.most_held[k] = 0.0
        stores.allowance[k] = 0.0
        stores.reach[k] = 1.0
        for i in range(k * (1 + g) + 1, (k + 1) * (1 + g)):
            stores.reach[k] += stores.c[k] * math.sqrt(max(H[i, i], 0.0))  # rounding where nothing can move
    return gives_back


@kernel(forceinline=True)
def drop_negligible(law, g, now, separating, fastest, stores):
    """Empty the stores of contacts that do not approach and have next to nothing; returns whether any store is left."""
    holding = False
    for k in range(separating.shape[0]):
        negligible = negligible_store(law, stores.e[k], fastest)
        if now[k * (1 + g)] >= -separating[k] and stores.store[k] <= negligible:
            stores.store[k] = 0.0
        holding = holding or stores.store[k] > 0.0
    return holding


@kernel(forceinline=True)
def plan_release(law, g, now, separating, share, stores):
    """Write the impulses that restitution is to take in this increment: ``share`` of e times the caps at most."""
    release = stores.release
    for k in range(separating.shape[0]):
        release[k] = 0.0
        if share > 0.0 and stores.store[k] > 0.0 and now[k * (1 + g)] >= -separating[k]:
            release[k] = stores.e[k] * stores.cap[k] * share
            if law == POISSON:
                release[k] = min(release[k], stores.store[k])


@kernel(forceinline=True)
def prescribe(now, stores, problem):
    """Write velocities and caps of the LCP to ``problem``, so that contacts with a release get exactly that impulse.

    Returns by how much their w_n was lowered.
    """
    w, cap, release = problem.w, problem.cap, stores.release
    m = cap.shape[0]
    prescribed = False
    for i in range(now.shape[0]):
        w[i] = now[i]
    for k in range(m):
        prescribed = prescribed or release[k] > 0.0
        cap[k] = release[k] if release[k] > 0.0 else stores.cap[k]
    if not prescribed:
        return 0.0
    drop = 1.0
    for i in range(now.shape[0]):
        drop = max(drop, abs(now[i]))
    for k in range(m):
        drop += 2.0 * stores.reach[k] * cap[k]
    for k in range(m):
        if release[k] > 0.0:
            w[k * (1 + problem.g)] -= drop
    return drop
