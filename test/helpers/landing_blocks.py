"""States of a block that lands on two of its edges, one after the other."""

import numpy as np

from hybrid_contact_ros.mechanics.state import RobotState

SURE = {"gap_sigma": 1e-5, "velocity_sigma": 1e-4, "acceleration_sigma": 0.1}
KNOWN = {"ground": {"learn": False}}  # ground that is exactly where it is configured
TILT = 0.04  # rad, by which one edge is 4 mm lower
EFFORT = np.zeros(6)


def falling(lower: float, stamp: int = 0) -> RobotState:
    """The tilted block, its lower edge so high (m), falling with 1 m/s."""
    height = lower + 0.05 * np.cos(TILT) + 0.05 * np.sin(TILT)
    q = np.array([0, 0, height, 0, np.sin(TILT / 2), 0, np.cos(TILT / 2)])
    turned = np.array([np.sin(TILT), 0.0, -np.cos(TILT)])  # of the velocity, in the axes of the body
    return RobotState(stamp, q, np.r_[turned, 0, 0, 0], EFFORT)


def held(stamp: int) -> RobotState:
    """The lower edge at rest on the ground, the block turning about it."""
    state = falling(0.0, stamp)
    rate = -8.0  # rad/s about y: the upper edge comes down with 0.8 m/s
    corner = np.array([0.05, 0.0, -0.05])
    linear = -np.cross([0.0, rate, 0.0], corner)
    return RobotState(stamp, state.q, np.r_[linear, 0.0, rate, 0.0], EFFORT)
