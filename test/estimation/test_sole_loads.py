"""What the points of a sole bear together, as observed: it keeps a sole closed that a velocity or a mode would open,
and a sole open that arrives where the ground should be and is not."""

from __future__ import annotations

import math

import numpy as np
import pinocchio
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.kernels.estimation.sole_loads import drop_unborne, keep_borne, open_unborne
from hybrid_contact_ros.kernels.estimation.stance import EASED
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

LEAST, ON, OFF, FALLING, NEAR = 3.0, 5.0, 2.0, 0.05, 0.003  # N, N, N, m/s, m
GAIN = 100.0  # 1/s
LINKS = np.array([0, 0, 0, 0, 4])  # a sole of four points, and a foot that is one


def kept(pressing, pulling=(0.0,) * 5, gap=(1e-3, 0.0, 4e-3, 2e-3, 0.0), eased=None):
    load, offs, pressing = np.full(5, -20.0), np.full(5, 0.1), np.array(pressing)
    eased = pressing if eased is None else np.array(eased)
    keep_borne(LEAST, ON, GAIN, LINKS, pressing, eased, np.array(pulling), np.array(gap), load, offs)
    return [i for i in range(5) if load[i] == ON and math.isinf(offs[i])]


def test_the_lowest_point_of_a_sole_that_bears_load_is_kept_whichever_point_is_said_to_bear_it():
    assert kept([0.0, -5.0, 60.0, 10.0, 80.0]) == [1]


def test_a_sole_that_bears_less_than_one_that_stands_or_than_its_errors_is_not_kept():
    assert kept([5.0, 5.0, 1.0, 0.0, 0.0]) == []
    assert kept([20.0, 20.0, 20.0, 0.0, 0.0], pulling=[0.0, 30.0, 30.0, 0.0, 0.0]) == []


def test_a_sole_whose_force_falls_as_it_does_where_there_is_none_any_more_is_not_kept():
    times = np.array([0.0, EASED])  # of a low-pass of 10 ms whose force has ceased, and of what follows it
    pressing = 20.0 * np.exp(-GAIN * times[1])
    assert kept([pressing, 0.0, 0.0, 0.0, 0.0]) == [1]
    assert kept([pressing, 0.0, 0.0, 0.0, 0.0], eased=[pressing * np.exp(GAIN * EASED), 0.0, 0.0, 0.0, 0.0]) == []


def let_go(load, pressing, eased=None):
    load, pressing = np.array(load, dtype=float), np.array(pressing, dtype=float)
    eased = pressing if eased is None else np.array(eased, dtype=float)
    open_unborne(LEAST, ON, OFF, GAIN, LINKS, pressing, eased, load)
    return [i for i in range(5) if load[i] == -2.0 * ON]


def test_a_sole_that_bears_nothing_by_its_mode_and_by_what_is_observed_is_let_go():
    assert let_go([-0.1, 0.0, 0.2, 0.0, 0.0], [1.0, 0.0, 0.0, 0.5, 0.0]) == [0, 1, 2, 3]  # and no single foot
    assert let_go([1.5, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.5, 0.0]) == []  # it bears a little
    assert let_go([0.0, 0.0, 0.0, 0.0, 0.0], [10.0, 0.0, 0.0, 0.5, 0.0]) == []  # on soft ground a mode knows no load
    assert let_go([0.0, 0.0, 0.0, 0.0, 0.0], [10.0, 0.0, 0.0, 0.0, 0.0], [15.0, 0.0, 0.0, 0.0, 0.0]) == [0, 1, 2, 3]


def dropped(pressing, falls, closed, rate=None, gap=1e-3):
    touching = np.ones(5, np.uint8)
    velocity = np.zeros((5, 3))
    velocity[:, 0] = -falls
    drop_unborne(
        NEAR, ON, FALLING, LINKS, np.array(pressing), np.zeros(5), np.array(closed, np.uint8), np.full(5, gap),
        np.full(5, -falls if rate is None else rate), velocity, touching,
    )  # fmt: skip
    return [i for i in range(5) if not touching[i]]


