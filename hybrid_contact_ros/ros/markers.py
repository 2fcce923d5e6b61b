"""Contacts as RViz markers: points coloured by status, forces, friction cones, and the next event as text."""

from __future__ import annotations

from math import atan, cos, sin, tau

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Quaternion, Vector3
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from hybrid_contact_ros.prediction import ContactStatus, EventKind, ModePrediction

_COLOURS = {
    ContactStatus.UNKNOWN: (0.5, 0.5, 0.5, 0.8),
    ContactStatus.OPEN: (0.3, 0.6, 1.0, 0.8),
    ContactStatus.STICKING: (0.2, 0.8, 0.3, 0.9),
    ContactStatus.SLIPPING: (1.0, 0.6, 0.1, 0.9),
}
_FORCE_SCALE = 0.002  # m per N
_CONE_HEIGHT = 0.06  # m
_CONE_EDGES = 24
_LIFETIME = Duration(nanosec=500_000_000)  # a dead node must not leave its last state on the screen


def markers(mode: ModePrediction, names: tuple[str, ...], frame_id: str, stamp: Time, size: float) -> MarkerArray:
    """Markers of one prediction; ``size`` (m) is the diameter of a contact point. Joint limits have no place in the
    world (zero normal) and are left out."""
    array = MarkerArray()
    for i, name in enumerate(names):
        normal = mode.normal[i]
        if not normal.any():
            continue
        status = ContactStatus(int(mode.status[i]))
        point, colour = _point(mode.position[i]), _colour(status)

        def marker(space: str, kind: int, identity: int = i, colour: ColorRGBA = colour) -> Marker:
            made = Marker(ns=space, id=identity, type=kind, action=Marker.ADD, color=colour, lifetime=_LIFETIME)
            made.header.frame_id, made.header.stamp = frame_id, stamp
            made.pose.orientation = Quaternion(w=1.0)
            array.markers.append(made)
            return made

        sphere = marker("contacts", Marker.SPHERE)
        sphere.pose.position, sphere.scale = point, Vector3(x=size, y=size, z=size)
        if mode.closed[i]:
            arrow = marker("forces", Marker.ARROW)
            arrow.points = [point, _point(mode.position[i] + _FORCE_SCALE * mode.force_model[i])]
            arrow.scale = Vector3(x=0.3 * size, y=0.6 * size, z=0.6 * size)
            cone = marker("friction_cones", Marker.LINE_LIST)
            cone.scale.x = 0.05 * size
            cone.points = _cone(mode.position[i], normal, float(mode.friction_coefficient[i]))
        text = marker("events", Marker.TEXT_VIEW_FACING)
        text.pose.position = _point(mode.position[i] + 2.0 * size * normal)
        text.scale.z = size
        text.text = _text(name, mode, i)
    return array


def _text(name: str, mode: ModePrediction, i: int) -> str:
    kind = EventKind(int(mode.next_event[i]))
    if kind == EventKind.NONE:
        return name
    return f"{name}: {kind.name.lower()} in {1e3 * mode.time_to_event[i]:.0f} ms"


def _point(at: NDArray[np.float64]) -> Point:
    return Point(x=float(at[0]), y=float(at[1]), z=float(at[2]))


def _colour(status: ContactStatus) -> ColorRGBA:
    r, g, b, a = _COLOURS[status]
    return ColorRGBA(r=r, g=g, b=b, a=a)


def _cone(apex: NDArray[np.float64], normal: NDArray[np.float64], friction: float) -> list[Point]:
    """Rim and four edges of the friction cone as pairs of points."""
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, helper)
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    half = atan(friction)
    height, radius = _CONE_HEIGHT * cos(half), _CONE_HEIGHT * sin(half)
    angles = [tau * k / _CONE_EDGES for k in range(_CONE_EDGES)]
    rim = [_point(apex + height * normal + radius * (cos(a) * first + sin(a) * second)) for a in angles]
    lines: list[Point] = []
    for k, here in enumerate(rim):
        lines += [here, rim[(k + 1) % _CONE_EDGES]]
        if k % (_CONE_EDGES // 4) == 0:
            lines += [_point(apex), here]
    return lines
