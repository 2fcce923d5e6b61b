"""Doors, the kernels that Python calls, stay flat: their arguments are the fields of their records, in this order."""

import inspect

import pytest

from hybrid_contact_ros.kernels.impacts import friction_axes as axes
from hybrid_contact_ros.kernels.impacts import records as impacts
from hybrid_contact_ros.kernels.impacts.increment import increment
from hybrid_contact_ros.kernels.impacts.restitution import restitution_batch
from hybrid_contact_ros.kernels.impacts.sampling import sample_batch

# A name stands for an argument that belongs to no record
DOORS = [
    (axes.prepare, ["directions", axes.Configuration, axes.Response, axes.AxesProblem]),
    (increment, [impacts.IncrementProblem, "tableau", "lines", "z", "after"]),
    (
        sample_batch,
        [
            *("first", "count", "seed"),
            *("g", "H", "w", "c"),
            impacts.Walk,
            impacts.SearchLimits,
            *("tableau", "lines", "cap", "vectors"),
            impacts.SearchScratch,
            *("z", "info"),
        ],
    ),
    (
        restitution_batch,
        [
            *("first", "count", "seed", "law"),
            *("g", "H", "w"),
            impacts.MaterialRange,
            impacts.Walk,
            impacts.SearchLimits,
            *("tableau", "lines", "contacts", "vectors"),
            impacts.SearchScratch,
            *("z", "info"),
        ],
    ),
]


@pytest.mark.parametrize(("door", "records"), DOORS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_door_takes_the_fields_of_its_records_in_order(door, records):
    expected = [name for record in records for name in ([record] if isinstance(record, str) else record._fields)]
    assert list(inspect.signature(door.py_func).parameters) == expected
