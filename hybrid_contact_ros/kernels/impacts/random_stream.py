"""Random numbers of one sample, from its seed and index alone: SplitMix64 (Steele, Lea, Flood 2014)."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³


@kernel
def _mix(state):
    """The output function of SplitMix64."""
    state = (state ^ (state >> _S30)) * _MIX1
    state = (state ^ (state >> _S27)) * _MIX2
    return state ^ (state >> _S31)


@kernel
def stream(seed, sample):
    """State of the random stream of one sample; streams of different (seed, sample) are unrelated."""
    return _mix(_mix(np.uint64(seed) + _GOLDEN) + (np.uint64(sample) + np.uint64(1)) * _GOLDEN)


@kernel
def uniform(state):
    """The next state of a stream, and a number uniform in [0, 1), a multiple of 2⁻⁵³."""
    state = state + _GOLDEN
    return state, np.float64(_mix(state) >> _S11) * _UNIT
