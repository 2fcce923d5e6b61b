"""The order of stamps, jumps of their clock, the period of a stream, and messages that were lost."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.messages.refusals import DoubtedError, RefusedError
from hybrid_contact_ros.messages.stamps import StampOrder, StreamRate

MS = 1_000_000
S = 1_000_000_000
START = 1_000 * S


def rate(stamps, numbers=None) -> StreamRate:
    stream = StreamRate()
    for k, stamp in enumerate(stamps):
        stream.note(int(stamp), None if numbers is None else int(numbers[k]), b"writer")
    return stream


def steady(count: int, period: int = 2 * MS) -> np.ndarray:
    return START + period * np.arange(count)


# --- losses and period -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [1.0, 0.8, 0.3, 0.05])
def test_sequence_numbers_count_every_loss_and_give_the_period_of_the_sender(kept):
    every = np.arange(4000)
    chosen = np.sort(np.random.default_rng(0).choice(every, int(kept * every.size), replace=False))
    stream = rate(steady(4000)[chosen], chosen + 1)
    assert stream.exact and stream.lost == (chosen[-1] - chosen[0] + 1) - chosen.size
    assert stream.period_ns == pytest.approx(2 * MS, rel=1e-6)


def test_a_publisher_that_starts_again_has_lost_nothing():
    stream = rate(steady(200), [*range(1, 101), *range(1, 101)])
    assert stream.lost == 0


def test_two_publishers_are_counted_each_by_its_own_numbers():
    stream = StreamRate()
    for k in range(100):
        stream.note(START + 2 * k * MS, k + 1, b"a")
        stream.note(START + (2 * k + 1) * MS, 5000 + k, b"b")
    assert stream.lost == 0


def test_without_numbers_gaps_between_stamps_are_counted():
    chosen = np.delete(np.arange(2000), np.arange(50, 2000, 20))  # 98 single losses
    stream = rate(steady(2000)[chosen])
    assert not stream.exact and 90 <= stream.lost <= 98
    assert stream.period_ns == 2 * MS


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.3, 0.6])
def test_jitter_is_no_loss(spread):
    rng = np.random.default_rng(1)
    steps = 2 * MS * (1.0 + spread * rng.uniform(-1, 1, 5000))
    assert rate(START + np.cumsum(steps)).lost <= 0.002 * 5000


def test_a_pause_a_change_of_rate_and_a_burst_are_no_losses():
    steps = [2 * MS] * 500 + [3 * S] + [2 * MS] * 500 + [10 * MS] * 500 + [2 * MS] * 500 + [150 * MS] + [50_000] * 40
    assert rate(START + np.cumsum(steps)).lost <= 4


def test_a_stream_that_starts_anew_forgets_its_numbers_and_keeps_its_counts():
    stream = rate(steady(100)[[*range(50), *range(60, 100)]], [*range(1, 51), *range(61, 101)])
    assert stream.lost == 10
    stream.forget()
    stream.note(START, 9000, b"writer")
    assert stream.lost == 10


# --- order ---------------------------------------------------------------------------------------------------------


def refusal(order: StampOrder, stamp: int, receive: int) -> str:
    with pytest.raises(RefusedError) as error:
        order.check(stamp, receive)
    return error.value.reason


def test_one_stamp_from_far_ahead_is_refused_and_costs_nothing_else():
    order = StampOrder()
    for k in range(20):
        assert order.check(START + k * MS, START + k * MS) is None
    assert refusal(order, START + 3600 * S, START + 20 * MS) == "stamp_jump"
    for k in range(21, 40):
        assert order.check(START + k * MS, START + k * MS) is None


def test_a_clock_that_stays_ahead_is_followed():
    order = StampOrder()
    order.check(START, START)
    told = []
    for k in range(1, 30):
        try:
            told.append(order.check(START + 3600 * S + k * MS, START + k * MS))
        except RefusedError as error:
            assert error.reason == "stamp_jump"
    assert told[0] == "clock_set_ahead" and len(told) == 20 and not any(told[1:])


def test_a_pause_of_the_stream_is_no_jump_and_slow_streams_have_none():
    order = StampOrder()
    for at in (0, 1, 2, 2 + 7200, 2 + 7205, 2 + 7210):
        assert order.check(START + at * S, START + at * S) is None


def test_a_clock_that_was_set_is_set_for_the_other_stream_too():
    for at in (START - 500 * S, START + 500 * S):
        other = StampOrder()
        other.check(START, START)
        other.set(at)
        assert other.check(at + 5 * MS, START + 5 * MS) is None


def followed(order: StampOrder, arrivals) -> tuple[list[str], list[str]]:
    """What is told of the clock, and the reasons that are certain, along (stamp, receive) in ns."""
    told, refused = [], []
    for stamp, receive in arrivals:
        try:
            told.append(order.check(stamp, receive))
        except DoubtedError:
            pass
        except RefusedError as error:
            refused.append(error.reason)
        refused += [stray.reason for stray in order.strays()]
    return [each for each in told if each], refused


@pytest.mark.parametrize("jump", [-100 * S, -2 * S, 2 * S, 3600 * S])
def test_a_clock_that_is_set_is_told_once_and_followed_from_the_third_stamp_on(jump):
    order = StampOrder()
    stream = [(START + k * MS, START + k * MS) for k in range(1, 30)]
    stream += [(START + k * MS + jump, START + k * MS) for k in range(30, 60)]
    assert followed(order, stream) == (["clock_set_back" if jump < 0 else "clock_set_ahead"], [])
    assert order.last == START + 59 * MS + jump


@pytest.mark.parametrize(("off", "reason"), [(-100 * S, "backward_stamp"), (3600 * S, "stamp_jump")])
def test_stray_stamps_are_refused_as_soon_as_the_stream_goes_on(off, reason):
    order = StampOrder()
    stream = [(START + k * MS, START + k * MS) for k in range(1, 30)]
    assert followed(order, stream) == ([], [])
    assert followed(order, [(START + k * MS + off, START + k * MS) for k in (30, 31)]) == ([], [])
    assert followed(order, [(START + 32 * MS, START + 32 * MS)]) == ([], [reason, reason])


def test_stamps_that_run_backwards_are_refused_one_after_the_other():
    order = StampOrder()
    stream = [(START, START), *((START - (10 + k) * S, START + k * MS) for k in range(1, 50))]
    told, refused = followed(order, stream)
    assert told == [] and refused == ["backward_stamp"] * 48


@pytest.mark.parametrize("ratio", [0.2, 1.0, 2.0, 5.0, 8.0])
def test_a_second_publisher_with_another_clock_sets_none(ratio):
    """However much faster it is, unless ten of its messages come between two of the first one."""
    first = [(START + 10 * k * MS, START + 10 * k * MS) for k in range(100)]
    step = round(10 * MS / ratio)
    second = [(START - 100 * S + k * step, START + k * step + 1) for k in range(1, int(100 * ratio))]
    order = StampOrder()
    told, refused = followed(order, sorted(first + second, key=lambda each: each[1]))
    assert told == [] and refused.count("backward_stamp") >= len(second) - 10
