"""Forces by the joints of each limb alone: what pulls at the trunk is none of them."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.limb_forces import limb_forces, limb_pushes

NORMAL, TANGENTS = np.array([0.0, 0.0, 1.0]), np.eye(3)[:2]


class Robot:
    """A floating base and limbs with ``joints`` each, whose contacts are ``points`` on one link."""

    def __init__(self, joints: int, points: int, limbs: int = 2, seed: int = 0, plane: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.m, self.nv = points * limbs, 6 + joints * limbs
        self.contact_limb = np.repeat(np.arange(limbs), points)
        self.link = np.repeat(np.arange(limbs) * points, points)
        self.limb = np.r_[np.full(6, -1), np.repeat(np.arange(limbs), joints)]
        self.rows = np.zeros((self.m, 3, self.nv))
        for leg in range(limbs):
            link = rng.normal(size=(6, joints)) + 2.0 * np.eye(6, joints)  # velocity and spin, by the joints
            for i in np.flatnonzero(self.contact_limb == leg):
                arm = rng.normal(size=3) * 0.1
                cross = np.array([[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]])
                self.rows[i][:, self.limb == leg] = link[:3] + cross @ link[3:]
        if plane:  # nothing moves along the second tangent
            self.rows[:, 2, 6:] = 0.0
        self.rows[:, :, :6] = rng.normal(size=(self.m, 3, 6))
        self.force = np.c_[rng.uniform(10.0, 50.0, self.m), rng.normal(size=(self.m, 2))]  # normal, tangents

    def found(self, pull: np.ndarray, before: np.ndarray, closed: np.ndarray) -> np.ndarray:
        known = np.where(closed[:, None] > 0, self.force, 0.0)
        residual = np.einsum("mik,mi->k", self.rows, known)
        residual[:6] += pull
        forces, n = before.copy(), 3 * self.m
        limb_forces(
            self.contact_limb, self.limb, self.link, closed, np.tile(NORMAL, (self.m, 1)),
            np.tile(TANGENTS, (self.m, 1, 1)), self.rows, residual, np.zeros(self.m, np.int64), np.zeros((n, n)),
            np.zeros(n), forces,
        )  # fmt: skip
        return forces


@pytest.mark.parametrize("joints", [3, 4])
def test_forces_of_point_feet_do_not_depend_on_what_pulls_at_the_trunk(joints):
    robot = Robot(joints, 1)
    closed = np.ones(2, np.uint8)
    before = robot.force[:, [1, 2, 0]] * 1.2
    found = robot.found(np.array([30.0, -20.0, 5.0, 1.0, 2.0, 3.0]), before, closed)
    assert found == pytest.approx(robot.force[:, [1, 2, 0]], rel=1e-4, abs=1e-4)  # world axes


def test_the_resultant_of_a_sole_with_six_joints_is_found():
    robot = Robot(6, 4)
    found = robot.found(np.full(6, 9.0), robot.force[:, [1, 2, 0]] * 0.8, np.ones(8, np.uint8))
    for foot in (0, 1):
        of = robot.contact_limb == foot
        assert found[of].sum(axis=0) == pytest.approx(robot.force[of].sum(axis=0)[[1, 2, 0]], rel=1e-3, abs=1e-2)


@pytest.mark.parametrize("joints", [2, 3])
def test_what_joints_in_a_plane_say_is_the_force_in_it_alone(joints):
    """A boom that holds a planar biped upright is no friction of its feet."""
    robot = Robot(joints, 1, plane=True)
    closed, boom = np.ones(2, np.uint8), np.array([0.0, 40.0, 0.0, 9.0, 0.0, -7.0])
    before = robot.force[:, [1, 2, 0]] + np.array([0.0, 30.0, 0.0])
    found = robot.found(boom, before, closed)
    assert found[:, 1] == pytest.approx(0.0, abs=1e-4)
    assert found[:, [2, 0]] == pytest.approx(robot.force[:, :2], rel=1e-4, abs=1e-4)
    far = before * 2.0  # of a straight leg they say anything, and nothing else tells what is across its plane
    assert np.isnan(robot.found(boom, far, closed)).all()


def test_limbs_with_too_few_joints_open_contacts_and_unknown_forces_are_left_as_they_were():
    before = np.array([[0.0, 1.0, 30.0], [3.0, 4.0, 30.0]])
    assert np.array_equal(Robot(1, 1).found(np.zeros(6), before, np.ones(2, np.uint8)), before)
    robot = Robot(3, 1)
    found = robot.found(np.zeros(6), before, np.array([1, 0], np.uint8))
    assert np.array_equal(found[1], before[1]) and not np.array_equal(found[0], before[0])
    far = np.array([[0.0, 0.0, 500.0], [0.0, 0.0, 30.0]])  # what the joints say of a straight leg may be anything
    assert np.array_equal(robot.found(np.zeros(6), far, np.ones(2, np.uint8))[0], far[0])
    unknown = np.full((2, 3), np.nan)
    assert np.isnan(robot.found(np.zeros(6), unknown, np.ones(2, np.uint8))).all()


def pushes(robot: Robot, forces: np.ndarray, pull: np.ndarray) -> np.ndarray:
    residual = np.einsum("mik,mi->k", robot.rows, forces)
    residual[:6] += pull
    found, n = np.zeros(robot.m), 3 * robot.m
    limb_pushes(
        robot.contact_limb, robot.limb, robot.link, np.ones(robot.m, np.uint8), robot.rows, residual,
        np.zeros(robot.m, np.int64), np.zeros((n, n)), np.zeros(n), np.zeros(n), found,
    )  # fmt: skip
    return found


@pytest.mark.parametrize(("joints", "points"), [(3, 1), (4, 1), (6, 4)])
def test_the_push_on_a_foot_is_found_whatever_carries_the_trunk_and_the_other_foot(joints, points):
    robot = Robot(joints, points)
    forces = np.where(robot.contact_limb[:, None] == 1, 0.0, robot.force)
    found = pushes(robot, forces, np.array([300.0, -20.0, 500.0, 10.0, 20.0, 30.0]))
    lifted = robot.contact_limb == 1
    assert found[lifted] == pytest.approx(np.zeros(points), abs=1e-3)
    assert found[~lifted] == pytest.approx(np.full(points, forces[~lifted, 0].sum()), rel=1e-3)


def test_too_few_joints_and_straight_limbs_tell_no_push():
    assert np.isnan(pushes(Robot(1, 1), Robot(1, 1).force, np.zeros(6))).all()
    robot = Robot(3, 1)
    robot.rows[0, 0, 6:9] = 1e-4 * robot.rows[0, 0, 6:9] + robot.rows[0, 1, 6:9]  # the normal hardly moves by itself
    found = pushes(robot, robot.force, np.zeros(6))
    assert np.isnan(found[0]) and found[1] == pytest.approx(robot.force[1, 0], rel=1e-4)
