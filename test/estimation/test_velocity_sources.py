"""Which source tells v⁻: the one that told it better before earlier touches."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.command_errors import Told, errors_of
from hybrid_contact_ros.estimation.drive_commands import CommandsSeen
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.velocity_errors import VelocityErrors
from hybrid_contact_ros.estimation.velocity_sources import VelocitySources
from test.estimation.test_drive_commands import command, slider

MS, STRIDE, FALL, WHEN = 1_000_000, 300, 40, 0.01
OPEN = np.zeros(1, dtype=np.uint8)
MASS = 2.0  # kg, of the cart


def fall(errors: VelocityErrors, stride: int, pushed: float, told: float, count: int = FALL) -> CommandsSeen:
    """The cart is accelerated by ``pushed`` (m/s²), told to be by ``told``, and v̇ is believed to be 0."""
    seen = CommandsSeen((command(effort=MASS * told),), None)
    for k in range(count):
        v = np.array([0.001 * k * pushed])
        made = Told(np.zeros(1), v, None, OPEN, seen)
        errors.add((stride * STRIDE + k) * MS, v, np.zeros(1), OPEN, lambda made=made: made)
    if count == FALL:
        errors.touched([(0, (stride * STRIDE + FALL) * MS)])
    return seen


def foreseen(pushed, told, touches: int = 6) -> tuple[VelocitySources, ImpactAhead]:
    """What is known WHEN before the touch of one more stride."""
    rng, errors = np.random.default_rng(0), VelocityErrors(1, 16)
    for i in range(touches):
        fall(errors, i, pushed(rng), told(rng))
    seen = fall(errors, touches, pushed(rng), 3.0, FALL - 10)
    ahead = ImpactAhead(
        stamp_ns=0, q=np.zeros(1), v=np.zeros(1), effort=None, acceleration=np.zeros(1), closed=OPEN,
        backed=np.full(1, EventKind.TOUCHDOWN, dtype=np.uint8), event_times=np.full((1, 3), WHEN),
        errors=errors.seen(), commanded=seen.ahead(),
    )  # fmt: skip
    config = EstimatorConfig.from_mapping(
        {
            "floating_base": False,
            "allow_no_contacts": True,
            "sensitivity": {"joint_velocity_sigma": 0.0},
            "impact": {"deadline": 0.0},
        }
    )
    return VelocitySources(slider(), config), ahead


def test_commands_that_are_off_by_the_same_each_time_are_used_less_what_they_are_off():
    def anything(rng):
        drawn.append(rng.uniform(1.0, 5.0))
        return drawn[-1]

    drawn: list[float] = []
    sources, ahead = foreseen(anything, lambda _: drawn[-1] - 1.0)  # 1 m/s² too little, always
    chosen = sources.by_the_best(ahead, WHEN)
    assert chosen is ahead
    reached = sources.commanded(chosen, WHEN)
    assert reached.v[0] == pytest.approx((3.0 + 1.0) * WHEN, rel=0.06)  # six of 6.3 landings say so


def test_commands_that_mislead_are_not_used_where_the_acceleration_is_known_better():
    sources, ahead = foreseen(lambda _: 2.0, lambda rng: rng.uniform(-20.0, 20.0))
    chosen = sources.by_the_best(ahead, WHEN)
    assert chosen.commanded is None
    assert sources.commanded(chosen, WHEN) is None
    assert sources.state(chosen, WHEN)[1][0] == pytest.approx(2.0 * WHEN, rel=0.06)


def test_before_anything_was_learned_commands_are_believed():
    sources, ahead = foreseen(lambda _: 2.0, lambda _: 4.0, touches=0)
    assert sources.by_the_best(ahead, WHEN) is ahead
    assert sources.commanded(ahead, WHEN).v[0] == pytest.approx(3.0 * WHEN)


def test_with_a_deadline_one_error_is_found_for_a_set_the_latest_first():
    told = [Told(np.zeros(1), np.zeros(1), None, OPEN, None) for _ in range(3)]
    for i, one in enumerate(told):
        one.ended(0.01, np.array([float(i)]))
    asked = []

    def follow(one: Told, seconds: float):
        asked.append((told.index(one), seconds))
        return np.zeros(1)

    for chosen in ([2], [1, 2], [0, 1, 2], [0, 1, 2]):
        errors, found = errors_of(told, follow, 1)
        assert found == chosen
        np.testing.assert_allclose(errors[:, 0], chosen)
    assert asked == [(2, 0.01), (1, 0.01), (0, 0.01)]
    assert errors_of(told, lambda *_: None, None)[1] == [0, 1, 2]  # known ones are not asked for again
