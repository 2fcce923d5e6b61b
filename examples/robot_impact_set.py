"""A cube lands on a corner. With which velocities may it bounce, if its restitution is known to ± 0.07?

The shipped cube (config/cube.urdf, config/cube.yaml) has e = 0.32 ± 0.07, identified from recorded tosses. By Poisson's
law a contact gives back e times the impulse of its compression. A corner under the centre of mass therefore leaves with
φ̇⁺ = −e φ̇⁻, between 0.25 and 0.39 of its speed. Where a face lands flat, four corners touch at once, and the order of
their impulses widens the set. The node answers the same question as the service ``predict_impact``.
"""

from pathlib import Path

import numpy as np

from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel, RobotState

CONFIG = Path(__file__).resolve().parent.parent / "config"
config = EstimatorConfig.from_file(CONFIG / "cube.yaml")
model = RigidBodyModel.from_urdf(CONFIG / "cube.urdf", config)
estimator = ContactEstimator(model, config)
CENTRE = np.array([0.0, 0.0, 0.00635])  # m, of mass, in the frame of the cube
CORNER = np.array([-0.0484, -0.0484, -0.0484])  # m, corner_0


def quaternion(down: np.ndarray) -> np.ndarray:
    """(x, y, z, w) of the shortest rotation that turns ``down``, in the cube's frame, to the world's −z."""
    unit, z = down / np.linalg.norm(down), np.array([0.0, 0.0, -1.0])
    turned = np.append(np.cross(unit, z), 1.0 + unit @ z)
    return turned / np.linalg.norm(turned)


def landing(down: np.ndarray) -> RobotState:
    """The cube falling at 1 m/s with ``down`` below; v is in the cube's frame."""
    q = np.concatenate(([0.0, 0.0, 1.0], quaternion(down)))
    fall = down / np.linalg.norm(down)
    return RobotState(stamp_ns=0, q=q, v=np.concatenate((fall, np.zeros(3))))


def rebounds(state: RobotState, contacts: list[int]) -> np.ndarray:
    """Speeds (n,) at which the centre of mass may go up, m/s."""
    impact = estimator.impact(state, contacts=contacts, samples=1000, deadline_ns=0)
    up = -state.v[:3]
    linear = impact.velocities[:, :3] + np.cross(impact.velocities[:, 3:], CENTRE)
    return linear @ up


one_corner = rebounds(landing(CORNER - CENTRE), [0])
flat = rebounds(landing(np.array([0.0, 0.0, -1.0])), [0, 2, 4, 6])
slowest, fastest = one_corner.min(), one_corner.max()

if __name__ == "__main__":
    print(f"on one corner it rebounds at {slowest:.4f} to {fastest:.4f} of its speed")
    print(f"flat on four, its centre does at {flat.min():.4f} to {flat.max():.4f}")