def test_points_of_an_unborne_sole_that_falls_on_are_no_candidates_but_single_feet_are():
    assert dropped([0.5, -0.5, 1.0, 0.0, 0.0], 0.1, [0, 0, 0, 0, 0]) == [0, 1, 2, 3]
    assert dropped([0.5, -0.5, 1.0, 0.0, 0.0], 0.01, [0, 0, 0, 0, 0]) == []
    assert dropped([0.5, -0.5, 1.0, 0.0, 0.0], 0.1, [0, 0, 0, 0, 0], rate=0.0) == []  # an impact has stopped it
    assert dropped([4.0, 4.0, 0.0, 0.0, 0.0], 0.1, [0, 0, 0, 0, 0]) == []


def test_points_that_are_closed_are_candidates_while_their_sole_bears_anything():
    assert dropped([1.0, 1.0, 0.0, 0.0, 0.0], 0.1, [1, 0, 0, 0, 0]) == [1, 2, 3]
    assert dropped([-1.0, -1.0, 0.0, 0.0, 0.0], 0.1, [1, 0, 0, 0, 0]) == [0, 1, 2, 3]


def test_points_of_an_unborne_sole_that_is_open_above_gap_on_are_no_candidates_however_still():
    assert dropped([1.0, 1.0, 0.0, 0.0, 0.0], 0.0, [1, 0, 0, 0, 0], gap=5e-3) == [1, 2, 3]
    assert dropped([1.0, 1.0, 0.0, 0.0, 0.0], 0.0, [0, 0, 0, 0, 0], gap=2e-3) == []
    assert dropped([4.0, 4.0, 0.0, 0.0, 0.0], 0.0, [0, 0, 0, 0, 0], gap=5e-3) == []


# A body on two vertical prismatic legs with soles, side by side at the same place: load moves from one to the other
# without a moment.

LEG = """
  <link name="sole_{n}"><inertial><mass value="0.5"/><origin xyz="0 0 0"/>
    <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <joint name="leg_{n}" type="prismatic"><parent link="body"/><child link="sole_{n}"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1000" velocity="20"/></joint>"""
URDF = f"""<robot name="walker"><link name="body"><inertial><mass value="20"/><origin xyz="0 0 0"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  {LEG.format(n="left")}{LEG.format(n="right")}</robot>"""
CORNERS = [0.1, 0.05, 0.0, 0.1, -0.05, 0.0, -0.1, 0.05, 0.0, -0.1, -0.05, 0.0]
BODY, FOOT, DT = 20.0, 0.5, 1e-3


@pytest.fixture(scope="module")
def walker(tmp_path_factory):
    file = tmp_path_factory.mktemp("walker") / "walker.urdf"
    file.write_text(URDF)
    config = EstimatorConfig.from_mapping(
        {"contacts": {side: {"link": f"sole_{side}", "points": CORNERS} for side in ("left", "right")}}
    )
    model = RigidBodyModel.from_urdf(file, config)
    return model, ContactEstimator(model, config)


def closed(walker, heights, share, body=None, borne=None, noise=None):
    """Which soles are closed, (n, 2): ``heights`` (n, 2) of the soles, m; ``share`` (n,) of the weight on the left one.
    The body is at rest, or at the heights ``body`` (n,), m, with a crane that bears all but the part ``borne`` (n,) of
    the weight; efforts are those of inverse dynamics. ``noise``: m, of the heights of the body, whose velocities have
    3 cm/s then; efforts are not given."""
    model, estimator = walker
    pin = pinocchio.buildModelFromXML(URDF, pinocchio.JointModelFreeFlyer())
    data = pin.createData()
    body = np.full(len(heights), 0.5) if body is None else body
    borne = np.ones(len(heights)) if borne is None else borne
    legs, lowered = heights - body[:, None], np.gradient(body, DT)
    v, a = np.gradient(legs, DT, axis=0), np.gradient(np.gradient(legs, DT, axis=0), DT, axis=0)
    order = [pin.idx_vs[pin.getJointId(name)] - 6 for name in model.joint_names]
    estimator.reset()
    rng = np.random.default_rng(0)
    told = []
    for k in range(len(heights)):
        total = (BODY + 2 * FOOT) * 9.81 + FOOT * a[k].sum()
        forces = borne[k] * total * np.array([share[k], 1.0 - share[k]])
        q = np.concatenate(([0.0, 0.0, body[k], 0.0, 0.0, 0.0, 1.0], legs[k]))
        moves = np.array([0.0, 0.0, lowered[k], 0.0, 0.0, 0.0])
        joints = np.concatenate((moves, v[k])), np.concatenate((np.zeros(6), a[k]))
        effort = pinocchio.rnea(pin, data, q, *joints)
        assert effort[2] == pytest.approx(total)  # what ground and crane bear
        effort[6:] -= forces
        effort[:6] = 0.0
        every = [*range(6), *(6 + i for i in order)]
        places = np.concatenate((q[:7], q[7:][order]))
        state = RobotState(round(1e9 * DT * k), places, joints[0][every], effort[every])
        if noise is not None:
            state.q[2] += noise * rng.standard_normal()
            state.v[2] += 0.03 * rng.standard_normal()
            state = RobotState(state.stamp_ns, state.q, state.v)
        mode = estimator.update(state, Parts.MODE).mode
        told.append(mode.closed.reshape(2, 4).any(axis=1))
    return np.array(told)


