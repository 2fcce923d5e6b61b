"""Pairs of contacts whose order of impact changes the outcome, as the stability flags list them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Flag

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

PAIRS_LIMIT = 256
"""As many as a message may list."""


class Pairs(NamedTuple):
    """k pairs of contacts, first < second."""

    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    coupling: Array
    """(k,) cosine of the angle between the two constraints, Pace (14)."""
    order_sensitive: Codes
    """(k,) uint8, Flag: HOLDS where the order of the two impacts changes the outcome."""


def no_pairs() -> Pairs:
    return Pairs(np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0), np.zeros(0, np.uint8))


def order_sensitive(
    every: tuple[NDArray[np.intp], NDArray[np.intp]], cosines: Array, involved: NDArray[np.bool_], tolerance: float
) -> Pairs:
    """The pairs of involved contacts, and whether the order of their impacts changes the outcome.

    Args:
        every: indices of all pairs, i < j. cosines: between the constraints (m, m), Pace (14). involved: (m,) bool.
        tolerance: cosine above which the order of the two impacts matters.

    Returns:
        Of more than ``PAIRS_LIMIT`` pairs those with the largest cosines.
    """
    kept = involved[every[0]] & involved[every[1]]
    first, second = every[0][kept], every[1][kept]
    cosine = cosines[first, second]
    if cosine.size > PAIRS_LIMIT:
        largest = np.sort(np.argsort(-np.abs(cosine), kind="stable")[:PAIRS_LIMIT])
        first, second, cosine = first[largest], second[largest], cosine[largest]
    sensitive = np.where(np.abs(cosine) > tolerance, Flag.HOLDS, Flag.FAILS).astype(np.uint8)
    return Pairs(first.astype(np.uint32), second.astype(np.uint32), cosine, sensitive)
