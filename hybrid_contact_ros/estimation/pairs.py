"""Pairs of contacts whose order of impact changes the outcome, as the stability flags list them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.estimation.update_records import ListsOut

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


NO_PAIRS = Pairs(np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0), np.zeros(0, np.uint8))


def listed(lists: ListsOut, count: int) -> Pairs:
    """The first ``count`` pairs of the lists, as arrays of their own: of more than ``PAIRS_LIMIT`` those with the
    largest cosines."""
    if count == 0:
        return NO_PAIRS
    contacts, cosine, sensitive = lists.pair_contacts, lists.pair_couplings, lists.pair_flags
    if count < len(cosine):
        contacts, cosine, sensitive = contacts[:, :count], cosine[:count], sensitive[:count]
    if count > PAIRS_LIMIT:
        largest = np.sort(np.argsort(-np.abs(cosine), kind="stable")[:PAIRS_LIMIT])
        return Pairs(contacts[0, largest], contacts[1, largest], cosine[largest], sensitive[largest])
    first, second = contacts.copy()  # C-contiguous rows
    return Pairs(first, second, cosine.copy(), sensitive.copy())
