"""How much of what may happen a set of samples covers, with statistical confidence."""

from __future__ import annotations

from numpy.typing import NDArray
from scipy.special import betaincinv

from hybrid_contact_ros.impacts.contact_space import Array
from hybrid_contact_ros.kernels.impacts.coverage import near_count

CONFIDENCE = 0.95
RADIUS = 0.05
"""ε, as a part of the kinetic norm of the largest jump v⁺ − v⁻ of the samples."""

_KEPT = 0.7  # of the other samples, that one is compared with
_COMPARISONS = 1 << 24  # at most, a quarter of a second: as many as 4096 samples may need


def lower_confidence_bound(hits: float, trials: int, confidence: float = CONFIDENCE) -> float:
    """Clopper–Pearson: with probability ≥ ``confidence`` a success probability is above the bound returned.

    ``hits`` successes of ``trials`` independent ones. 0 if there were no trials or no hits.
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} hits of {trials} trials is impossible")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1")
    if hits == 0:
        return 0.0
    return float(betaincinv(hits, trials - hits + 1, 1.0 - confidence))


def coverage_bound(info: NDArray, jumps: Array) -> tuple[float, float]:
    """Lower confidence bound on the probability that one more draw lands within ε of these, and ε.

    Every sample is a trial: is it within ε of 70 % of the others? The mean over all ways of choosing these is exact
    (:func:`~hybrid_contact_ros.kernels.impacts.coverage.near_count`). It expects less of the others than there are,
    since the whole set misses less than a part of it does (Good 1953: all but one of them would be unbiased), and that
    outweighs that trials share their neighbours, which makes hits vary more than the independent ones of Clopper and
    Pearson (Esty 1983). That is measured, not proven: see docs/impacts.md. One trial fewer than there are samples is
    counted, since of n samples that are alike one alone is no evidence.

    Args:
        info: (samples, …) of :func:`~hybrid_contact_ros.kernels.impacts.sampling.sample_batch`. jumps (samples, n): v⁺
        − v⁻
            in coordinates whose Euclidean norm is the kinetic one.
    """
    count = len(jumps)
    if count < 2:
        return 0.0, near_count(RADIUS, 1, 0, info, jumps)[2]
    hits, trials, radius = near_count(RADIUS, max(int(_KEPT * (count - 1)), 1), _COMPARISONS, info, jumps)
    return lower_confidence_bound(hits * (trials - 1) / trials, trials - 1), radius
