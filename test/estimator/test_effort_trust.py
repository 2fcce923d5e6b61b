"""Efforts that explain the motion are trusted, others are ignored: on made motions whose efforts are known exactly."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel, RobotState
from hybrid_contact_ros.estimator import Parts

STEP = 0.002  # s
HEIGHT = np.array([0.0, 0.0, 0.45])  # m, of the trunk
LEGS = (("fl", 0.3, 0.2), ("fr", 0.3, -0.2), ("hl", -0.3, 0.2), ("hr", -0.3, -0.2))


def urdf(unit: float = 1.0, prefixes: dict[str, str] | None = None) -> str:
    """A quadruped of 20 kg times ``unit``; a prefix of a leg's joints changes their order."""

    def link(name: str, mass: float, size: float) -> str:
        inertia = unit * mass * size**2
        return (
            f'<link name="{name}"><inertial><origin xyz="0 0 {-0.4 * size}"/><mass value="{unit * mass}"/>'
            f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )

    def joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str) -> str:
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
            f'<axis xyz="{axis}"/><limit lower="-3" upper="3" effort="99" velocity="99"/></joint>'
        )

    text = [link("trunk", 14.0, 0.25)]
    for leg, x, y in LEGS:
        first = (prefixes or {}).get(leg, "") + leg
        text += [
            link(f"{leg}_hip", 0.5, 0.08),
            link(f"{leg}_thigh", 0.7, 0.2),
            link(f"{leg}_shank", 0.3, 0.2),
            joint(f"{first}_a", "revolute", "trunk", f"{leg}_hip", f"{x} {y} 0", "1 0 0"),
            joint(f"{first}_b", "revolute", f"{leg}_hip", f"{leg}_thigh", "0 0 0", "0 1 0"),
            joint(f"{first}_c", "revolute", f"{leg}_thigh", f"{leg}_shank", "0 0 -0.25", "0 1 0"),
        ]
    return f'<robot name="beast">{"".join(text)}</robot>'


def robot(text: str) -> tuple[RigidBodyModel, EstimatorConfig]:
    feet = {leg: {"link": f"{leg}_shank", "points": [0.0, 0.0, -0.25]} for leg, _, _ in LEGS}
    config = EstimatorConfig.from_mapping({"contacts": feet})
    return RigidBodyModel.from_urdf(text, config), config


