"""Pairs of contacts whose order of impact changes the outcome, as the stability flags list them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.kernels.estimation.update_records import ListsOut

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

_HOLDS = int(Flag.HOLDS)
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
    margin: Array
    """(k,) kinetic distance between the outcomes of the two orders over the larger jump."""


NO_PAIRS = Pairs(np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0), np.zeros(0, np.uint8), np.zeros(0))


def listed(lists: ListsOut, count: int) -> Pairs:
    """The first ``count`` pairs of the lists, as arrays of their own: of more than ``PAIRS_LIMIT`` those whose order
    matters, then those with the largest cosines."""
    if count == 0:
        return NO_PAIRS
    contacts, cosine, sensitive, margin = (
        lists.pair_contacts,
        lists.pair_couplings,
        lists.pair_flags,
        lists.pair_margins,
    )
    if count < len(cosine):
        contacts, cosine, sensitive, margin = contacts[:, :count], cosine[:count], sensitive[:count], margin[:count]
    if count > PAIRS_LIMIT:
        matters = np.abs(cosine) + 2.0 * (sensitive == _HOLDS)
        kept = np.sort(np.argsort(-matters, kind="stable")[:PAIRS_LIMIT])
        return Pairs(contacts[0, kept], contacts[1, kept], cosine[kept], sensitive[kept], margin[kept])
    first, second = contacts.copy()  # C-contiguous rows
    return Pairs(first, second, cosine.copy(), sensitive.copy(), margin.copy())
