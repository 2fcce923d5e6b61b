"""Kernels with most of their arguments given take the short way to the same machine code."""

import numpy as np
import pytest

from hybrid_contact_ros.kernels.bound import Bound
from hybrid_contact_ros.kernels.messages.measurements import carried


def arguments(seconds):
    base = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.3])
    return seconds, base, np.zeros((3, 3)), np.zeros(13)


def test_the_second_call_does_what_the_first_one_did():
    for seconds in (0.1, -0.2, 0.3):
        *given, out = arguments(seconds)
        bound, expected = Bound(carried, *given), arguments(seconds)
        carried(*expected)
        for _ in range(3):
            out.fill(0.0)
            bound.call(out)
            assert out.tobytes() == expected[-1].tobytes()
        assert bound.call.func is not carried, "it does not go the short way"


def test_what_is_not_compiled_is_refused_in_the_first_call():
    *given, out = arguments(0.1)
    carried(*given, out)
    can = carried._can_compile
    carried._can_compile = False
    try:
        with pytest.raises(TypeError):
            Bound(carried, *given).call(out.astype(np.float32))
    finally:
        carried._can_compile = can
