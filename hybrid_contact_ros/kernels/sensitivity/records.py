"""What the kernels of clusters of touchdowns are given, work in, and write.

c contacts take part: those of the cluster (k of them) and those that are closed; n = 3 c rows, normal first. A robot
has nv velocities, and its tree nf of them on nj joints. Columns of derivatives are those of δq, of δv and of 3 c
parameters: friction, restitution, and height of the ground of each contact; s = 2 nv + 3 c of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.kernels.modes.records import Array, state_out, state_scratch
from hybrid_contact_ros.kernels.stability.chain_records import Codes, Indices, chain_scratch

OCTANTS, CORNERS = 8, 16
"""Polygons that a cone is kept in, and the corners that each may have."""


class ClusterSettings(NamedTuple):
    """Caps and tolerances."""

    steps: int  # of operator splitting at most, where an active set fails
    tolerance: float  # of the scaled residual of an impact
    mode_tolerance: float  # of that of a mode


class ClusterProblem(NamedTuple):
    """One cluster at its corner."""

    columns: Array  # (nf, 6), placement (nj, 12): of JointState
    placement: Array
    mass: Array  # M (nv, nv)
    rows: Array  # J (m, 3, nv) of all contacts
    velocity: Array  # (nv,), v⁻ before what would drive closed contacts into the ground is taken from it
    effort: Array  # Sᵀτ (nv,)
    friction: Array  # μ (m,)
    restitution: Array  # e (m,)
    which: Indices  # (c,): the contacts that take part, ascending
    closed: Codes  # (c,): those that rest before
    place: Indices  # (c,): place in the cluster, −1 for a closed one
    slope: Array  # (k,), m/s: out, the speeds at which the contacts of the cluster approach
    gap_mean: Array  # (k,), m, gap_covariance: (k, k), m², of the cluster's gaps
    gap_covariance: Array
    chance: Array  # (1,): branches with an inequality that fails but beyond so many sigma are left out; −inf: none


class LocalModel(NamedTuple):
    """The robot near the corner."""

    factor: Array  # (nv, nv): Cholesky factor of M
    inverse: Array  # (nv, nv): M⁻¹
    J: Array  # (n, nv)
    A: Array  # (n, nv): rows M⁻¹Jᵀ, transposed
    G: Array  # (n, n)
    turn: Array  # (n, nv, nv): ∂(M⁻¹J_kᵀ)/∂q
    rate: Array  # (n, n, nv): ∂(J w)/∂q for w = M⁻¹J_kᵀ
    bend: Array  # (n, n, nv): ∂(J M⁻¹J_kᵀ)/∂q
    friction: Array  # (c,)
    restitution: Array  # (c,)
    body: Array  # (nj, 10): mass, centre of mass, inertia about it; world
    carried: Array  # (nj, 10): of all that a joint carries: mass, first moment, inertia about the origin; world
    momentum: Array  # (nf, 6): its spatial momentum for unit velocities
    full: Array  # (nf,): a velocity of the tree
    twist: Array  # (nj, 12)
    force: Array  # (nj, 6)
    swept: Array  # (nf, 6)
    pulled: Array  # (nf, 6)
    unit: Array  # (m, 3): a contact force
    gradient: Array  # (nv, nv)
    bias: Array  # (nv,)
    free: Array  # (n,): contact accelerations without contact forces


class Levels(NamedTuple):
    """A branch of the tree: one row for each number of impacts."""

    velocity: Array  # (i, nv)
    contact: Array  # (i, n): J v
    acceleration: Array  # (i, nv)
    pull: Array  # (i, c): normal acceleration of each contact
    on: Codes  # (i, c): contacts that rest
    plays: Codes  # (i, c): open contacts that take part
    gap: Array  # (i, c, k): their gaps at the time of the last impact, as functions of those of the cluster
    time: Array  # (i, k): that time
    due: Array  # (i, c, k): times of the next touchdowns
    group: Indices  # (i, c): the first contact of those that are due together; −1 where none is due
    next: Indices  # (i,): the next contact whose group is to be followed
    struck: Codes  # (i, c)
    rests: Codes  # (i, c): before the forces open contacts
    rows: Indices  # (i,): of the cone
    cone: Array  # (r, k): rows
    corners: Array  # (i, 8, 16, 3): the cone as polygons on a sphere
    size: Indices  # (i, 8): corners of each
    change: Array  # (i, nv, s): derivatives of v
    lift: Array  # (i, nv): of q: δq⁺ = δq + Σ lift (tau · δ)
    tau: Array  # (i, s)
    rate: Array  # (i, n, nv): ∂(J v)/∂q


class ImpactScratch(NamedTuple):
    """One impact and its derivative."""

    scope: Codes  # (c,)
    kind: Indices  # (c,): 0 no impulse, 1 sticks, 2 slides
    bounces: Codes  # (c,)
    holds: Codes  # (c,)
    acting: Indices  # (n,): rows with an impulse
    tableau: Array  # (n, 2 n + c)
    order: Indices  # (n,)
    impulse: Array  # (n,): of compression
    total: Array  # (n,): with restitution
    given: Array  # (n,)
    after: Array  # (n,)
    slip: Array  # (c, 2): directions of slides
    first: Array  # (n, n): minus the change of ``total`` with the velocities before, in which G changes by ``impulse``
    second: Array  # (n, n): the same, by ``total``
    by_friction: Array  # (n, c)
    by_restitution: Array  # (n, c)
    slope: Array  # (n, nv), slope2: ∂u/∂q at fixed v, with what G changes by
    slope2: Array
    reach: Array  # (n, s): changes of contact velocities
    reach2: Array
    push: Array  # (n, s): changes of impulses
    turned: Array  # (nv, nv)
    vector: Array  # (max(n, nv),)
    sliding: Array  # (c, 2)
    small: Array  # (i, 2 i + 1)
    echelon: Array  # (nv, nv + i)


class WordsOut(NamedTuple):
    """One row for each word."""

    impacts: Indices  # (w,)
    struck: Codes  # (w, i, m)
    rests: Codes  # (w, i, m)
    validity: Codes  # (w,)
    cone_rows: Indices  # (w,)
    cones: Array  # (w, r, k)
    last_time: Array  # (w, k)
    velocity: Array  # (w, nv)
    acceleration: Array  # (w, nv)
    matrix: Array  # (w, 2 nv, 2 nv)
    columns: Array  # (w, 2 nv, 3 c)
    rank: Indices  # (w,)
    corners: Array  # (w, 8, 16, 3)
    size: Indices  # (w, 8)


class ClusterMemory(NamedTuple):
    """All memory for clusters of k of c contacts, as flat tuples of the records above."""

    local: tuple
    levels: tuple
    impact: tuple
    chain: tuple
    state: tuple
    out: WordsOut


def cluster_memory(
    nv: int, nf: int, joints: int, m: int, c: int, k: int, max_impacts: int, max_words: int
) -> ClusterMemory:
    """Memory for clusters of k contacts with c − k others, of a robot with m contacts."""
    n, s, i = 3 * c, 2 * nv + 3 * c, max_impacts + 1
    r = max_impacts * max(c - 1, 1)
    w = max_words
    local = LocalModel(
        np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((n, nv)), np.zeros((n, nv)), np.zeros((n, n)),
        np.zeros((n, nv, nv)), np.zeros((n, n, nv)), np.zeros((n, n, nv)), np.zeros(c), np.zeros(c),
        np.zeros((joints, 10)), np.zeros((joints, 10)), np.zeros((nf, 6)), np.zeros(nf), np.zeros((joints, 12)),
        np.zeros((joints, 6)), np.zeros((nf, 6)), np.zeros((nf, 6)), np.zeros((m, 3)), np.zeros((nv, nv)),
        np.zeros(nv), np.zeros(n),
    )  # fmt: skip
    levels = Levels(
        np.zeros((i, nv)), np.zeros((i, n)), np.zeros((i, nv)), np.zeros((i, c)), np.zeros((i, c), np.uint8),
        np.zeros((i, c), np.uint8), np.zeros((i, c, k)), np.zeros((i, k)), np.zeros((i, c, k)),
        np.zeros((i, c), np.int64), np.zeros(i, np.int64), np.zeros((i, c), np.uint8), np.zeros((i, c), np.uint8),
        np.zeros(i, np.int64),
        np.zeros((r, k)), np.zeros((i, OCTANTS, CORNERS, 3)), np.zeros((i, OCTANTS), np.int64),
        np.zeros((i, nv, s)), np.zeros((i, nv)), np.zeros((i, s)), np.zeros((i, n, nv)),
    )  # fmt: skip
    impact = ImpactScratch(
        np.zeros(c, np.uint8), np.zeros(c, np.int64), np.zeros(c, np.uint8), np.zeros(c, np.uint8),
        np.zeros(n, np.int64), np.zeros((n, 2 * n + c)), np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros(n), np.zeros((c, 2)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, c)), np.zeros((n, c)),
        np.zeros((n, nv)), np.zeros((n, nv)), np.zeros((n, s)), np.zeros((n, s)), np.zeros((n, s)),
        np.zeros((nv, nv)), np.zeros(max(nv, n)), np.zeros((c, 2)),
        np.zeros((i, 2 * i + 1)), np.zeros((nv, nv + i + 1)),
    )  # fmt: skip
    out = WordsOut(
        np.zeros(w, np.int64), np.zeros((w, max_impacts, m), np.uint8), np.zeros((w, max_impacts, m), np.uint8),
        np.zeros(w, np.uint8), np.zeros(w, np.int64), np.zeros((w, r, k)), np.zeros((w, k)), np.zeros((w, nv)),
        np.zeros((w, nv)), np.zeros((w, 2 * nv, 2 * nv)), np.zeros((w, 2 * nv, 3 * c)), np.zeros(w, np.int64),
        np.zeros((w, OCTANTS, CORNERS, 3)), np.zeros((w, OCTANTS), np.int64),
    )  # fmt: skip
    return ClusterMemory(local, levels, impact, chain_scratch(c, 2), (*state_scratch(c, 2), *state_out(nv, c, 2)), out)
