"""The memory from which the times of events are foretold as densities (docs/event_densities.md)."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.kernels.estimation.density_checks import CHECKED
from hybrid_contact_ros.kernels.estimation.density_quantiles import CLASSES, KEPT, LEADS, SPAN
from hybrid_contact_ros.kernels.estimation.event_density import (
    FIRST_AWAITED,
    FIRST_CAME,
    STATES,
    DensityMemory,
)

_LONG_AGO = -(10**18)  # ns


def density_memory(m: int) -> DensityMemory:
    """Of m contacts; nothing is remembered."""
    table = (CLASSES, LEADS)
    memory = DensityMemory(
        stamps=np.zeros(STATES, dtype=np.int64),
        foretold=np.zeros((STATES, m, 2)),
        classes=np.zeros((STATES, m), dtype=np.uint8),
        filled=np.zeros(1, dtype=np.int64),
        residuals=np.zeros((*table, KEPT)),
        origins=np.zeros((*table, KEPT, 2), dtype=np.int64),
        counts=np.zeros(table, dtype=np.int64),
        transforms=np.zeros((*table, CHECKED)),
        passed=np.zeros(table, dtype=np.uint8),
        knots=np.zeros((m, *table, 5)),
        support=np.zeros((m, *table)),
        made=np.zeros((m, *table), dtype=np.int64),
        last=np.zeros(m, dtype=np.int64),
        awaited=np.zeros((m, 2), dtype=np.int64),
        came=np.zeros((CLASSES, 2)),
        times=np.zeros((m, 3)),
        work=np.zeros((2, KEPT + SPAN)),
    )
    forget_densities(memory)
    return memory


def forget_densities(memory: DensityMemory) -> None:
    """Forget all that was foretold, and what it missed."""
    pause_densities(memory)
    for array in (memory.counts, memory.passed):
        array.fill(0)
    memory.made.fill(-1)
    memory.last.fill(_LONG_AGO)
    memory.came[:] = FIRST_CAME, FIRST_AWAITED


def pause_densities(memory: DensityMemory) -> None:
    """Forget what was foretold, but not what was learned."""
    memory.filled.fill(0)
    memory.awaited.fill(-1)
