"""Agreement with an engine that shares no code with Pinocchio: MuJoCo's feet, at its recorded states."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.mechanics.state import RobotState


@pytest.mark.parametrize("episode", ["drop_05", "trot_slippery"])
def test_gaps_and_foot_velocities_are_those_of_mujoco(go2, shared, episode):
    path = shared / "data" / "go2_mujoco" / f"{episode}.npz"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    data = np.load(path)
    assert tuple(data["foot_names"]) == go2.contact_names
    assert tuple(data["joint_names"]) == go2.joint_names
    radius = float(data["foot_radius"])
    # The arrays are stored in single precision: rounding of positions around 1 m and of velocities around 10 m/s.
    for k in range(0, len(data["time"]), 7):
        state = RobotState(0, data["q"][k].astype(float), data["v"][k].astype(float))
        p = go2.problem(state)
        u = (p.jacobian() @ state.v).reshape(4, 3)
        centre, velocity = data["foot_pos"][k], data["foot_vel"][k]
        np.testing.assert_allclose(p.gap, centre[:, 2] - radius, atol=3e-7)
        np.testing.assert_allclose(go2.contact_positions, centre - [0, 0, radius], atol=3e-7)
        np.testing.assert_allclose(u[:, 0], velocity[:, 2], atol=5e-6)


def test_contact_velocity_of_a_rolling_foot_differs_from_its_centre_by_omega_times_radius(go2, shared):
    """foot_vel is the centre's; the tangent rows are of the point that touches."""
    path = shared / "data" / "go2_mujoco" / "drop_05.npz"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    data = np.load(path)
    import pinocchio as pin

    state = RobotState(0, data["q"][300].astype(float), data["v"][300].astype(float))
    p = go2.problem(state)
    u = (p.jacobian() @ state.v).reshape(4, 3)
    model, scratch = go2.pinocchio_model, go2.pinocchio_model.createData()
    pin.forwardKinematics(model, scratch, state.q, state.v)
    pin.updateFramePlacements(model, scratch)
    for i, name in enumerate(go2.contact_names):
        omega = pin.getFrameVelocity(model, scratch, model.getFrameId(name), pin.LOCAL_WORLD_ALIGNED).angular
        point = data["foot_vel"][300, i] + np.cross(omega, [0, 0, -0.02])
        np.testing.assert_allclose(u[i, 1:], point[:2], atol=5e-6)
