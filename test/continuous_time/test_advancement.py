"""Time passes along s (Halm, Theorem 5 and Corollary 3): the numbers, on the rocking block and the box at the wall."""

import numpy as np
import pytest

from hybrid_contact_ros.continuous_time.advancement import time_advancement
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.systems.zeno_block import zeno_block, zeno_state

UPWARDS = np.array([0.0, 1.0, 0.0])  # r of Lemma 6 for a body of 1 kg on level ground


def block_numbers():
    """Over the states that the block of Halm's §4.3 goes through."""
    block = zeno_block()
    path = continuous_time_path(block, *zeno_state(), t_final=3.0)
    return path, time_advancement([block.problem(q, v) for q, v in zip(path.q, path.v, strict=True)], UPWARDS)


def test_theorem5_and_corollary3_of_the_zeno_block():
    path, numbers = block_numbers()
    assert numbers.slowing == pytest.approx(9.81)  # the weight of 1 kg
    assert numbers.rate == pytest.approx(1 / 10.81)
    assert numbers.s_star == pytest.approx(2.0, abs=1e-6)  # 4 m |ẏ|: the centre moves at 0.5 m/s at most
    assert numbers.t_star == pytest.approx(1.0 / 10.81, abs=1e-6)
    # any two knots: time advances as promised, through infinitely many impacts
    for i in range(0, path.s.size, 7):
        later = path.s[i:] - path.s[i]
        assert (path.t[i:] - path.t[i] >= [numbers.elapsed(s) - 1e-9 for s in later]).all()
    end = path.accumulations[0]
    assert numbers.elapsed(end.s) <= end.t < 1.15 * numbers.elapsed(end.s)  # 2.67 s; the bound is nearly attained


def test_corollary3_is_attained_by_a_block_at_rest():
    block = zeno_block()
    path = continuous_time_path(block, [0.0, 1.0, 0.0], np.zeros(3), t_final=1.0)
    numbers = time_advancement([block.problem([0.0, 1.0, 0.0], np.zeros(3))], UPWARDS)
    assert numbers.span == 0.0
    assert path.t[-1] / path.s[-1] == pytest.approx(numbers.rate, rel=1e-9)


def test_a_direction_that_is_none_of_lemma_6_is_refused():
    with pytest.raises(ValueError, match="Lemma 6"):
        time_advancement([zeno_block().problem([0.0, 1.0, 0.0], np.zeros(3))], 0.9 * UPWARDS)