def motion(
    model: RigidBodyModel, seed: int, seconds: float, swing: int | None = None, rush: float = 1.0
) -> list[RobotState]:
    """A smooth motion with its efforts; feet 0-3 push with the least forces that it needs, foot ``swing`` with none.

    Joints follow sines that depend on their names, not on their order, ``rush`` times as quickly as legs do in a walk.
    """
    rng = np.random.default_rng(seed)
    amplitude, rate = rng.uniform(0.02, 0.12, (4, 3)), rush * rng.uniform(3.0, 12.0, (4, 3))
    phase = rng.uniform(0.0, 6.3, (4, 3))
    base, turns = rng.uniform(0.0, 0.02, 6), rng.uniform(2.0, 8.0, 6)
    places = [(next(i for i, leg in enumerate(LEGS) if leg[0] in n), "abc".index(n[-1])) for n in model.joint_names]
    a, w, p = (np.array([x[place] for place in places]) for x in (amplitude, rate, phase))
    middle = np.array([(0.0, 0.6, -1.2)[k] for _, k in places])
    data, full, found = model.pinocchio_model.createData(), model.pinocchio_model, []
    for i in range(round(seconds / STEP)):
        t = i * STEP
        angle = base * np.sin(turns * t)
        q = np.r_[angle[:3] + HEIGHT, pin.Quaternion(pin.exp3(angle[3:])).coeffs(), middle + a * np.sin(w * t + p)]
        # v and its rate of a base whose rotation vector is small: by differences of the exact configuration
        steps = [_configuration(base, turns, middle, a, w, p, t + h) for h in (-1e-4, 0.0, 1e-4)]
        before, after = pin.difference(full, steps[0], steps[1]) / 1e-4, pin.difference(full, steps[1], steps[2]) / 1e-4
        v, dv = 0.5 * (before + after), (after - before) / 1e-4
        M = pin.crba(full, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        needed = M @ dv + pin.nonLinearEffects(full, data, q, v)
        problem = model.problem(RobotState(0, q, v))
        rows = np.concatenate([problem.normal_jacobian[:, None], problem.tangent_jacobian], axis=1)
        feet = [k for k in range(4) if k != swing]
        J = rows[feet].reshape(-1, model.nv)
        force = np.linalg.pinv(J[:, :6].T) @ needed[:6]
        found.append(RobotState(1_000_000_000 + round(t * 1e9), q, v, np.r_[np.zeros(6), (needed - J.T @ force)[6:]]))
    return found


def _configuration(base, turns, middle, a, w, p, t):
    angle = base * np.sin(turns * t)
    return np.r_[angle[:3] + HEIGHT, pin.Quaternion(pin.exp3(angle[3:])).coeffs(), middle + a * np.sin(w * t + p)]


def weights(model, config, states, fault=None) -> np.ndarray:
    """(n, m) after each state, of efforts that ``fault`` (state index, effort) has changed."""
    estimator = ContactEstimator(model, config)
    found = []
    for i, state in enumerate(states):
        effort = state.effort.copy()
        if fault is not None:
            fault(i, effort)
        found.append(
            estimator.update(RobotState(state.stamp_ns, state.q, state.v, effort), Parts.MODE).mode.force_weight
        )
    return np.array(found)


MODEL, CONFIG = robot(urdf())
LIMB = [np.array([6 + MODEL.joint_names.index(f"{leg[0]}_{k}") for k in "abc"]) for leg in LEGS]


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6), height=st.floats(-0.3, 0.3))
def test_exact_efforts_are_trusted_under_any_motion_wherever_the_ground_is(seed, height):
    states = motion(MODEL, seed, 0.6)
    for state in states:
        state.q[2] += height
    assert weights(MODEL, CONFIG, states).min() > 0.99


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6), leg=st.integers(0, 3), factor=st.sampled_from([0.0, -1.0, 3.0]))
def test_a_limb_with_wrong_efforts_is_ignored_within_half_a_second_and_the_others_are_not(seed, leg, factor):
    def wrong(_, effort):
        effort[LIMB[leg]] *= factor

    found = weights(MODEL, CONFIG, motion(MODEL, seed, 0.6), wrong)
    others = [k for k in range(4) if k != leg]
    assert found[round(0.5 / STEP) :, leg].max() < 0.1
    assert found[-1, others].min() > 0.9


def test_efforts_that_become_wrong_lose_their_weight_within_a_second_and_win_it_back():
    states = motion(MODEL, 3, 5.0)

    def wrong(i, effort):
        if 1.0 <= i * STEP < 2.0:
            effort[LIMB[1]] *= -1.0

    found = weights(MODEL, CONFIG, states, wrong)
    assert found[round(0.95 / STEP)].min() > 0.99
    assert found[round(2.0 / STEP) - 1, 1] < 0.05
    assert found[-1].min() > 0.9


@pytest.mark.parametrize("factor", [0.8, 0.9, 1.1, 1.25])
def test_a_scale_of_efforts_is_found_and_takes_little_trust(factor):
    """True over measured efforts is 1 / factor."""

    def scaled(_, effort):
        effort[LIMB[2]] *= factor

    estimator = ContactEstimator(MODEL, CONFIG)
    for i, state in enumerate(motion(MODEL, 7, 3.0)):
        scaled(i, state.effort)
        estimator.update(state, Parts.MODE)
    report = {limb.contacts: limb for limb in estimator.effort_report()}
    limb = report[(2,)]
    assert limb.weight > 0.9
    assert limb.scale == pytest.approx(1.0 / factor, abs=0.03) and limb.scale_sigma < 0.2
    for other in (0, 1, 3):
        assert report[(other,)].scale == pytest.approx(1.0, abs=0.03)


def test_masses_in_another_unit_give_the_same_weights():
    """Of masses and efforts a thousand times as large."""
    states = motion(MODEL, 5, 0.4)

    def wrong(_, effort):
        effort[LIMB[0]] *= 0.25
        effort[LIMB[3]] += 2.0

    heavy, config = robot(urdf(1000.0))

    def heavier(i, effort):
        wrong(i, effort)
        effort *= 1000.0

    expected = weights(MODEL, CONFIG, states, wrong)
    assert 0.02 < expected[-1].min() < 0.98
    np.testing.assert_allclose(weights(heavy, config, states, heavier), expected, atol=1e-6)


