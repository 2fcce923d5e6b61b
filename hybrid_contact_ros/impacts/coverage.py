"""How much of what may happen is covered by a set of samples, with statistical confidence."""

from __future__ import annotations

from scipy.special import betaincinv

CONFIDENCE = 0.95
"""Probability with which the bound holds."""
RADIUS = 0.05
"""ε, as a part of the kinetic norm of the largest jump v⁺ − v⁻ of the samples."""

_KEPT = 0.7  # part of the other samples with which one is compared
_MOST_COMPARISONS = 1 << 24  # as many as 4096 samples may need; they take a quarter of a second


def lower_confidence_bound(hits: float, trials: int, confidence: float = CONFIDENCE) -> float:
    """Lower confidence bound on a success probability, by Clopper and Pearson.

    Args:
        hits: successes. trials: independent trials. confidence: probability with which the bound holds, or more.

    Returns:
        The bound; 0 if there were no trials or no hits.

    Raises:
        ValueError: fewer trials than hits, or a confidence outside (0, 1).

    Example:
        >>> round(lower_confidence_bound(95, 100), 3)
        0.898
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} hits of {trials} trials is impossible")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1")
    if hits == 0:
        return 0.0
    return float(betaincinv(hits, trials - hits + 1, 1.0 - confidence))


def comparisons(count: int) -> tuple[int, int]:
    """With how many others each of ``count`` samples is compared, and how many comparisons there are at most."""
    return max(int(_KEPT * (count - 1)), 1), _MOST_COMPARISONS if count > 1 else 0


def coverage_bound(hits: float, trials: int) -> float:
    """Lower confidence bound on the probability that one more draw lands within ε of the samples; 0 where there are
    fewer than two trials.

    Every sample is a trial: is it within ε of one of 70 % of the others? The mean over all ways of choosing the 70 % is
    exact (:func:`~hybrid_contact_ros.kernels.impacts.coverage.near_count`, whose answers these are, with ε = ``RADIUS``
    and with :func:`comparisons`). Two errors have opposite signs. The whole
    set misses less than a part of it does (Good 1953: all others but one would be unbiased), so that the bound is too
    low. Trials share their neighbours, so that hits vary more than the independent ones of Clopper and Pearson do (Esty
    1983), and the bound is too high. That the first error outweighs the second is measured, not proven: see
    docs/impacts.md. One trial fewer than there are samples is counted, since of n samples that are alike one alone is
    no evidence.
    """
    if trials < 2:
        return 0.0
    return lower_confidence_bound(hits * (trials - 1) / trials, trials - 1)
