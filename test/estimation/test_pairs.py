"""Which pairs of contacts are listed, and that the arrays of a list are its own."""

import numpy as np
import pytest

from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.estimation.memory import lists_out
from hybrid_contact_ros.estimation.pairs import PAIRS_LIMIT, listed


def filled(contacts):
    """Lists of all pairs of so many contacts, with random couplings."""
    rng, lists = np.random.default_rng(contacts), lists_out(contacts, 1)
    lists.pair_contacts[:] = np.triu_indices(contacts, 1)
    lists.pair_couplings[:] = rng.uniform(-1.0, 1.0, lists.pair_couplings.size)
    lists.pair_flags[:] = rng.integers(1, 3, lists.pair_flags.size)
    lists.pair_margins[:] = rng.uniform(0.0, 1.0, lists.pair_margins.size)
    return lists


@pytest.mark.parametrize(("contacts", "count"), [(1, 0), (4, 0), (4, 3), (4, 6), (23, 253), (24, 200)])
def test_the_first_pairs_are_listed_in_arrays_that_later_updates_leave_alone(contacts, count):
    lists = filled(contacts)
    found, copies = listed(lists, count), [x.copy() for x in (*lists.pair_contacts, *lists[-3:])]
    for array in (lists.pair_contacts, *lists[-3:]):
        array.fill(0)
    for array, copy in zip(found, copies, strict=True):
        assert array.flags.c_contiguous and array.dtype == copy.dtype
        np.testing.assert_array_equal(array, copy[:count])


def test_of_more_pairs_than_a_message_may_list_those_whose_order_matters_and_the_closest_coupled_are_listed():
    lists = filled(64)
    lists.pair_flags[:] = np.where(np.arange(lists.pair_flags.size) % 20 == 0, Flag.HOLDS, Flag.FAILS)  # 101 of 2016
    found = listed(lists, 2016)
    assert found.coupling.size == PAIRS_LIMIT
    order = found.first.astype(int) * 64 + found.second
    assert (np.diff(order) > 0).all()
    kept = np.isin(lists.pair_contacts[0].astype(int) * 64 + lists.pair_contacts[1], order)
    assert (found.order_sensitive == Flag.HOLDS).sum() == 101
    calm = np.abs(found.coupling[found.order_sensitive == Flag.FAILS])
    assert calm.min() >= np.abs(lists.pair_couplings[~kept]).max()
    np.testing.assert_array_equal(found.order_sensitive, lists.pair_flags[kept])
    np.testing.assert_array_equal(found.margin, lists.pair_margins[kept])
