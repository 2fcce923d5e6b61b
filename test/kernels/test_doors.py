"""Doors, the kernels that Python calls, stay flat: their arguments are the fields of their records, in this order."""

import inspect

import pytest

from hybrid_contact_ros.kernels.estimation import event_times as events
from hybrid_contact_ros.kernels.estimation import records as rollouts
from hybrid_contact_ros.kernels.estimation.rollout import rollout
from hybrid_contact_ros.kernels.mechanics import contact_rows as rows
from hybrid_contact_ros.kernels.modes import records as modes
from hybrid_contact_ros.kernels.modes.forces import force_acceleration

DOORS = [
    (events.next_events, [rollouts.TimeBounds, events.EventProblem, events.EventScratch, events.EventOut]),
    (rollout, [rollouts.TimeBounds, rollouts.RolloutProblem, rollouts.RolloutScratch, rollouts.RolloutOut]),
    (rows.contact_rows, [rows.ContactGeometry, rows.JointKinematics, rows.TwistScratch, rows.ContactRowsOut]),
    (force_acceleration, [modes.StateSettings, modes.StateProblem, modes.StateScratch, modes.StateOut]),
]


@pytest.mark.parametrize(("door", "records"), DOORS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_door_takes_the_fields_of_its_records_in_order(door, records):
    expected = [field for record in records for field in record._fields]
    assert list(inspect.signature(door.py_func).parameters) == expected