def test_another_order_of_joints_gives_the_same_weights():
    other, config = robot(urdf(prefixes={"fl": "z", "hr": "a"}))
    assert other.joint_names != MODEL.joint_names

    def wrong(model, prefixes):
        own = [6 + model.joint_names.index(f"{prefixes}fl_{k}") for k in "abc"]

        def change(_, effort):
            effort[own] *= 0.25

        return change

    expected = weights(MODEL, CONFIG, motion(MODEL, 5, 0.4), wrong(MODEL, ""))
    found = weights(other, config, motion(other, 5, 0.4), wrong(other, "z"))
    assert expected[-1].min() < 0.98
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_states_without_efforts_have_no_weight_and_leave_that_of_the_others():
    estimator = ContactEstimator(MODEL, CONFIG)
    for i, state in enumerate(motion(MODEL, 1, 1.0)):
        known = i % 100 < 80
        effort = state.effort if known else None
        found = estimator.update(RobotState(state.stamp_ns, state.q, state.v, effort), Parts.MODE).mode.force_weight
        assert (found > 0.99).all() if known else (found == 0.0).all()


def test_a_single_body_and_a_check_that_is_off_have_weight_one():
    config = EstimatorConfig.from_mapping({"contacts": {"ball": {"link": "ball", "radius": 0.1}}})
    text = (
        '<robot name="ball"><link name="ball"><inertial><mass value="2"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    ball = ContactEstimator(RigidBodyModel.from_urdf(text, config), config)
    assert ball.update(RobotState(0, np.array([0, 0, 0.12, 0, 0, 0, 1.0]), np.zeros(6))).mode.force_weight == [1.0]
    off = EstimatorConfig.from_mapping({"contacts": {"fl": {"link": "fl_shank"}}, "trust": {"bandwidth": 0.0}})

    def wrong(_, effort):
        effort *= -1.0

    assert weights(RigidBodyModel.from_urdf(urdf(), off), off, motion(MODEL, 0, 0.2), wrong).min() == 1.0


def test_repeated_stamps_pauses_and_huge_efforts_leave_no_nan():
    estimator = ContactEstimator(MODEL, CONFIG)
    states = motion(MODEL, 2, 0.3)
    for i, state in enumerate(states):
        stamp = state.stamp_ns + (2_000_000_000 if i > 100 else 0)
        effort = state.effort * (1e12 if 50 < i < 60 else 1.0)
        for _ in range(2):
            mode = estimator.update(RobotState(stamp, state.q, state.v, effort), Parts.MODE).mode
            assert np.isfinite(mode.force_weight).all() and np.isfinite(mode.probability).all()
            assert ((mode.force_weight >= 0.0) & (mode.force_weight <= 1.0)).all()


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([1e4, -1e6, 1e12]), lasting=st.integers(1, 3))
def test_absurd_efforts_in_up_to_three_states_cost_no_trust(seed, size, lasting):
    rng = np.random.default_rng(seed)

    def spike(i, effort):
        if i % 40 >= 40 - lasting:
            effort[6 + rng.integers(12)] = size

    assert weights(MODEL, CONFIG, motion(MODEL, seed, 0.5), spike).min() > 0.99


def test_a_limb_that_is_ignored_is_named():
    estimator = ContactEstimator(MODEL, CONFIG)
    for state in motion(MODEL, 4, 0.6):
        state.effort[LIMB[2]] *= -1.0
        estimator.update(state, Parts.MODE)
    said = [limb.sentence for limb in estimator.limbs() if limb.weight < 0.5]
    assert said == ["the efforts of the limb of hl_shank do not explain its motion: weight 0.0"]


def test_probabilities_are_valid_where_the_belief_decides_with_efforts_that_are_believed():
    states, estimator = motion(MODEL, 3, 0.6), ContactEstimator(MODEL, CONFIG)
    exact = [estimator.update(state, Parts.MODE).mode for state in states]
    sure = [bool(((m.probability <= 0.1) | (m.probability >= 0.99)).all()) for m in exact]
    valid, settled = [m.probability_valid for m in exact], round(0.05 / STEP) + 2
    assert not any(valid[: settled - 4]) and valid[settled:] == sure[settled:] and any(sure[settled:])
    estimator.reset()
    for state in states:
        assert not estimator.update(RobotState(state.stamp_ns, state.q, state.v), Parts.MODE).mode.probability_valid
    estimator.reset()
    for state in states:
        effort = np.where(np.isin(np.arange(MODEL.nv), LIMB[0]), -state.effort, state.effort)
        mode = estimator.update(RobotState(state.stamp_ns, state.q, state.v, effort), Parts.MODE).mode
    assert mode.force_weight.min() < 0.5 and not mode.probability_valid
    assert mode.validity < 128  # the bit that told it is none of those that are published
