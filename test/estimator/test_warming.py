"""After warming nothing is left to compile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers.bodies import NO_DEADLINE, arm, block, landing
from hybrid_contact_ros.kernels.warm import dispatchers, enable_compilation


def test_after_warming_nothing_is_left_to_compile():
    thing = block(**NO_DEADLINE)
    thing.warm(freeze=True)
    try:
        for state in landing():
            thing.update(state)
            thing.impact(state, contacts=[0, 2])
        other, states = arm()
        for state in states:
            other.update(state)
    finally:
        enable_compilation()


EVENTS = """
import numpy as np
from dataclasses import replace
from helpers.bodies import GRAVITY, block, body, free
from hybrid_contact_ros.estimator import Parts
far = {"prediction": {"horizon": 1.0}, "sensitivity": {"horizon": 1.0}}
asked, kinds = Parts.MODE | Parts.SENSITIVITY, set()
covariance = np.stack((1e-6 * np.eye(6), 1e-4 * np.eye(6)))
thing = block(activation={"force_on": 1.0, "slip_on": 0.02, "slip_off": 0.01}, **far)
thing.warm(freeze=True, parts=Parts.ALL | Parts.SENSITIVITY)
states = [free(0, 0.06, (0.2, 0, -1.0))]
states += [free(round(1e9 + 1e6 * i), 0.05, force=(0, 0, 0.2 * i)) for i in range(90)]
states += [free(round(3e9 + 1e6 * i), 0.05, force=(0.1 * i, 0, 0)) for i in range(90)]
states += [free(round(5e9 + 1e6 * i), 0.05, (0.3 - 0.5 * GRAVITY * 1e-3 * i, 0, 0)) for i in range(40)]
for state in states:
    for known in (covariance, None):
        for event in thing.update(replace(state, base_covariance=known), asked).sensitivity:
            kinds.add(event.kind.name)
print(*sorted(kinds))
"""


def test_nothing_is_left_to_compile_for_the_sensitivity_of_any_kind_of_event():
    """In a process of its own, with kernels frozen."""
    command = [sys.executable, "-c", EVENTS]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["LIFTOFF", "SLIP", "STICK", "TOUCHDOWN"]


STRAIGHT_LEG = """
import numpy as np
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
inertia = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
joint = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>{}<axis xyz="0 1 0"/></joint>'
below = '<origin xyz="0 0 -.3"/>'
urdf = "<robot name='leg'>" + "".join(f'<link name="{name}">{inertia}</link>' for name in "abc")
urdf += joint.format("hip", "a", "b", below) + joint.format("knee", "b", "c", below)
foot = {"link": "c", "points": [0.0, 0.0, -0.3]}
config = EstimatorConfig.from_mapping({"floating_base": False, "contacts": {"foot": foot}})
estimator = ContactEstimator(RigidBodyModel.from_urdf(urdf + "</robot>", config), config)
estimator.warm(freeze=True)
state = RobotState(0, estimator.model.bent(), np.array([1.0, 2.0]), np.zeros(2))
assert estimator.impact(state, contacts=[0]).velocities.shape[0] > 0
"""


def test_a_straight_leg_that_cannot_move_its_foot_along_itself_is_warmed_for_when_it_is_bent():
    """In a process of its own: kernels that other tests have compiled would hide one that warming leaves out."""
    done = subprocess.run([sys.executable, "-c", STRAIGHT_LEG], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("freeze", [False, True])
def test_kernels_may_compile_after_warming_unless_they_were_to_be_frozen(freeze):
    block(**NO_DEADLINE).warm(freeze=freeze)
    try:
        assert {kernel._can_compile for _, kernel in dispatchers()} == {not freeze}
    finally:
        enable_compilation()
