"""Foot sensors, shocks and commanded contacts: what they are worth to the filter, and what is learned of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.config_sensors import SensorsConfig
from hybrid_contact_ros.kernels.estimation.sensor_likelihoods import (
    DOWN,
    DOWN_PART,
    EVIDENCE,
    FORCE,
    READING,
    SHOCK,
    UNIT,
    UP,
    UP_PART,
    WANTED,
    SensorSettings,
    load_log,
    sense,
    sensor_given,
    sensor_memory,
    shock_log,
    steer,
)

SHARE, DT = 40.0, 1e-3
CONFIG = SensorsConfig()
NEUTRAL = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]


def settings(weight: float = 4 * SHARE) -> SensorSettings:
    names = [name for name in SensorSettings._fields if hasattr(CONFIG, name)]
    return SensorSettings(**{n: float(getattr(CONFIG, n)) for n in names}, part=1.0 / SHARE, weight=weight)


class Feet:
    """Feet that step in antiphase, and the sensors that are given of them."""

    def __init__(self, m: int = 4) -> None:
        self.m, self.given, self.memory = m, sensor_given(m), sensor_memory(m)
        self.given.axis[:, 2] = 1.0
        self.p = np.zeros((m, 2))
        self.first = True

    def closed(self, t: float) -> np.ndarray:
        return (t + 0.2 * (np.arange(self.m) % 2)) % 0.4 < 0.2

    def step(self, t: float, force=None, reading=None, wanted=None, since=None, acceleration=None, obeys=True) -> bool:
        g, closed = self.given, self.closed(t)
        g.present[:] = force is not None or reading is not None, acceleration is not None, wanted is not None
        for into, what in ((g.force, force), (g.reading, reading), (g.wanted, wanted), (g.since, since)):
            into[:] = np.nan if what is None else what
        if acceleration is not None:
            g.acceleration[:] = acceleration
        phase = np.pi * ((t + 0.2 * (np.arange(self.m) % 2)) % 0.2) / 0.2
        gap = np.where(closed, 0.0, 0.06 * np.sin(phase))
        rate = np.where(closed, 0.0, 0.06 * np.pi / 0.2 * np.cos(phase))
        slide = np.where(closed, 0.0, 0.5)
        if obeys:
            self.p[:, 0] = np.where(closed, 0.99, 0.01)
        told = sense(settings(), DT, self.first, False, gap, rate, slide, self.p, g, self.memory)
        self.first = False
        return told


def test_without_inputs_nothing_is_said():
    feet = Feet()
    assert not feet.step(0.1) and (feet.memory.beside == NEUTRAL).all()


@given(st.floats(-3.0, 5.0), st.floats(0.0, 5.0), st.floats(0.025, 0.5))
def test_more_load_never_speaks_more_for_open_and_no_load_is_certain(z, more, noise):
    outliers = CONFIG.outliers
    low, high = load_log(z, noise, outliers), load_log(z + more, noise, outliers)
    assert high >= low - 1e-12
    assert abs(low) <= math.log(1.0 / (outliers * 0.2) * (0.4 / noise + 1.0))
    assert load_log(0.0, noise, outliers) < 0.0 < load_log(1.0, noise, outliers)


@given(st.floats(0.0, 1e12), st.floats(1e-3, 1e3))
def test_a_shock_is_bounded(square, variance):
    found = shock_log(square, variance, CONFIG.shock_width, CONFIG.shock_most)
    assert -0.7 <= found <= math.log(CONFIG.shock_most)
    assert shock_log(0.0, variance, 5.0, 30.0) < 0.0 < shock_log(50.0 * variance, variance, 5.0, 30.0)


PROBABILITY = st.floats(1e-6, 0.5)


@given(PROBABILITY, PROBABILITY, st.floats(-0.7, 3.4), st.floats(0, 1), st.floats(0, 1), st.floats(0.1, 1.0))
def test_transitions_stay_probabilities(down, up, shock, more_down, more_up, part):
    T = np.array([[1 - down, 0.9 * down, 0.1 * down], [up, 0.9 * (1 - up), 0.1 * (1 - up)], [up, 0.0, 1 - up]])
    before = T.copy()
    steer(np.array(NEUTRAL), T)
    assert T.tobytes() == before.tobytes()
    row = np.zeros(6)
    row[[SHOCK, DOWN, UP, DOWN_PART, UP_PART]] = shock, more_down, more_up, part, part
    steer(row, T)
    assert T.sum(axis=1) == pytest.approx(np.ones(3)) and (T >= 0.0).all()
    odds = (1 - T[0, 0]) / T[0, 0]
    told = 1.0 - math.exp(part * math.log1p(-down) - more_down)
    assert odds == pytest.approx(told / (1.0 - told) * math.exp(shock), rel=1e-6)  # Bayes' rule


def walked(feet: Feet, seconds: float, force=None, reading=None, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """What is said (n, m), and what is true, in the last second."""
    rng, rows, truths = np.random.default_rng(seed), [], []
    for t in np.arange(0.0, seconds, DT):
        closed = feet.closed(t)
        load = closed * 1.8 * np.sin(np.pi * ((t + 0.2 * (np.arange(feet.m) % 2)) % 0.2) / 0.2)
        feet.step(t, None if force is None else force(t, load, rng), None if reading is None else reading(t, load, rng))
        if t > seconds - 1.0:
            rows.append(feet.memory.beside[:, EVIDENCE].copy())
            truths.append(np.where((load > 0.15) | ~closed, closed, -1))
    return np.array(rows), np.array(truths)


def test_bias_and_scale_of_force_sensors_are_learned():
    def force(t, load, rng):
        bias = np.array([[3.0, -2.0, 9.0], [0.0, 4.0, -8.0], [1.0, 1.0, 20.0], [0.0, 0.0, 0.0]])
        return bias + 0.5 * rng.normal(size=(4, 3)) + 0.6 * SHARE * load[:, None] * [0.2, 0.0, 1.0]

    feet = Feet()
    said, true = walked(feet, 4.0, force=force)
    assert np.abs(feet.memory.offset - force(0.0, np.zeros(4), np.random.default_rng(1))).max() < 2.0
    sure = true >= 0
    assert ((said > 0.0) == (true == 1))[sure].mean() > 0.99
    assert feet.memory.trust[FORCE] == pytest.approx(np.ones(4))
    assert settings().weight / feet.memory.total[0] == pytest.approx(1.0 / (0.6 * 0.57), rel=0.25)


def test_readings_of_no_known_unit_that_drift_are_learned_whatever_their_sign():
    gain, zero = np.array([30.0, -12.0, 400.0, 2.0]), np.array([200.0, 90.0, -5e3, 10.0])

    def reading(t, load, rng):
        return zero + gain * (load + 0.1 * t + 0.02 * rng.normal(size=4))

    feet = Feet()
    said, true = walked(feet, 6.0, reading=reading)
    assert ((said > 0.0) == (true == 1))[true >= 0].mean() > 0.97
    assert (feet.memory.trust[READING] > 0.9).all()


def test_readings_say_nothing_before_a_stance_and_a_swing_were_seen():
    feet = Feet()
    for t in np.arange(0.0, 0.15, DT):
        assert not feet.step(t, reading=np.array([100.0, 3.0, 50.0, 7.0]))
        assert (feet.memory.beside == NEUTRAL).all()


@pytest.mark.parametrize("kind", ["another foot's", "always loaded", "never loaded"])
def test_a_sensor_that_contradicts_its_foot_loses_its_weight_and_no_other_does(kind):
    def force(t, load, rng):
        wrong = {"another foot's": load[1], "always loaded": 1.0 + 0.8 * math.sin(31.0 * t), "never loaded": 0.0}[kind]
        load = np.r_[wrong, load[1:]]
        return 0.3 * rng.normal(size=(4, 3)) + SHARE * load[:, None] * [0.0, 0.0, 1.0]

    feet = Feet()
    walked(feet, 5.0, force=force)
    assert feet.memory.trust[FORCE, 0] < 0.1 and (feet.memory.trust[FORCE, 1:] > 0.9).all()


def test_a_sensor_wins_its_weight_back():
    feet = Feet()
    up = np.array([0.0, 0.0, 1.0])
    walked(feet, 3.0, force=lambda t, load, rng: SHARE * np.r_[load[1], load[1:]][:, None] * up)
    assert feet.memory.trust[FORCE, 0] < 0.1
    walked(feet, 8.0, force=lambda t, load, rng: SHARE * load[:, None] * up)
    assert feet.memory.trust[FORCE, 0] > 0.9


def test_a_shock_speaks_for_feet_that_come_near_and_for_no_others():
    memory, given_ = sensor_memory(3), sensor_given(3)
    given_.present[UNIT] = 1
    gap, rate = np.array([0.002, 0.2, 0.002]), np.array([-0.3, -0.3, 0.4])
    rng = np.random.default_rng(0)
    for k in range(500):
        given_.acceleration[:] = [0.0, 0.0, 9.81] + 0.3 * rng.normal(size=3)
        sense(settings(), DT, k == 0, False, gap, rate, np.zeros(3), np.zeros((3, 2)), given_, memory)
    assert memory.beside[0, SHOCK] < 0.5
    given_.acceleration[:] = [2.0, 0.0, 30.0]
    sense(settings(), DT, False, False, gap, rate, np.zeros(3), np.zeros((3, 2)), given_, memory)
    assert memory.beside[0, SHOCK] > 2.5
    assert memory.beside[1:, SHOCK] == pytest.approx([0.0, 0.0], abs=1e-3)


def test_a_command_raises_the_hazard_about_its_lag_and_a_wrong_one_loses_its_share():
    feet = Feet(2)
    for t in np.arange(0.0, 8.0, DT):  # contacts come 30 ms after they are wanted
        early = t + 0.03
        wanted = feet.closed(early).astype(float)
        feet.step(t, wanted=wanted, since=(early + 0.2 * np.arange(2)) % 0.2)
    lag = feet.memory.lag
    assert lag[:, 0] == pytest.approx([0.03, 0.03], abs=0.004) and (lag[:, 1] < 0.015**2).all()
    row = feet.memory.beside
    assert (row[:, [DOWN, UP]].max(axis=1) >= 0.0).all()
    for t in np.arange(8.0, 20.0, DT):  # and now the schedule is that of the other foot
        feet.step(t, wanted=feet.closed(t + 0.2).astype(float), since=(t + 0.2 * np.arange(2)) % 0.2)
    assert (feet.memory.beside[:, [DOWN, UP]] == 0.0).all()


def test_no_command_changes_a_rate_by_more_than_its_bound():
    """A foot that never obeys, with everything else silent: the hazard of the command stays that of its spread."""
    memory, given_ = sensor_memory(1), sensor_given(1)
    given_.present[WANTED] = 1
    given_.wanted[0] = 1.0
    most = 0.0
    for k in range(2000):
        given_.since[0] = k * DT
        sense(
            settings(),
            DT,
            k == 0,
            False,
            np.full(1, 0.05),
            np.zeros(1),
            np.zeros(1),
            np.full((1, 2), 0.5),
            given_,
            memory,
        )
        most = max(most, memory.beside[0, DOWN])
        assert memory.beside[0, UP_PART] >= 1.0 - CONFIG.command_share
    assert most <= CONFIG.command_share * DT / (CONFIG.command_spread * 0.55)
    assert memory.beside[0, EVIDENCE] == 0.0


def test_parameters_are_read_and_out_of_range_refused():
    found = EstimatorConfig.from_mapping({"sensors": {"shock_most": 2, "decide": False}}).sensors
    assert (found.shock_most, found.decide, found.outliers) == (2, False, CONFIG.outliers)
    with pytest.raises(ValueError, match=r"sensors\.command_share"):
        EstimatorConfig.from_mapping({"sensors": {"command_share": 1.0}})


@pytest.mark.parametrize("noise", [0.02, 0.15, 0.6])  # of a load
def test_noise_of_a_force_sensor_is_known_without_a_swing(noise):
    """Of a foot that is held up, as the tip of an arm is over its table."""
    memory, given, rng, says = sensor_memory(1), sensor_given(1), np.random.default_rng(8), []
    given.axis[:, 2] = 1.0
    given.present[:] = 1, 0, 0
    for k in range(3000):
        given.force[:] = 0.0, 0.0, noise * SHARE * rng.normal()
        still, p = np.zeros(1), np.full((1, 2), 0.01)
        sense(settings(0.0), DT, k == 0, False, np.full(1, 0.05), still, still, p, given, memory)
        says.append(memory.beside[0, EVIDENCE])
    assert memory.white[0, 0, 0] == pytest.approx(noise, rel=0.5)
    later = np.array(says[500:])
    assert later.mean() < -0.3 and np.mean(later > 4.0) < 0.005
