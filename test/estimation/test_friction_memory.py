"""The interval of μ for impact sets: the configured one, cut by what forces have shown; and modes as without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.friction_memory import FrictionMemory, forget_friction, friction_bounds
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

FRICTION, PART, MS = 0.6, 0.45, 1_000_000
URDF = """<robot name="box"><link name="box"><inertial><mass value="10"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
CONTACTS = {
    name: {"link": "box", "points": [x, 0.0, -0.1], "friction": FRICTION}
    for name, x in (("left", -0.2), ("right", 0.2))
}
CONFIG = EstimatorConfig.from_mapping({
    "contacts": CONTACTS, "impact": {"friction_margin": PART, "law": "inelastic"}, "landing": {"duration_max": 0.004},
})  # fmt: skip


OFF = dict.fromkeys(
    (*(f"{name}_{end}" for name in ("duration", "rebound", "drive") for end in ("min", "max")),
     "drive_own", "slip", "creep", "settling", "bounce", "margin"), 0.0,
)  # fmt: skip


def config(part=PART, **landing):
    return replace(
        CONFIG, impact=replace(CONFIG.impact, friction_margin=part), landing=replace(CONFIG.landing, **landing)
    )


class Ground:
    """Bounds as forces have shown them."""

    def __init__(self, given=CONFIG):
        self.bounds = friction_bounds(2)
        forget_friction(self.bounds, np.full(2, FRICTION))
        self.memory = FrictionMemory(RigidBodyModel.from_urdf(URDF, given), given, self.bounds)

    def holds(self, contact, ratio):
        self.bounds.lower[contact] = ratio

    def slides(self, contact, ratio, age=0.0):
        self.bounds.slid[contact] = ratio, 1.15 * ratio, age
        self.bounds.lower[contact], self.bounds.upper[contact] = 0.85 * ratio, 1.15 * ratio

    def interval(self, contact):
        low, high = self.memory.learned
        return low[contact], high[contact]


def test_a_ratio_that_was_held_is_a_lower_bound_of_that_contact():
    ground = Ground()
    ground.holds(0, 0.63)
    assert ground.interval(0) == pytest.approx((0.63, 1.45 * FRICTION))
    assert ground.interval(1) == pytest.approx((0.55 * FRICTION, 1.45 * FRICTION))


def test_a_slide_is_an_upper_bound_and_the_others_may_stand_on_the_same():
    ground = Ground()
    ground.slides(0, 0.2)
    assert ground.interval(0) == pytest.approx((0.17, 0.23))
    assert ground.interval(1) == pytest.approx((0.8 * 0.2, 1.45 * FRICTION))
    ground.holds(1, 0.45)  # not this one
    assert ground.interval(1) == pytest.approx((0.45, 1.45 * FRICTION))
    ground.slides(0, 0.2, age=1.5)  # long ago
    ground.holds(1, 0.0)
    assert ground.interval(1) == pytest.approx((0.55 * FRICTION, 1.45 * FRICTION))


def test_what_contradicts_the_configuration_is_believed():
    ground = Ground()
    ground.holds(0, 1.2)
    low, high = ground.interval(0)
    assert low == pytest.approx(1.2) and high > low
    ground = Ground()
    ground.slides(0, 0.1)
    low, high = ground.interval(0)
    assert high == pytest.approx(0.115) and 0.0 < low < high


@pytest.mark.parametrize("off", [config(part=0.0), config(**OFF)], ids=["margin", "terms"])
def test_without_an_interval_or_terms_nothing_is_told(off):
    ground = Ground(off)
    ground.slides(0, 0.2)
    assert ground.memory.learned is None


def test_nothing_is_told_before_anything_is_shown():
    assert Ground().memory.learned is None


@given(
    lower=st.tuples(*[st.floats(0.0, 2.0)] * 2),
    part=st.floats(1.0, 3.0),
    slid=st.booleans(),
    ratio=st.floats(0.05, 2.0),
)
def test_intervals_are_never_empty_and_within_what_was_shown(lower, part, slid, ratio):
    ground = Ground()
    for i in (0, 1):
        ground.holds(i, lower[i])
    if slid:
        ground.slides(0, ratio)
    if ground.memory.learned is None:
        return
    for i in (0, 1):
        low, high = ground.interval(i)
        assert 0.0 <= low < high < np.inf
        assert low >= ground.bounds.lower[i] - 1e-12 and high <= ground.bounds.upper[i] + 1e-12


def sliding(given):
    """A box that falls on its points, with μ 0.2 in truth, and slides."""
    estimator = ContactEstimator(RigidBodyModel.from_urdf(URDF, given), given)
    answers, ahead, dt = [], [], 0.001
    for k in range(260):
        t = (k - 120) * dt  # since the touch
        v = 1.0 if t <= 0.0 else max(0.0, 1.0 - 0.2 * 9.81 * t)
        z = 0.1 + max(0.0, -0.3 * t)
        state = RobotState(
            k * MS, np.array([k * dt, 0, z, 0, 0, 0, 1.0]), np.array([v, 0, -0.3 if t <= 0 else 0, 0, 0, 0])
        )
        answers.append(estimator.update(state, Parts.MODE))
        ahead.append(estimator._foresight.friction)
    return answers, ahead


def test_modes_are_those_without_it_and_equal_states_teach_the_same():
    answers, learned = sliding(CONFIG)
    again = sliding(CONFIG)[1]
    without, nothing = sliding(config(part=0.0))
    assert learned[-1] is not None and nothing[-1] is None
    assert learned[-1][1] == pytest.approx([0.26, 0.26], abs=0.03)
    for one, other in zip(learned, again, strict=True):
        assert (one is None) == (other is None) and (one is None or np.array_equal(one, other))
    for one, other in zip(answers, without, strict=True):
        for name in ("status", "force_model", "force_estimate", "next_event", "probability"):
            assert np.array_equal(getattr(one.mode, name), getattr(other.mode, name), equal_nan=True)
