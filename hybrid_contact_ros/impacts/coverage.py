"""How much of what may happen a set of samples covers, with statistical confidence."""

from __future__ import annotations

from scipy.special import betaincinv

CONFIDENCE = 0.95
RADIUS = 0.05
"""ε, as a part of the kinetic norm of the largest jump v⁺ − v⁻ in the reference half of the samples."""


def lower_confidence_bound(hits: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """Clopper–Pearson: with probability ≥ ``confidence`` a success probability is above the bound returned.

    ``hits`` successes of ``trials`` independent ones. 0 if there were no trials or no hits.

    In a set of n samples the first half is the reference and the others are trials: a hit lands within ε of the
    reference half, ε chosen from that half alone. Given the reference half trials are independent, so the bound is
    exact for it, and only the safer for the whole set, which contains it.
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} hits of {trials} trials is impossible")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1")
    if hits == 0:
        return 0.0
    return float(betaincinv(hits, trials - hits + 1, 1.0 - confidence))
