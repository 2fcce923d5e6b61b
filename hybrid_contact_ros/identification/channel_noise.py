"""White and correlated noise of measured channels, from how their third differences grow with the time between samples.

Third differences at a lag of s samples, d = x₀ − 3 x₁ + 3 x₂ − x₃, leave nothing of a quadratic. Of noise with
variance σ² and the autocorrelation ρ^k they leave

    V(s) = σ² (20 − 30 ρ^s + 12 ρ^{2s} − 2 ρ^{3s}),   ρ = exp(−Δt/τ),

which is 20 σ² at all lags where the noise is white, and grows with s until s Δt is some τ where it is not (what an
Allan variance shows of rates). Of a smooth motion they leave its third derivative, A s⁶. σ², τ and A are fitted to V at
several lags. V is the median over short blocks of each block's median of d², which contact events move little: they
are in the smaller part of the blocks. Where motion is most of V(1), the noise is not identifiable, and the recording
says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.identification.intervals import Found, by_blocks, not_found

Array = NDArray[np.float64]

LAGS = (1, 2, 3, 4, 6, 8)
CORRELATIONS = (0.0, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.1, 1.3, 1.6, 2.0, 2.4, 3.0, 3.6, 4.4, 5.4, 6.6, 8.0, 10.0, 12.0)
"""τ in samples, that are tried: with longer ones, 8 samples cannot tell noise from motion."""
_APART, _WHITE = 1.12, 0.4
"""Half of the way from one of these to the next, as a factor, which widens an interval; τ up to which noise is as
good as white."""
_CHI = 0.454936  # median of x², x of variance 1
_BLOCK, _SHORTEST, _MOST = 0.1, 64, 160  # s, samples of a block; blocks
_FEWEST = 12  # differences of a block
_SHARE = 0.5  # of V(1) that must be noise
_LONGEST = 7.0  # samples: what is correlated over more cannot be told from motion within the lags
_REPEATED = 0.05  # of the samples of a channel may repeat the one before


@dataclass(frozen=True, slots=True)
class ChannelNoise:
    """Noise of a group of channels. sigma: of them all, root mean square. correlation: τ, s. each: (c,), σ of each
    channel, NaN where it is not identifiable."""

    sigma: Found
    correlation: Found
    each: tuple[float, ...]


def channel_noise(name: str, unit: str, episodes: Sequence[tuple[Array, Array]]) -> ChannelNoise:
    """The noise of some channels that are alike.

    Args:
        episodes: times (n,), s, and values (n, c) of each.
    """
    sigma, tau = f"{name}, noise", f"{name}, correlation time of the noise"
    width = episodes[0][1].shape[1] if episodes else 0
    none = tuple([float("nan")] * width)

    def no(why: str) -> ChannelNoise:
        return ChannelNoise(not_found(sigma, unit, why, samples), not_found(tau, "s", why, samples), none)

    samples = sum(len(t) for t, _ in episodes)
    steps = np.concatenate([np.diff(t) for t, _ in episodes]) if samples else np.zeros(0)
    if not width:
        return no("the robot has none")
    if steps.size < _SHORTEST:
        return no(f"{samples} samples are too few")
    step = float(np.median(steps))
    repeated = np.mean(np.concatenate([np.diff(x, axis=0) == 0.0 for _, x in episodes]), axis=0)
    used = repeated <= _REPEATED
    if not used.any():
        return no("values are repeated from sample to sample: the sensor is slower than the stream, or stands still")
    length = max(_SHORTEST, round(_BLOCK / step), -(-samples // _MOST))
    table, lags = _variances([(t, x[:, used]) for t, x in episodes], length, step)
    if len(table) < 2 or len(lags) < 3:
        return no("the recordings have too few samples in a row")

    fitted = _fit(np.median(table, axis=0)[None], lags)
    known = (fitted.share[0] >= _SHARE) & (fitted.correlation[0] <= _LONGEST)
    each = np.full(width, np.nan)
    each[np.flatnonzero(used)[known]] = np.sqrt(fitted.variance[0, known])
    if known.mean() < 0.5:
        bound = float(np.sqrt(np.median(np.median(table, axis=0)[0]) / 20.0))
        return no(f"motion hides it: it is less than {bound:.2g} {unit}")

    def fits(chosen: NDArray[np.intp]) -> _Fit:
        return _fit(np.median(table[:, :, known][chosen], axis=1), lags)

    def sigmas(chosen: NDArray[np.intp]) -> Array:
        return np.sqrt(fits(chosen).variance.mean(axis=1))

    def taus(chosen: NDArray[np.intp]) -> Array:
        return step * np.median(fits(chosen).correlation, axis=1)

    found = by_blocks(sigma, unit, len(table), samples, sigmas, least=0.0)
    return ChannelNoise(
        found, _widened(by_blocks(tau, "s", len(table), samples, taus, least=0.0), step), tuple(each.tolist())
    )


def _widened(found: Found, step: float) -> Found:
    """A correlation time with an interval that is no narrower than the times that are tried are apart."""
    if not found.known:
        return found
    low = found.low / _APART if found.low > 1.01 * _WHITE * step else 0.0
    return replace(found, low=low, high=max(found.high * _APART, _WHITE * step))


def _variances(episodes: Sequence[tuple[Array, Array]], length: int, step: float) -> tuple[Array, Array]:
    """V (blocks, lags, c) of blocks, and the lags. Differences over a pause or a lost message are left out."""
    lags = np.array([s for s in LAGS if 3 * s <= length // 2])
    rows = []
    for times, values in episodes:
        blocks = max(1, len(times) // length)
        for cut in np.array_split(np.arange(len(times)), blocks):
            row = []
            for s in lags:
                t, x = times[cut], values[cut]
                whole = t[3 * s :] - t[: -3 * s] < (3.0 * s + 0.5) * step
                d = (x[: -3 * s] - 3.0 * x[s : -2 * s] + 3.0 * x[2 * s : -s] - x[3 * s :])[whole]
                if len(d) >= _FEWEST:
                    row.append(np.median(d * d, axis=0) / _CHI)
            if len(row) == len(lags):
                rows.append(row)
    return np.array(rows).reshape(len(rows), len(lags), -1), lags


@dataclass(frozen=True, slots=True)
class _Fit:
    """variance: σ² (draws, c). correlation: τ in samples. share: of V(1) that is noise."""

    variance: Array
    correlation: Array
    share: Array


def _fit(V: Array, lags: Array) -> _Fit:
    """σ², τ and A by least squares of V/V_fit − 1 over the lags, σ² ≥ 0 and A ≥ 0; V (draws, lags, c)."""
    V = np.maximum(V, 1e-300)
    best = np.full((V.shape[0], V.shape[2]), np.inf)
    variance, correlation, share = np.zeros_like(best), np.zeros_like(best), np.zeros_like(best)
    for tau in CORRELATIONS:
        rho = np.exp(-1.0 / tau) ** lags if tau else np.zeros(len(lags))
        a = (20.0 - 30.0 * rho + 12.0 * rho**2 - 2.0 * rho**3)[None, :, None] / V
        b = (lags.astype(float) ** 6)[None, :, None] / V
        aa, bb, ab, ay, by = (
            (x * y).sum(axis=1) for x, y in ((a, a), (b, b), (a, b), (a, 1.0 + 0 * a), (b, 1.0 + 0 * b))
        )
        det = aa * bb - ab * ab
        with np.errstate(invalid="ignore", divide="ignore"):
            s, A = (ay * bb - by * ab) / det, (by * aa - ay * ab) / det
            alone_s, alone_A = ay / aa, by / bb
        s, A = (
            np.where(A < 0.0, alone_s, np.where(s < 0.0, 0.0, s)),
            np.where(A < 0.0, 0.0, np.where(s < 0.0, alone_A, A)),
        )
        left = ((1.0 - s[:, None] * a - A[:, None] * b) ** 2).sum(axis=1)
        better = left < best - 1e-12
        best = np.where(better, left, best)
        variance, correlation = np.where(better, s, variance), np.where(better, tau, correlation)
        share = np.where(better, s * a[:, 0], share)
    return _Fit(variance, correlation, share)
