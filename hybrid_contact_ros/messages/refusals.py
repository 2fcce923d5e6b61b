"""Why inputs are refused or reported: one sentence and one piece of advice for each reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

REASONS: dict[str, str] = {
    # refused
    "unreadable": "the bytes are no message of the type of the topic",
    "invalid_stamp": "the stamp is zero, negative or has nanoseconds outside [0, 1e9)",
    "backward_stamp": "the stamp is older than one already seen",
    "repeated_stamp": "the stamp is that of the message before",
    "stamp_jump": "the stamp is far ahead of the one before, and the clock is not",
    "array_length": "position, velocity or effort is not as long as name",
    "no_velocity": "velocity is missing, and there are too few positions before it",
    "joint_names": "the joints do not fit the model",
    "not_finite": "a value is NaN or infinite",
    "implausible": "a value is far beyond what the robot can have",
    "quaternion_norm": "the orientation is not a unit quaternion",
    "no_odometry": "no odometry that can be used has arrived, and the model has a floating base",
    "odometry_timeout": "the newest odometry that can be used is too far from the joint state",
    "sensor_frame": "the frame of the message is not where the sensor has to be",
    "contact_names": "no name is that of a contact or of its link",
    "no_imu": "input.base is imu, and no inertial measurement near the joint state has orientation and rates",
    "state": "the estimator cannot compute with the state",
    # used, and reported
    "stale": "the message is older than input.stale_after",
    "future": "the stamp is ahead of the clock by more than input.stale_after",
    "velocity_from_positions": "velocity is missing: the slope of the last positions is taken for it",
    "frozen": "the numbers stay the same, while stamps go on and velocities are not zero",
    "velocity": "velocities are not the rates of the positions",
    "effort_not_finite": "an effort is NaN or infinite: the state is used without effort",
    "effort_implausible": "an effort is far beyond what the joint can give: the state is used without effort",
    "covariance": "a covariance is not finite or beyond 1e12: it counts as none",
    "twist": "pose and twist are not those of one motion",
    "stamp_unit": "positions, velocities and stamps do not fit each other",
    "legs": "legs and odometry do not fit each other: no foot stands still",
    "child_frame": "the pose is that of a link that is not the root link",
    "sensor_stuck": "a sensor reads the same number while others go up and down: it is not used",
    "sensor_dead": "a sensor shows nothing while others go up and down: it is not used",
    "imu_units": "the inertial unit does not measure what the message says",
    "side_late": "the newest message is too far from the state, which goes without it",
    "odometry_late": "the odometry of the same stamp did not come before the next joint state, which took its place",
    "clock_set_back": "the stamps went back and stayed: the streams start anew",
    "clock_set_ahead": "the stamps jumped ahead and stayed: the streams start anew",
}
"""What is wrong, for each reason that inputs are refused or reported for."""

ADVICE: dict[str, str] = {
    "unreadable": "look for a publisher that was built with another definition of the message",
    "invalid_stamp": "fill header.stamp with the time of the measurement",
    "backward_stamp": "look for a second publisher, or for messages that overtake each other",
    "repeated_stamp": "look for a second publisher, or stamp each measurement anew",
    "stamp_jump": "look for a second publisher with another clock",
    "array_length": "give every joint in name a position and a velocity; effort may be left empty",
    "no_velocity": "nothing to do at the start of a stream of positions alone; else publish more often than 15 Hz",
    "joint_names": "publish every joint of the URDF, or name those that are never published in locked_joints",
    "not_finite": "look at the driver of that sensor",
    "implausible": "check the unit and the sensor; else correct the URDF's limits or raise input.limit_factor",
    "quaternion_norm": "look at the estimator that publishes it; four zeros mean that the orientation was never set",
    "no_odometry": "publish odom, or set floating_base to false for a robot that is bolted down",
    "odometry_timeout": "publish odom more often, look at both clocks, or raise input.odometry_timeout",
    "sensor_frame": "put the sensor's link into the URDF, and its name into header.frame_id",
    "contact_names": "name the contacts as the configuration does, or as the URDF names their links",
    "no_imu": "publish imu with orientation and angular velocity, more often than input.sensor_timeout",
    "state": "look at the values of that state",
    "stale": "compare the clocks of the machines, or raise input.stale_after",
    "future": "compare the clocks of the machines, and use_sim_time with the source of the stamps",
    "velocity_from_positions": "publish velocities if the driver measures them: slopes are late by 4 ms, and noisy",
    "frozen": "look at the driver, which repeats its last measurement; publish what is measured, or nothing",
    "velocity": "publish rad/s or m/s, or leave velocity empty: the slopes of the positions are taken then",
    "effort_not_finite": "leave effort empty where none is measured; name joints that never have any in locked_joints",
    "effort_implausible": "check the unit and the sensor; else correct the URDF's limits or raise input.limit_factor",
    "covariance": "publish zeros, or -1 in the first entry, where a covariance is unknown",
    "twist": "publish m and m/s, the twist in the axes of child_frame_id or with twist_in_world, and x, y, z, w",
    "stamp_unit": "fill header.stamp with seconds and nanoseconds of the measurement",
    "legs": "compare the names of joints, the URDF and the contacts with the robot, and the units and axes of odom",
    "child_frame": "publish the odometry of the root link, with its name in child_frame_id",
    "sensor_stuck": "look at that sensor and its cable",
    "sensor_dead": "look at that sensor and its cable",
    "imu_units": "publish m/s² with gravity (9.81 upwards at rest) and rad/s, in the axes of header.frame_id",
    "side_late": "nothing to do where its publisher has stopped; else look at both clocks, or raise its timeout",
    "odometry_late": "publish odom before or right after the joint state of its stamp",
    "clock_set_back": "nothing to do after a restart of a recording or a simulator",
    "clock_set_ahead": "nothing to do after a jump in a recording or a simulator",
}
"""What to do about it, for each reason."""

USED = frozenset(list(REASONS)[list(REASONS).index("stale") :])
"""Reasons for which a message is only reported, and its state still answered. The exception is ``odometry_late``: the
joint state that waited for the odometry is dropped."""


DOUBTS = frozenset({"frozen", "velocity", "twist", "stamp_unit", "legs", "imu_units"})
"""Reasons for which numbers contradict each other: whatever is made of a recording, one should know of them."""


def refused(faults: Mapping[str, int]) -> int:
    """How many messages were lost, of these numbers of each reason."""
    return sum(n for reason, n in faults.items() if reason not in USED or reason == "odometry_late")


CONSEQUENCES = frozenset({"no_odometry", "odometry_timeout", "odometry_late", "no_imu"})
"""Reasons that may follow from another one, because an odometry or inertial measurement that was refused is missing."""


class Fault(NamedTuple):
    """A kind of fault: the input that shows it (``joint_states``, ``odom``, ``joint_command`` …), and the reason, a key
    of :data:`REASONS`."""

    topic: str
    reason: str


class RefusedError(ValueError):
    """A message may not be used.

    Attributes:
        reason: a key of :data:`REASONS`.
        detail: the numbers, in words.
        topic: the input at fault, where it may be another one than that of the message; else empty.
    """

    def __init__(self, reason: str, detail: str = "", topic: str = "") -> None:
        super().__init__(f"{REASONS[reason]}: {detail}" if detail else REASONS[reason])
        self.reason, self.detail, self.topic = reason, detail, topic


class DoubtedError(RefusedError):
    """A message may not be used, and why is known only when the next ones have come."""


def sentence(fault: Fault, detail: str = "") -> str:
    """One fault as a person reads it: the input, what is wrong, the numbers, and what to do."""
    what = f"{fault.topic}: {REASONS[fault.reason]}"
    return f"{what} ({detail}); {ADVICE[fault.reason]}" if detail else f"{what}; {ADVICE[fault.reason]}"
