"""A floating body with one two-joint leg, its parameters, and messages of its state: small, so that tests are quick."""

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

INERTIA = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'


def _link(name: str, mass: float) -> str:
    return f'<link name="{name}"><inertial><mass value="{mass}"/>{INERTIA}</inertial></link>'


def _joint(name: str, parent: str, child: str, z: float) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 {z}"/><axis xyz="0 1 0"/>'
        '<limit lower="-3" upper="3" effort="100" velocity="20"/></joint>'
    )


URDF = (
    '<robot name="leg">'
    + _link("body", 5.0)
    + _link("thigh", 1.0)
    + _link("shank", 0.5)
    + _joint("hip", "body", "thigh", 0.0)
    + _joint("knee", "thigh", "shank", -0.3)
    + "</robot>"
)
JOINTS = ("hip", "knee")

PARAMETERS = """
/**:
  ros__parameters:
    floating_base: true
    contact_names: [foot]
    contacts:
      foot: {link: shank, points: [0.0, 0.0, -0.3], friction: 0.8}
    input: {stale_after: 0.0}
    impact: {deadline: 0.5}  # a machine that also does other things must not fail a test
"""


def joint_state(stamp, names=JOINTS, position=(0.0, 0.0), velocity=(0.0, 0.0), effort=(0.0, 0.0)) -> JointState:
    msg = JointState(name=list(names), position=list(position), velocity=list(velocity), effort=list(effort))
    msg.header.stamp = stamp
    return msg


def odometry(stamp, height=0.7, fall=-1.0) -> Odometry:
    """The body upright at ``height``, falling; the foot hangs 0.6 m below it."""
    msg = Odometry()
    msg.header.stamp, msg.header.frame_id, msg.child_frame_id = stamp, "map", "body"
    msg.pose.pose.position.z, msg.pose.pose.orientation.w = height, 1.0
    msg.twist.twist.linear.z = fall
    return msg


NAN = float(np.nan)
