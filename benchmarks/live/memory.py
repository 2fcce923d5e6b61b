"""Whether the memory of this process grows with the states that it answered."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

SETTLING = 0.2  # share of the samples before which memory may still grow
FLAT = 1.0  # bytes a state: more is a leak
ENOUGH = 50_000  # states, with fewer of which memory has not settled and nothing is concluded


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(states: NDArray[np.float64], memory: NDArray[np.float64]) -> tuple[float, float, float]:
    """Slope of the memory, bytes a state, with its 95 % interval: the median of the slopes between all pairs of samples
    (Theil and Sen), which a step here and there does not move."""
    from scipy.stats import theilslopes

    first = int(SETTLING * len(states))
    found = theilslopes(memory[first:], states[first:], 0.95)
    return float(found[0]), float(found[2]), float(found[3])


def in_words(change: float) -> str:
    """A change in bytes a state.

    Example:
        >>> in_words(-38.6), in_words(0.25)
        ('38.6 bytes fewer a state', '0.25 bytes more a state')
    """
    return f"{abs(change):.3g} bytes {'fewer' if change < 0.0 else 'more'} a state"


def show_memory(states: list[int], memory: list[int]) -> bool:
    """Print the memory over time, and whether it is flat."""
    slope, low, high = growth(np.array(states, float), np.array(memory, float))
    marks = np.linspace(0, len(states) - 1, 9).round().astype(int)
    print("\nmemory, MB: " + ", ".join(f"{1e-6 * memory[i]:.2f} ({states[i]})" for i in marks))
    flat = max(abs(low), abs(high)) < FLAT or low <= 0.0 <= high
    said = "flat" if flat else "NOT FLAT" if states[-1] > ENOUGH else "too few states to tell"
    print(f"{in_words(slope)}, 95 % interval {low:+.3g} to {high:+.3g}: {said}")
    return said != "NOT FLAT"
