"""What a Gaussian deviation before a cluster of touchdowns leads to: probabilities of words, mean and covariance.

Which word is taken depends on y, the differences of the touchdowns' times, whitened: three numbers at most. A word's
cone of y has its measure and moments (:mod:`.cones`), and x = (δq, v) given y is a line and independent noise, so that
within a word x has the mean m + K (E y − ŷ) and the covariance P + K (cov y − 1) Kᵀ, K = cov(x, y). The mixture adds up

    Σ p_w [S_w cov_w S_wᵀ + (a_w − a)(a_w − a)ᵀ],        a_w = v⁺_w + S_w m_w,        a = Σ p_w a_w.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.records import Array
from hybrid_contact_ros.kernels.sensitivity.cones import cone_moments
from hybrid_contact_ros.kernels.sensitivity.local_model import add_product, clear

_VALID = int(EventValidity.VALID)
_FLOOR = 1e-12  # of the largest variance of a difference of times, which no difference falls below
_CERTAIN = 1e-30  # s², where there is none


class MomentsScratch(NamedTuple):
    """Memory for the moments of one cluster."""

    stack: Array  # (48, 9)
    moments: Array  # (w, 10)
    middle: Array  # (3,): ŷ
    white: Array  # (3, 3)
    spread: Array  # (3, 3)
    apart: Array  # (3, 2 nv): the differences of times
    carried: Array  # (3, 2 nv): times the covariance
    gain: Array  # (2 nv, 3): K
    after: Array  # (w, 2 nv): a_w
    half: Array  # (2 nv, 2 nv)
    through: Array  # (2 nv, 3): S K
    turned: Array  # (2 nv, 2 nv): Sᵀ
    inside: Array  # (2 nv,)


def moments_scratch(nv: int, words: int) -> MomentsScratch:
    """Memory for clusters of so many words of a robot with nv velocities."""
    n = 2 * nv
    return MomentsScratch(
        np.zeros((48, 9)), np.zeros((words, 10)), np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, n)),
        np.zeros((3, n)), np.zeros((n, 3)), np.zeros((words, n)), np.zeros((n, n)), np.zeros((n, 3)),
        np.zeros((n, n)), np.zeros(n),
    )  # fmt: skip


@kernel
def cluster_moments(
    # settings:
    points, least,
    # deviation:
    covariance, mean, times,
    # words:
    words, corners, size, validity, velocity, matrix,
    # scratch:
    stack, moments, middle, white, spread, apart, carried, gain, after, half, through, turned, inside,
    # out:
    sigma, probability, after_mean, after_covariance,
):  # fmt: skip
    """Write the moments of a cluster.

    Args:
        points: of :mod:`.cones`. least: words with a smaller probability take no part in mean and covariance.
        covariance, mean: of x (2 nv, 2 nv), (2 nv,). times: ∂τ/∂x (k, 2 nv).
        words: (1,), how many rows of corners … matrix are filled. stack … inside: MomentsScratch.
        sigma: (k,), s, out. probability: (w,), out. after_mean, after_covariance: (2 nv,), (2 nv, 2 nv), out, of
            (δq⁺, v⁺); NaN where no word takes part.

    Returns:
        The probability of the words that take part.
    """
    k, n = times.shape
    scratch = MomentsScratch(
        stack, moments, middle, white, spread, apart, carried, gain, after, half, through, turned, inside
    )  # fmt: skip
    for j in range(k):
        for i in range(n):
            inside[i] = 0.0
        for e in range(n):
            for i in range(n):
                inside[i] += times[j, e] * covariance[e, i]
        total = 0.0
        for i in range(n):
            total += inside[i] * times[j, i]
        sigma[j] = math.sqrt(max(total, 0.0))
    _whiten(k, covariance, mean, times, scratch)
    total = 0.0
    count = words[0]
    for w in range(count):
        cone_moments(points, white, middle, corners[w], size[w], stack, moments[w])
        probability[w] = moments[w, 0]
        if validity[w] == _VALID and probability[w] >= least:
            total += probability[w]
    for i in range(n):
        after_mean[i] = 0.0 if total > 0.0 else math.nan
        for e in range(n):
            after_covariance[i, e] = 0.0 if total > 0.0 else math.nan
    if not total > 0.0:
        return 0.0
    for w in range(count):
        if validity[w] == _VALID and probability[w] >= least:
            _mean_after(w, mean, velocity[w], matrix[w], scratch)
            for i in range(n):
                after_mean[i] += probability[w] / total * after[w, i]
    for w in range(count):
        if validity[w] == _VALID and probability[w] >= least:
            _add_covariance(w, probability[w] / total, covariance, matrix[w], after_mean, scratch, after_covariance)
    for i in range(n):
        for e in range(i):
            after_covariance[e, i] = after_covariance[i, e]
    return total


@kernel
def _whiten(k, covariance, mean, times, scratch):
    """Write white, ŷ and the gain K = cov(x, y); what is no difference of times has the variance 1 and mean 0."""
    apart, carried, spread, white = scratch.apart, scratch.carried, scratch.spread, scratch.white
    n = mean.shape[0]
    clear(carried)
    largest = 0.0
    for a in range(3):
        for i in range(n):
            apart[a, i] = times[a + 1, i] - times[0, i] if a + 1 < k else 0.0
    add_product(3, n, n, apart, covariance, carried)
    for a in range(3):
        for b in range(3):
            total = 0.0
            for i in range(n):
                total += carried[a, i] * apart[b, i]
            spread[a, b] = total
        largest = max(largest, spread[a, a])
    for a in range(3):
        spread[a, a] += _FLOOR * largest + _CERTAIN if a + 1 < k else 1.0
    # spread = C Cᵀ, kept in its place; white = C⁻¹
    for a in range(3):
        for b in range(a + 1):
            total = spread[a, b]
            for e in range(b):
                total -= spread[a, e] * spread[b, e]
            if a == b:
                spread[a, b] = math.sqrt(max(total, 1e-3 * (_FLOOR * largest + _CERTAIN)))
            else:
                spread[a, b] = total / spread[b, b]
    for b in range(3):
        for a in range(3):
            white[a, b] = 0.0
            if a >= b:
                total = 1.0 if a == b else 0.0
                for e in range(b, a):
                    total -= spread[a, e] * white[e, b]
                white[a, b] = total / spread[a, a]
    for a in range(3):
        scratch.middle[a] = 0.0
        for i in range(n):
            scratch.gain[i, a] = 0.0
        for b in range(a + 1):
            for i in range(n):
                scratch.middle[a] += white[a, b] * apart[b, i] * mean[i]
                scratch.gain[i, a] += white[a, b] * carried[b, i]


@kernel
def _mean_after(w, mean, velocity, matrix, scratch):
    """Write a_w, and turn the moments of the cone into mean less ŷ and covariance less 1."""
    n = mean.shape[0]
    m, inside, after = scratch.moments[w], scratch.inside, scratch.after[w]
    for r in range(1, 10):
        m[r] /= m[0]
    at = 4
    for a in range(3):
        for b in range(a + 1):
            m[at] -= m[1 + a] * m[1 + b] + (1.0 if a == b else 0.0)
            at += 1
    for a in range(3):
        m[1 + a] -= scratch.middle[a]
    for i in range(n):
        inside[i] = mean[i]
        for a in range(3):
            inside[i] += scratch.gain[i, a] * m[1 + a]
    for i in range(n):
        total = velocity[i - n // 2] if i >= n // 2 else 0.0
        for e in range(n):
            total += matrix[i, e] * inside[e]
        after[i] = total


@kernel
def _add_covariance(w, share, covariance, matrix, centre, scratch, out):
    """Add a word's part of the covariance to the lower triangle of ``out``."""
    n = centre.shape[0]
    nv = n // 2
    half, through, turned, m = scratch.half, scratch.through, scratch.turned, scratch.moments[w]
    clear(half)
    clear(through)
    add_product(nv, nv, n, matrix, covariance, half)  # the upper rows of S have no columns of δv
    add_product(nv, n, n, matrix[nv:], covariance, half[nv:])
    for i in range(n):
        for e in range(n):
            turned[e, i] = matrix[i, e]
            for a in range(3):
                through[i, a] += matrix[i, e] * scratch.gain[e, a]
    for i in range(n):
        row, mine = out[i], half[i]
        for e in range(0, n - 3, 4):
            p, q, r, t = share * mine[e], share * mine[e + 1], share * mine[e + 2], share * mine[e + 3]
            one, two, three, four = turned[e], turned[e + 1], turned[e + 2], turned[e + 3]
            for c in range(i + 1):
                row[c] += p * one[c] + q * two[c] + r * three[c] + t * four[c]
        for e in range(n - n % 4, n):
            for c in range(i + 1):
                row[c] += share * mine[e] * turned[e, c]
        apart = scratch.after[w, i] - centre[i]
        x = m[4] * through[i, 0] + m[5] * through[i, 1] + m[7] * through[i, 2]
        y = m[5] * through[i, 0] + m[6] * through[i, 1] + m[8] * through[i, 2]
        z = m[7] * through[i, 0] + m[8] * through[i, 1] + m[9] * through[i, 2]
        for c in range(i + 1):
            inner = x * through[c, 0] + y * through[c, 1] + z * through[c, 2]
            row[c] += share * (inner + apart * (scratch.after[w, c] - centre[c]))
