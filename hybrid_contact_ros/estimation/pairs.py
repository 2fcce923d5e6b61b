"""Pairs of contacts whose order of impact changes the outcome, as the stability flags list them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Flag

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]
Pairs = tuple[NDArray[np.uint32], NDArray[np.uint32], Array, Codes]

# As many as a message may list
MOST_PAIRS = 256


def no_pairs() -> Pairs:
    return np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0), np.zeros(0, np.uint8)


def order_sensitive(
    every: tuple[NDArray[np.intp], NDArray[np.intp]], cosines: Array, involved: NDArray[np.bool_], tolerance: float
) -> Pairs:
    """The pairs, out of ``every`` (i < j), of involved contacts, with their cosines, and whether their order matters.

    ``cosines`` (m, m): between the constraints (P 14). Above ``tolerance`` the order of the two impacts changes the
    outcome. Of more than ``MOST_PAIRS`` pairs those with the largest cosines are kept.
    """
    kept = involved[every[0]] & involved[every[1]]
    first, second = every[0][kept], every[1][kept]
    cosine = cosines[first, second]
    if cosine.size > MOST_PAIRS:
        largest = np.sort(np.argsort(-np.abs(cosine), kind="stable")[:MOST_PAIRS])
        first, second, cosine = first[largest], second[largest], cosine[largest]
    sensitive = np.where(np.abs(cosine) > tolerance, Flag.HOLDS, Flag.FAILS).astype(np.uint8)
    return first.astype(np.uint32), second.astype(np.uint32), cosine, sensitive