def test_a_sole_whose_dent_gives_back_while_the_other_one_takes_over_half_of_the_weight_stays_closed(walker):
    t = DT * np.arange(700)
    other = np.clip((t - 0.5) / 0.02, 0.0, 1.0)  # how far the right sole has taken its half
    heights = np.column_stack((-0.01 + 0.005 * other, 0.03 - 0.035 * np.clip(t / 0.52, 0.0, 1.0)))
    told = closed(walker, heights, 1.0 - 0.5 * other)
    assert told[100:, 0].all()
    assert told[600:].all() and not told[100:450, 1].any()


def test_a_sole_that_arrives_where_the_ground_was_learned_to_be_and_bears_nothing_is_open(walker):
    t = DT * np.arange(900)
    # The right sole stood on a tile of 15 mm, is lifted, and comes down beside it, where there is none.
    lifted = np.interp(t, [0.0, 0.3, 0.45, 0.75, 0.9], [0.015, 0.015, 0.06, 0.003, 0.003])
    smooth = np.convolve(np.pad(lifted, 20, mode="edge"), np.ones(41) / 41, mode="valid")
    share = np.interp(t, [0.0, 0.25, 0.3, 0.8, 0.85], [0.5, 0.5, 1.0, 1.0, 0.5])
    told = closed(walker, np.column_stack((np.zeros_like(t), smooth)), share)
    assert told[100:, 0].all() and told[100:240, 1].all()
    assert not told[350:745, 1].any()


def test_soles_that_a_crane_sets_down_are_closed_soon_after_they_are_loaded(walker):
    t = DT * np.arange(2300)
    body = 0.5 + 0.08 * np.clip(1.0 - t, 0.0, None)  # down at 80 mm/s, on the ground after a second
    borne = np.clip((t - 1.0) / 2.0, 0.0, 1.0)  # by the ground
    told = closed(walker, np.column_stack((body - 0.5, body - 0.5)), np.full(t.size, 0.5), body, borne)
    assert not told[500:950].any()
    # Low-passed heights in which the time in the air was left out would take 0.2 s more.
    assert 1000 <= np.flatnonzero(told.all(axis=1))[0] < 1250 and told[1250:].all()


def test_a_sole_that_is_unloaded_and_stays_where_it_is_opens_within_ten_milliseconds(walker):
    t = DT * np.arange(700)
    share = np.interp(t, [0.0, 0.4, 0.5], [0.5, 0.5, 0.0])  # of the left sole, which does not move
    told = closed(walker, np.zeros((t.size, 2)), share)
    assert told[100:490].all() and told[490:, 1].all()
    assert 490 <= 490 + np.flatnonzero(~told[490:, 0])[0] <= 510 and not told[510:, 0].any()


def test_noise_of_the_base_lifts_no_sole_that_stands_without_efforts(walker):
    told = closed(walker, np.zeros((3000, 2)), np.full(3000, 0.5), noise=0.002)
    assert told[400:].all()
