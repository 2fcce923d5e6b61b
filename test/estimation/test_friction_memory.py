"""What landings say of μ: bounds from ratios of forces and from slides, what is forgotten, and modes as without."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.codes import ContactStatus, EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.answers import block_sizes
from hybrid_contact_ros.estimation.friction_memory import FrictionMemory
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
    """Two contacts that land one after the other, with forces as the observer would have them."""

    def __init__(self, given=CONFIG):
        self.memory, self.now = FrictionMemory(RigidBodyModel.from_urdf(URDF, given), given), 0

    def land(self, contact, ratio, speed=0.0, normal=100.0, lasting=30):
        """Touch, ``lasting`` ms with these forces, and lift."""
        event = SimpleNamespace(contact=contact, kind=EventKind.TOUCHDOWN, detected=True)
        for k in range(lasting + 1):
            floats, octets = (np.zeros(size) for size in block_sizes(2))
            vectors = floats[:30].reshape(5, 2, 3)  # position, normal, slip, force of the model, estimate
            vectors[1, :, 2], vectors[4] = 1.0, np.nan
            if k < lasting:
                vectors[4, contact], vectors[2, contact, 0] = (ratio * normal, 0.0, normal), -speed
                octets[contact] = ContactStatus.SLIPPING if speed else ContactStatus.STICKING
            mode = SimpleNamespace(floats=floats, octets=octets)
            self.memory.note(self.now, (event,) if k == 0 else (), mode)
            self.now += MS

    def interval(self, contact):
        low, high = self.memory.learned
        return low[contact], high[contact]


def test_a_ratio_that_was_held_is_a_lower_bound_of_that_contact():
    ground = Ground()
    ground.land(0, 0.7)
    assert ground.interval(0) == pytest.approx((0.9 * 0.7, 1.45 * FRICTION))
    assert ground.interval(1) == pytest.approx((0.55 * FRICTION, 1.45 * FRICTION))


def test_a_slide_is_an_upper_bound_and_the_others_may_stand_on_the_same():
    ground = Ground()
    ground.land(0, 0.2, speed=0.4)
    assert ground.interval(0) == pytest.approx((0.8 * 0.2, 1.15 * 0.2))
    assert ground.interval(1) == pytest.approx((0.8 * 0.2, 1.45 * FRICTION))
    ground.land(1, 0.5)  # not this one
    assert ground.interval(1) == pytest.approx((0.9 * 0.5, 1.45 * FRICTION))


@pytest.mark.parametrize(
    ("slide", "below"), [({"speed": 0.4, "lasting": 8}, 0.8), ({"speed": 0.1}, 0.9)], ids=["short", "slow"]
)
def test_a_short_slide_says_that_it_may_be_slippery_and_a_slow_one_is_none(slide, below):
    ground = Ground()
    ground.land(0, 0.4, **slide)
    assert ground.interval(0) == pytest.approx((below * 0.4, 1.45 * FRICTION))
    assert ground.interval(1) == pytest.approx(
        (min(0.55 * FRICTION, 0.32), 1.45 * FRICTION) if below == 0.8 else (0.55 * FRICTION, 1.45 * FRICTION)
    )


def test_the_later_of_two_contradictions_is_believed():
    ground = Ground()
    ground.land(0, 0.2, speed=0.4)
    ground.land(0, 0.5)  # off the ice
    assert ground.interval(0) == pytest.approx((0.9 * 0.5, 1.45 * FRICTION))
    ground.land(0, 0.2, speed=0.4)
    assert ground.interval(0) == pytest.approx((0.8 * 0.2, 1.15 * 0.2))


def test_eight_landings_are_remembered():
    ground = Ground()
    ground.land(0, 0.2, speed=0.4)
    for _ in range(7):
        ground.land(0, 0.1)
    assert ground.interval(0)[1] == pytest.approx(1.15 * 0.2)
    ground.land(0, 0.1)
    assert ground.interval(0) == pytest.approx((0.55 * FRICTION, 1.45 * FRICTION))


@pytest.mark.parametrize("forces", [{"normal": np.nan}, {"normal": 20.0}, {"ratio": 4.0}], ids=str)
def test_forces_that_are_unknown_small_or_no_friction_teach_nothing(forces):
    ground = Ground()
    ground.land(0, **{"ratio": 0.5, **forces})
    assert ground.memory.learned is None


@pytest.mark.parametrize("off", [config(part=0.0), config(**OFF)], ids=["margin", "terms"])
def test_without_an_interval_or_terms_nothing_is_learned(off):
    ground = Ground(off)
    ground.land(0, 0.2, speed=0.4)
    assert ground.memory.learned is None


def test_reset_forgets_all_landings():
    ground = Ground()
    ground.land(0, 0.2, speed=0.4)
    ground.memory.reset()
    assert ground.memory.learned is None
    ground.land(1, 0.5)
    assert ground.interval(0) == pytest.approx((0.55 * FRICTION, 1.45 * FRICTION))


@given(
    mu=st.floats(0.05, 1.5),
    landings=st.lists(st.tuples(st.integers(0, 1), st.floats(0.0, 1.0), st.booleans()), min_size=1, max_size=12),
)
def test_one_grounds_friction_stays_within_what_was_learned_of_it(mu, landings):
    """Where it was in the interval at first, or a contact slid. Ratios are up to 1.08 μ, of slides 0.9 to 1.25 μ."""
    ground = Ground()
    slid = set()
    for contact, part, slides in landings:
        ground.land(contact, mu * (0.9 + 0.35 * part if slides else 1.08 * part), 0.4 if slides else 0.0)
        slid |= {contact} if slides else set()
        if ground.memory.learned is None:
            continue
        for i in (0, 1):
            low, high = ground.interval(i)
            assert low <= high
            if (1.0 - PART) * FRICTION <= mu <= (1.0 + PART) * FRICTION or (slid and mu < (1.0 + PART) * FRICTION):
                assert low <= mu * (1.0 + 1e-9)
            if mu <= (1.0 + PART) * FRICTION:
                assert high >= mu * (1.0 - 1e-9)


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
        ahead.append(estimator._friction.learned)
    return answers, ahead


def test_modes_are_those_without_it_and_equal_states_teach_the_same():
    answers, learned = sliding(CONFIG)
    again = sliding(CONFIG)[1]
    without, nothing = sliding(config(part=0.0))
    assert learned[-1] is not None and nothing[-1] is None
    assert learned[-1][1] == pytest.approx([0.23, 0.23], abs=0.03)
    for one, other in zip(learned, again, strict=True):
        assert (one is None) == (other is None) and (one is None or np.array_equal(one, other))
    for one, other in zip(answers, without, strict=True):
        for name in ("status", "force_model", "force_estimate", "next_event", "probability"):
            assert np.array_equal(getattr(one.mode, name), getattr(other.mode, name), equal_nan=True)
