"""A robot that kneels: what carries it is no contact, and feet that it holds up have no ground under them."""

import numpy as np
import pinocchio
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
FRONT, REAR = FEET[:2], FEET[2:]
KNEES = ("FL_calf", "FR_calf")  # whose origins are the knees
STEP = 0.002  # s
STANDS, SHIFTS, LIFTS, HOLDS = 1.5, 0.2, 0.4, 1.2  # s
BENT, RISE = -1.4, 0.4  # rad, of the calf; by which it turns: the foot rises by 5 cm

CONFIG = EstimatorConfig.from_mapping({"contacts": {foot: {"link": foot, "radius": 0.02} for foot in FEET}})


@pytest.fixture(scope="module")
def model():
    return RigidBodyModel.from_urdf(example_urdf("a1_description/urdf/a1.urdf"), CONFIG)


def frame_rows(model, data, q, names):
    """Translational Jacobian (3 k, nv) of frames, world axes."""
    pinocchio.computeJointJacobians(model, data, q)
    pinocchio.updateFramePlacements(model, data)
    axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    return np.vstack([pinocchio.getFrameJacobian(model, data, model.getFrameId(name), axes)[:3] for name in names])


def held(model, q, shares):
    """Efforts (nv,) of a robot at rest that is carried at ``shares`` (frame names: shares of the force there)."""
    robot, data = model.pinocchio_model, model.pinocchio_model.createData()
    needed = pinocchio.computeGeneralizedGravity(robot, data, q)
    names = [name for name, share in shares.items() if share > 0.0]
    rows = frame_rows(robot, data, q, names)
    scale = np.sqrt(np.repeat([shares[name] for name in names], 3))
    forces = scale * np.linalg.lstsq((rows[:, :6] * scale[:, None]).T, needed[:6], rcond=None)[0]
    assert (forces[2::3] > 0.0).all()
    effort = needed - rows.T @ forces
    assert np.abs(effort[:6]).max() < 1e-6
    effort[:6] = 0.0
    return effort


def kneeling(model):
    """States of a robot that stands, kneels on its front legs, and lifts its front feet for good."""
    q = np.zeros(19)
    q[6], q[7:] = 1.0, np.tile([0.0, 0.7, BENT], 4)
    q[2] = 1.0
    q[2] -= model.problem(RobotState(0, q, np.zeros(18))).gap.min()
    front = [model.velocity_names.index(f"{side}_calf_joint") for side in ("FL", "FR")]
    for k in range(round((STANDS + SHIFTS + LIFTS + HOLDS) / STEP)):
        time = STEP * k
        knees = np.clip((time - STANDS) / SHIFTS, 0.0, 1.0)
        part = np.clip((time - STANDS - SHIFTS) / LIFTS, 0.0, 1.0)
        now, v = q.copy(), np.zeros(18)
        for at in front:
            now[at + 1] = BENT - RISE * 0.5 * (1.0 - np.cos(np.pi * part))
            v[at] = -RISE * 0.5 * np.pi / LIFTS * np.sin(np.pi * part)
        shares = dict.fromkeys(REAR, 1.0) | dict.fromkeys(FRONT, 1.0 - knees) | dict.fromkeys(KNEES, knees)
        yield RobotState(1 + round(1e9 * time), now, v, held(model, now, shares))


def test_feet_that_are_held_up_by_a_robot_on_its_knees_stand_on_no_step_in_the_air(model):
    estimator = ContactEstimator(model, CONFIG)
    told = [estimator.update(state, Parts.MODE).mode for state in kneeling(model)]
    stands = round(STANDS / STEP) - 1
    assert told[stands].closed.all()
    late = [mode for k, mode in enumerate(told) if k * STEP > STANDS + SHIFTS + LIFTS + 0.2]
    assert max(mode.force_weight[:2].max() for mode in late[100:]) < 0.5  # nobody told of the knees
    assert not any(mode.closed[:2].any() for mode in late)
    assert all(mode.closed[2:].all() for mode in late)
    assert max(np.abs(mode.ground_offset).max() for mode in late) < 0.01
