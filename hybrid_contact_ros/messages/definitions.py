"""The fields of the messages that are read and written as bytes, in the order of their definitions.

A field is its type and its name, as in a .msg file. ``[]`` behind a type is a sequence, ``[36]`` a fixed array. The
tests hold these to the .msg files. Head and tail of a ``ContactMode`` have names of their own, because the head does
not depend on the sequence.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

PRIMITIVES = {"bool": "?", "uint8": "B", "int32": "i", "uint32": "I", "uint64": "Q", "float64": "d"}
"""Codes of numbers, as of :mod:`struct` and numpy."""
TEXT = "string"

_HEAD = "Header header, uint64 mode, ContactState[] contacts"
_TAIL = (
    "ModeTransition[] sequence, uint32 validity, float64 residual, Duration compute_time, Duration input_age, "
    "uint64 model_hash"
)

DEFINITIONS = {
    "Time": "int32 sec, uint32 nanosec",
    "Duration": "int32 sec, uint32 nanosec",
    "Header": "Time stamp, string frame_id",
    "Point": "float64 x, float64 y, float64 z",
    "Vector3": "float64 x, float64 y, float64 z",
    "Quaternion": "float64 x, float64 y, float64 z, float64 w",
    "Pose": "Point position, Quaternion orientation",
    "PoseWithCovariance": "Pose pose, float64[36] covariance",
    "Twist": "Vector3 linear, Vector3 angular",
    "TwistWithCovariance": "Twist twist, float64[36] covariance",
    "JointState": "Header header, string[] name, float64[] position, float64[] velocity, float64[] effort",
    "Imu": (
        "Header header, Quaternion orientation, float64[9] orientation_covariance, Vector3 angular_velocity, "
        "float64[9] angular_velocity_covariance, Vector3 linear_acceleration, float64[9] linear_acceleration_covariance"
    ),
    "Wrench": "Vector3 force, Vector3 torque",
    "WrenchStamped": "Header header, Wrench wrench",
    "JointCommand": (
        "Header header, string[] name, float64[] position, float64[] velocity, float64[] effort, float64[] stiffness, "
        "float64[] damping"
    ),
    "JointTrajectory": "Header header, string[] joint_names, JointTrajectoryPoint[] points",
    "JointTrajectoryPoint": (
        "float64[] positions, float64[] velocities, float64[] accelerations, float64[] effort, Duration time_from_start"
    ),
    "Odometry": "Header header, string child_frame_id, PoseWithCovariance pose, TwistWithCovariance twist",
    "ContactState": (
        "string name, string frame, uint8 status, float64 probability, bool probability_valid, Point position, "
        "Vector3 normal, float64 gap, float64 normal_velocity, Vector3 tangential_velocity, Vector3 force_model, "
        "bool force_valid, Vector3 force_estimate, float64 friction_coefficient, float64 friction_margin, "
        "float64 critical_friction, float64 force_weight, uint8 next_event, float64 time_to_event, "
        "float64 time_to_event_earliest, float64 time_to_event_latest, bool time_bounds_valid, "
        "float64 time_to_event_q05, float64 time_to_event_q25, float64 time_to_event_q75, float64 time_to_event_q95, "
        "float64 event_probability, bool time_density_valid, "
        "float64 ground_offset, float64 ground_sigma, float64 friction_lower, float64 friction_upper, "
        "float64 friction_ratio, bool slip_warning, float64 time_to_slip"
    ),
    "ModeTransition": (
        "uint32 contact, uint8 kind, float64 time, float64 earliest, float64 latest, bool bounds_valid, uint64 mode"
    ),
    "ContactMode": f"{_HEAD}, {_TAIL}",
    "ContactModeHead": _HEAD,
    "ContactModeTail": _TAIL,
    "ContactEvent": (
        "Header header, uint64 sequence, string contact, uint8 kind, uint8 source, Time time, Time earliest, "
        "Time latest, float64 confidence, bool confidence_valid"
    ),
    "ConstraintStability": (
        "Header header, string[] contacts, bool[] closed, uint8[] constraint_stability, float64[] constraint_force, "
        "uint8[] bounded_time_stability, float64[] gap_acceleration, uint8[] zeno, float64[] chatter_end, "
        "float64[] chatter_end_earliest, float64[] chatter_end_latest, bool chatter_bounds_valid, uint8[] grazing, "
        "float64[] touchdown_speed, uint8[] friction, float64[] friction_margin, uint8[] pseudo_impulse, "
        "float64[] pseudo_impulse_margin, uint32[] pair_first, uint32[] pair_second, float64[] pair_coupling, "
        "uint8[] pair_order_sensitive, float64[] pair_order_margin, Duration compute_time, uint64 model_hash"
    ),
    "PostImpactVelocitySet": (
        "Header header, Time impact_time, float64 time_to_impact, string[] contacts, string[] velocity_names, "
        "float64[] v_minus, float64[] v_nominal, uint32 count, uint32 dof, float64[] velocities, float64[] lower, "
        "float64[] upper, float64 coverage, float64 coverage_radius, float64 confidence, bool coverage_valid, "
        "float64 kinetic_energy_minus, float64 kinetic_energy_min, float64 kinetic_energy_max, string law, "
        "bool truncated, bool terminated, float64 residual, Duration compute_time, uint64 model_hash, "
        "uint32 generator_count, float64[] generators, float64 margin, float64 jump, float64[] mass, float64 level, "
        "bool level_valid, uint32 calibration_count, string calibration_method, float64[] quantile_lower, "
        "float64[] quantile_upper, float64 quantile_level, uint32 basis_rows, float64[] basis, float64[] basis_change, "
        "float64 time_to_impact_earliest, float64 time_to_impact_latest, bool time_bounds_valid, uint8 phase, "
        "float64 order_probability, bool order_probability_valid, float64[] joint_jump"
    ),
    "EventWord": (
        "string text, uint64[] struck, uint64[] closed, float64 probability, uint8 validity, string why, uint32 rank, "
        "float64[] v_plus, float64[] saltation, float64[] v_plus_gradient, float64[] parameter_matrix, "
        "float64[] v_plus_covariance"
    ),
    "EventSensitivity": (
        "Header header, uint8 kind, string[] contacts, string[] closed, Time time, float64 time_to_event, uint32 dof, "
        "uint32 dimension, string[] velocity_names, float64[] q, float64[] v_minus, uint8 validity, string why, "
        "float64[] time_gradient, float64[] time_sigma, bool time_sigma_valid, string[] parameters, EventWord[] words, "
        "float64 other_probability, bool probability_valid, float64 spread, float64[] mean, float64[] covariance, "
        "bool mixture_valid, Duration compute_time, uint64 model_hash"
    ),
}


class Field(NamedTuple):
    """One field of a message.

    Attributes:
        name, kind: its name, and its type without brackets.
        size: of a fixed array; 0 of a sequence; −1 of a single value.
    """

    name: str
    kind: str
    size: int


@cache
def fields(kind: str) -> tuple[Field, ...]:
    """The fields of a message type."""
    return tuple(_field(*text.split()) for text in DEFINITIONS[kind].split(", "))


def _field(kind: str, name: str) -> Field:
    base, bracket, size = kind.partition("[")
    return Field(name, base, int(size.rstrip("]") or 0) if bracket else -1)


def blank(kind: str, **given: Any) -> Any:
    """A message of plain attributes: those given, and zeros, empty texts and empty sequences.

    Example:
        >>> blank("Header", frame_id="odom").stamp.sec
        0
    """
    return SimpleNamespace(**{field.name: given.get(field.name, _nothing(field)) for field in fields(kind)})


def _nothing(field: Field) -> Any:
    if field.size >= 0:
        return [0] * field.size
    if field.kind == TEXT:
        return ""
    return (0.0 if field.kind == "float64" else 0) if field.kind in PRIMITIVES else blank(field.kind)
