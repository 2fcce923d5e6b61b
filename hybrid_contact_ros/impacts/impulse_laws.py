"""What friction and restitution say of total impulses, as rows of a polyhedron."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.impacts.contact_space import Array
from hybrid_contact_ros.impacts.contact_states import SECTORS, unit
from hybrid_contact_ros.impacts.restitution import Material
from hybrid_contact_ros.impacts.support_functions import ContactBlocks

_SLOWEST = 1e-4  # of approach, e times it, below which restitution is not told from rounding


def cone_rows(blocks: ContactBlocks) -> tuple[Array, Array]:
    """Rows and right-hand sides of the friction cones of all blocks."""
    d, directions = blocks.w - 1, blocks.directions
    cone = []
    for block, mu in enumerate(blocks.mu):
        cone.append(blocks.put(block, (-1.0,) + (0.0,) * d))
        sides: list[tuple[float, ...]] = [(1.0,), (-1.0,)] if d == 1 else []
        radius = mu
        if d == 2:
            count, turn = (SECTORS, 0.0) if directions is None else (max(directions, 4), np.pi / max(directions, 4))
            sides = [unit(2.0 * np.pi * j / count + turn) for j in range(count)]
            radius = mu if directions in (None, 2) else mu * float(np.cos(turn))
        cone += [blocks.put(block, (-radius, *side)) for side in sides]
    C = np.array(cone)
    return C / np.linalg.norm(C, axis=1)[:, None], np.zeros(len(C))


def restitution_row(
    blocks: ContactBlocks, block: int, material: Material, velocity: Array, room: Array
) -> tuple[Array, float]:
    """Row (p,) and right-hand side of what the law says of the impulse R of a block of restitution.

    By Poisson's law it is at most e times the impulse of the compression. By Stronge's it is bounded by the work of
    compression, e² of which it may give back. Let a > 0 be the least by which a unit of impulse opens the contact
    itself, and N what the others' impulses close it by, all that closes it counted and nothing that opens it.
    Compression starts at u⁻ = J_n v⁻; its work is greatest if what closes the contact comes first: at most
    (max(−u⁻, 0) + N₁)² / (2 a). Restitution starts at u ≥ 0 and costs least if what closes the contact comes last:
    (a R − N₂)² / (2 a) or more. What closes is used once, N₁ + N₂ ≤ N, so that

        a R ≤ e (max(−u⁻, 0) + N₁) + N₂ ≤ e max(−u⁻, 0) + N    (e ≤ 1).

    The work of an increment is that on the straight path from u to u', so that this holds for steps of any size.

    Args:
        velocity (m, w), scaled, before the impact. room (m,): how fast a contact that counts as separated may approach.
    """
    parent, first = int(blocks.parents[block]), (1.0,) + (0.0,) * (blocks.w - 1)
    e, row = float(material.e_high[parent]), blocks.put(block, first)
    if material.law == "poisson":
        return row - e * blocks.put(parent, first), 0.0
    closing = -(blocks.A[parent * blocks.w] @ blocks.A.T)[None]
    opens = -float(blocks.rate(closing, parent)[0])
    if not opens > 1e-6:
        return -row, 0.0
    # A contact counts as separated at −δ, by which restitution may be had for less: (a R − N₂)² ≤ … + 2 δ a R. Then
    # √(E² + 2 δ N) ≤ E + κ N + δ / (2 κ) for any κ, and ≤ E + (δ / E) N.
    fastest, delta = max(-float(velocity[parent, 0]), 0.0), 4.0 * float(room[parent])
    noticed = e * fastest > _SLOWEST
    share = delta / (e * fastest) if noticed else _SLOWEST
    side = e * fastest + share * fastest + delta + (0.0 if noticed else 0.5 * delta / share)
    row *= opens
    for other in np.flatnonzero(blocks.parents != parent):
        row -= (1.0 + share) * blocks.put(int(other), blocks.most(closing, int(other))[0])
    return row / opens, side / opens
