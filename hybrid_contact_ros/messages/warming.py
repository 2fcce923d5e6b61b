"""The kernels of messages, called once as they are called later, so that nothing is left to compile."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.kernels.messages.contacts import write_contact_mode
from hybrid_contact_ros.kernels.messages.inertial_trail import (
    add_measurement,
    carried_by_unit,
    compare_rates,
    covers,
    trail,
)
from hybrid_contact_ros.kernels.messages.measurements import base_measurement, carried, joint_state, note_missed


def warm() -> None:
    """Compile the kernels between messages and states, or load them from the cache."""
    places, row, none = np.zeros((0, 4), np.int64), np.zeros(85), np.zeros(0)
    none3 = np.zeros(3)
    joint_state(0, 0, places, np.zeros((3, 0)), none, -1, -1, -1, none, none)
    base_measurement(False, True, 1.0, np.ones(3), row, np.zeros((3, 3)), np.zeros(85))
    carried(0.0, row, np.zeros((3, 3)), np.zeros(13))
    note_missed(
        1.0, 1.0, 1.0, np.ones(2), row, np.zeros((3, 3)), np.zeros(13), np.zeros((2, 6)), np.zeros(1),
        np.zeros((2, 6, 6)),
    )  # fmt: skip
    unit, lags = trail(), np.zeros(1, np.int64)
    add_measurement(0, none3, none3, unit)
    covers(0, 0, unit)
    carried_by_unit(0, 0, 0.0, none3, np.zeros((2, 3)), unit, row, np.zeros(13))
    compare_rates(0, none3, lags, 1, 1.0, unit, np.zeros(1), np.zeros((1, 3, 2)))
    memory = np.zeros(16, np.uint8)
    octets, table, rows = memory[:0], np.zeros((0, 1), np.int64), np.zeros((0, 3))
    write_contact_mode(
        np.zeros(6, np.int64), table, table, table, table, table[:, 0].copy(), table, table, 0, 0, 0.0, 0, 0, False,
        False, none, octets, False, table[:, 0].copy(), octets, rows, table[:, 0].copy(), memory,
        memory.view(np.uint32), memory.view(np.int64), memory.view(np.float64),
    )  # fmt: skip
