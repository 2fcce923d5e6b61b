"""The set that samples make: velocities, coverage, bounds and energies, in one call."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.coverage import near_count
from hybrid_contact_ros.kernels.impacts.fast_bounds import energy_bounds, impulse_bounds, tighten
from hybrid_contact_ros.kernels.impacts.friction_axes import Array, AxesProblem, Response, expand_samples
from hybrid_contact_ros.kernels.impacts.records import RESIDUAL, TERMINATED


class GatherSettings(NamedTuple):
    """How samples are judged."""

    fraction: float  # ε of the coverage over the norm of the largest jump
    kept: int  # samples with which each is compared
    limit: int  # of comparisons
    slack: float  # how many times the bounds need the room for residuals
    speed: float  # V, √J


class Landing(NamedTuple):
    """The impact."""

    velocity: Array  # v⁻ (n,)
    friction: Array  # (m,), the highest of the samples
    gain: Array  # (m,), total impulse over that of compression alone


class GatherScratch(NamedTuple):
    """Scratch for ``samples`` samples."""

    jumps: Array  # (samples, n), as there are samples
    columns: Array  # (n, ≥ samples)
    near_squares: Array  # (64,)
    matrix: Array  # (m, m)
    basis: Array  # (n + 1, n)
    low: Array  # (m,), least normal impulses, N s
    high: Array  # (m,), largest


class GatherOut(NamedTuple):
    """The set; rows as there are samples."""

    velocities: Array  # v⁺ (samples, n)
    impulses: Array  # Λ (samples, m, 1 + d), N s
    lower: Array  # (n,) bounds of v⁺
    upper: Array  # (n,)


@kernel
def _bounds(slack, speed, separated, landing, response, axes, scratch, out):
    """Bounds of all outcomes, as of :meth:`hybrid_contact_ros.impacts.contact_space.ContactSpace.bounds`."""
    velocity, friction = landing.velocity, landing.friction
    lower, upper, low, high = out.lower, out.upper, scratch.low, scratch.high
    m = friction.shape[0]
    d = axes.A.shape[1]
    g = axes.A.shape[0]
    approaching = False
    for k in range(m):
        low[k] = 0.0
        high[k] = math.inf
        approaching |= axes.w[k * (1 + g)] < 0.0
    if not approaching:
        for i in range(velocity.shape[0]):
            lower[i] = velocity[i]
            upper[i] = velocity[i]
        return
    energy_bounds(response.L, response.Y, velocity, scratch.basis, lower, upper)
    impulse_bounds(d, response.G, response.u, friction, landing.gain, slack, speed, scratch.matrix, low, high)
    if not separated:
        for k in range(m):
            low[k] = 0.0
    tighten(d, response.R, velocity, friction, low, high, lower, upper)


@kernel
def gather_set(
    # settings:
    fraction, kept, limit, slack, speed,
    # landing:
    velocity, friction, gain,
    # response:
    L, Y, R, G, u,
    # axes problem:
    A, scale, H, w, c,
    # samples:
    z, info,
    # scratch:
    jumps, columns, near_squares, matrix, basis, low, high,
    # out:
    velocities, impulses, lower, upper,
):  # fmt: skip
    """Make a set of samples: velocities and impulses in SI units, what they cover, and bounds of all outcomes.

    Kinetic energies are those of x = Lᵀ v, whose length is the kinetic norm.

    Args:
        The members of :class:`GatherSettings`, :class:`Landing`, :class:`.Response`, :class:`.AxesProblem`,
        :class:`GatherScratch` and :class:`GatherOut`. z: (≥ samples, p), scaled impulses. info: (samples, 7), both of
        :func:`.sampling.sample_batch`.

    Returns:
        (samples that terminated, hits and trials of :func:`.coverage.near_count`, its ε, largest residual; kinetic
        energy before the impact, the least and the largest after it, J: NaN where no sample terminated).
    """
    landing = Landing(velocity, friction, gain)
    scratch = GatherScratch(jumps, columns, near_squares, matrix, basis, low, high)
    out = GatherOut(velocities, impulses, lower, upper)
    count = info.shape[0]
    n = velocity.shape[0]
    expand_samples(A, scale, speed, velocity, R, Y, z, velocities, impulses, jumps)
    hits, trials, radius = near_count(fraction, kept, limit, info, jumps, columns, near_squares)
    x = basis[n]  # read before the bounds use it
    before = 0.0
    for i in range(n):
        s = 0.0
        for k in range(i, n):
            s += L[k, i] * velocity[k]
        x[i] = s
        before += s * s
    ended = 0
    residual = 0.0
    least = math.inf
    most = -math.inf
    for sample in range(count):
        residual = max(residual, info[sample, RESIDUAL])
        if info[sample, TERMINATED] > 0.0:
            ended += 1
            energy = 0.0
            for i in range(n):
                entry = x[i] + jumps[sample, i]
                energy += entry * entry
            least = min(least, energy)
            most = max(most, energy)
    if ended == 0:
        least = most = math.nan
    _bounds(
        slack, speed, ended == count, landing, Response(L, Y, R, G, u), AxesProblem(A, scale, H, w, c), scratch, out
    )
    return ended, hits, trials, radius, residual, 0.5 * before, 0.5 * least, 0.5 * most
