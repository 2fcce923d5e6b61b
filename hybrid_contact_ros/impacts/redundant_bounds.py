"""Bounds of a landing on redundant contacts, as the corners of soles, whose impulses are not unique.

They are those of :mod:`~hybrid_contact_ros.kernels.impacts.cap_bounds` with pseudo-inverses in the place of Γ and K,
and with what redundancy adds: such contacts cannot all be left with any w. What w misses, ρ, is in the law's
inequality,

    λᵀ(J v⁺ − w) ≤ 0:    (c + e)·e ≤ λᵀρ ≤ ζ Σλ_n ≤ (ζ/m₀) o·(c + e),    ζ = max(|ρ_n| + μ‖ρ_t‖),

for a velocity o that opens all contacts, m₀ = min(J_n o − μ‖J_t o‖): c is less by up to (ζ/m₀) o, and (ζ/m₀) o·c is
added to the right. And nᵢ·e ≥ −|ρ_nᵢ|.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.landing_model import LandingTerms, common_drives, joint_drives, own_drives

Array = NDArray[np.float64]

_PIECES = 1  # of the interval of k: further rounds gain more than further pieces
_ROUNDS = 6
_SMALL = 1e-9  # of the largest: an eigenvalue of G, or of G_nn, that is none
_ROOM = 1e-9


class Leaving(NamedTuple):
    """The landing, and the velocities w with which contacts are left: left ± what ``radius`` and ``common`` allow.

    Attributes:
        w: 1 + d. mass (n, n), bias (n,), rows J (r, n), velocity v⁻ (n,). duration: (least, greatest) s.
        friction: the largest μ (m,). left (r,). radius: (r,) of each row. common: (g, r), each as a whole.
    """

    w: int
    mass: Array
    bias: Array
    rows: Array
    velocity: Array
    duration: Array
    friction: Array
    left: Array
    radius: Array
    common: Array


def _inverse(square: Array) -> tuple[Array, Array, bool]:
    """Pseudo-inverse of a symmetric matrix, the projection on its range, and whether that is all."""
    size, axes = np.linalg.eigh(square)
    kept = size > _SMALL * size[-1]
    axes, size = axes[:, kept], size[kept]
    return (axes / size) @ axes.T, axes @ axes.T, bool(kept.all())


class _Response:
    """How the robot answers at one k (n,). Symbols are those of the kernel; contacts' velocities stand for elements of
    the range of L⁻¹Jᵀ."""

    def __init__(self, at: Leaving, drive: Array) -> None:
        self.inverse = np.linalg.inv(at.mass + np.diag(drive))
        self.R = at.rows @ self.inverse
        self.G = self.R @ at.rows.T
        self.gamma, self.projection, self.regular = _inverse(self.G)
        self.back = self.gamma @ self.R
        self.H = self.inverse - self.R.T @ self.back
        normal = slice(None, None, at.w)
        self.own = np.sqrt(self.G.diagonal()[normal])
        self.K, _, _ = _inverse(self.G[normal, normal])
        self.of_opening = self.K @ self.R[normal]
        whole = (self.back * self.R).sum(axis=0)
        self.across = self.root(whole - (self.of_opening * self.R[normal]).sum(axis=0), whole)

    @staticmethod
    def root(square: Array, whole: Array) -> Array:
        return np.sqrt(np.maximum(square, 0.0) + _ROOM**2 * np.abs(whole))

    def changes(self, velocities: Array, w: int) -> tuple[Array, Array]:
        """By how much changes of c (k, r) change c⊥ (k,) and η (k, m) at most."""
        whole = ((velocities @ self.gamma) * velocities).sum(axis=1)
        of_eta = velocities[:, ::w] @ self.K
        return self.root(whole - (of_eta * velocities[:, ::w]).sum(axis=1), whole), np.abs(of_eta)


def redundant_bounds(
    terms: LandingTerms, driven: NDArray[np.bool_], at: Leaving, first: tuple[Array, Array]
) -> tuple[Array, Array] | None:
    """Bounds (n,) of v⁺ − v⁻; ``first`` are any that hold already. None where contacts are not redundant."""
    ends = joint_drives(np.linspace(*common_drives(terms, at.mass, driven), _PIECES + 1), at.mass, driven)
    own = own_drives(terms, at.mass, driven)
    lower, upper = np.full(first[0].size, np.inf), np.full(first[0].size, -np.inf)
    for least, most in pairwise(ends):
        response = _Response(at, 0.5 * (least + most))
        if response.regular:
            return None
        low, high = _of_piece(at, response, 0.5 * (most - least), own, first)
        lower, upper = np.minimum(lower, low), np.maximum(upper, high)
    return lower, upper


def _missed(at: Leaving, response: _Response, target: Array) -> tuple[Array, Array | None]:
    """|ρ_n| (m,) at most, and by how much redundancy moves c (r,); None where nothing bounds the impulses."""
    beside = np.eye(len(target)) - response.projection
    miss = np.abs(beside @ target) + np.abs(at.common @ beside).sum(axis=0) + np.abs(beside) @ at.radius
    normal, tangent = miss[:: at.w], miss.reshape(-1, at.w)[:, 1:]
    zeta = float((normal + at.friction * np.linalg.norm(tangent, axis=1)).max(initial=0.0))
    opened = response.projection[:, :: at.w].sum(axis=1)
    speeds = opened.reshape(-1, at.w)
    least = float((speeds[:, 0] - at.friction * np.linalg.norm(speeds[:, 1:], axis=1)).min(initial=np.inf))
    return normal, zeta / least * opened if least > 0.0 else None


def _of_piece(at: Leaving, of: _Response, half: Array, own: Array, first: tuple[Array, Array]) -> tuple[Array, Array]:
    w, back = at.w, of.back
    target = at.left - at.rows @ at.velocity
    missed, opened = _missed(at, of, target)
    if opened is None:
        return first
    middle, part = 0.5 * (at.duration[0] + at.duration[1]), 0.5 * (at.duration[1] - at.duration[0])
    fallen = of.R @ at.bias
    sticking = target + middle * fallen
    still = of.gamma @ sticking
    eta = of.K @ sticking[::w]
    rest = still.copy()
    rest[::w] -= eta
    size = float(np.sqrt(max(rest @ of.G @ rest, 0.0)))
    unsure = np.concatenate((at.common, [part * fallen, opened]))
    across, of_eta = of.changes(unsure, w)
    impulse = of.gamma @ opened
    gained = abs(float(impulse @ sticking)) + float(at.radius @ np.abs(impulse))  # (ζ/m₀) o·c, but for k
    gained += float(np.abs(unsure[:-1] @ impulse).sum())
    of_drives = impulse @ of.R
    own_size = of.gamma.diagonal().copy()
    own_size[::w] -= of.K.diagonal()
    changes = float(across.sum() + at.radius @ of.root(own_size, of.gamma.diagonal()))
    eta_changes = of_eta.sum(axis=0) + np.abs(of.K) @ at.radius[::w]
    drift = of.H @ at.bias
    centre = back.T @ target - middle * drift
    fixed = part * np.abs(drift) + np.abs(at.common @ back).sum(axis=0) + at.radius @ np.abs(back)
    low, high = first
    for _ in range(_ROUNDS):
        common, alone = half * 0.5 * (low + high), half * 0.5 * (high - low) + own * np.maximum(high, -low)
        spread = fixed + np.abs(of.H @ common) + np.abs(of.H) @ alone
        moved, turned = of.changes((of.R @ common)[None], w)
        more = changes + float(moved[0]) + float(of.across @ alone)
        least = eta - eta_changes - turned[0] - np.abs(of.of_opening) @ alone
        more += float(np.maximum(-least, 0.0) @ of.own)
        # What is added on the right: Σ η |ρ_n| with the largest η, and (ζ/m₀) o·c.
        square = (0.5 * (size + more)) ** 2 + float(np.maximum(2.0 * eta - least, 0.0) @ missed)
        square += gained + abs(float(of_drives @ common)) + float(np.abs(of_drives) @ alone)
        radius = 0.5 * more + float(np.sqrt(square))
        with np.errstate(over="ignore"):  # a contact that need not open has no bound from that side
            opens = np.minimum(2.0 * radius * of.own, square / np.maximum(least, 1e-300))
        up, down = np.maximum(of.of_opening, 0.0).T, np.maximum(-of.of_opening, 0.0).T
        reach = spread + radius * of.across
        reach += _ROOM * (reach + np.abs(centre))
        about = centre - 0.5 * (rest @ of.R)
        low = np.maximum(low, about - reach - up @ missed - down @ opens)
        high = np.minimum(high, about + reach + up @ opens + down @ missed)
    return low, high
