"""Doors, the kernels that Python calls, stay flat: their arguments are the fields of their records, in this order."""

import inspect

import pytest

from hybrid_contact_ros.kernels.impacts import all_solutions, hull_lp
from hybrid_contact_ros.kernels.mechanics import contact_rows as rows
from hybrid_contact_ros.kernels.modes import records as modes
from hybrid_contact_ros.kernels.modes.forces import force_acceleration
from hybrid_contact_ros.kernels.stability import records as stability
from hybrid_contact_ros.kernels.stability.constraint import stability_flags
from hybrid_contact_ros.kernels.stability.pseudo_impulse import pseudo_impulse_flags

DOORS = [
    (rows.contact_rows, [rows.ContactGeometry, rows.JointKinematics, rows.TwistScratch, rows.ContactRowsOut]),
    (force_acceleration, [modes.StateSettings, modes.StateProblem, modes.StateScratch, modes.StateOut]),
    (
        stability_flags,
        [
            stability.StabilitySettings,
            stability.StabilityProblem,
            stability.SolvedMode,
            stability.TrialScratch,
            stability.StabilityOut,
        ],
    ),
    (
        pseudo_impulse_flags,
        [
            stability.PseudoImpulseSettings,
            stability.PseudoImpulseProblem,
            stability.SteadyMode,
            stability.ImpactScratch,
            stability.PseudoImpulseOut,
        ],
    ),
    (
        all_solutions.search,
        ["g", all_solutions.SearchBudget, "H", "w", "cap", "c", all_solutions.SearchTree, all_solutions.SearchOut],
    ),
    (
        hull_lp.lower_templates,
        [
            hull_lp.HullProblem,
            hull_lp.HullRows,
            *("rounds", "used", "increases", "slack", "order"),
            hull_lp.SimplexScratch,
            *("bases", "mix"),
        ],
    ),
    (
        hull_lp.bound_queries,
        [
            hull_lp.HullProblem,
            hull_lp.HullRows,
            *("used", "queries"),
            hull_lp.SimplexScratch,
            *("first_basis", "mix", "most"),
        ],
    ),
]


@pytest.mark.parametrize(("door", "records"), DOORS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_door_takes_the_fields_of_its_records_in_order(door, records):
    expected = [name for record in records for name in ([record] if isinstance(record, str) else record._fields)]
    assert list(inspect.signature(door.py_func).parameters) == expected
