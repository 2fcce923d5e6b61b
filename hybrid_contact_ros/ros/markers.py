"""Contacts as markers for RViz: points coloured by status, forces, friction cones, and the next event as text."""

from __future__ import annotations

from math import atan, cos, hypot, isfinite, sin, tau

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Quaternion, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from hybrid_contact_msgs.msg import ContactMode, ContactState

_COLOURS = {
    ContactState.UNKNOWN: ColorRGBA(r=0.5, g=0.5, b=0.5, a=0.8),
    ContactState.OPEN: ColorRGBA(r=0.3, g=0.6, b=1.0, a=0.8),
    ContactState.STICKING: ColorRGBA(r=0.2, g=0.8, b=0.3, a=0.9),
    ContactState.SLIPPING: ColorRGBA(r=1.0, g=0.6, b=0.1, a=0.9),
}
_CLOSED = (ContactState.STICKING, ContactState.SLIPPING)
_EVENTS = {
    ContactState.EVENT_TOUCHDOWN: "touchdown",
    ContactState.EVENT_LIFTOFF: "liftoff",
    ContactState.EVENT_SLIP: "slip",
    ContactState.EVENT_STICK: "stick",
}
_FORCE_SCALE = 0.002  # m of an arrow per N
_LONGEST_ARROW = 2.0  # m; a longer arrow says nothing more
_CONE_HEIGHT = 0.06  # m
_CONE_EDGES = 16
_LIFETIME = Duration(nanosec=500_000_000)  # a dead node must not leave its last state on the screen


class ContactMarkers:
    """Turns each ``ContactMode`` into a ``MarkerArray``, in the frame and with the stamp of its header.

    A marker that has nothing to show any more (the force of a contact that opened, a contact that is gone) is deleted
    by the next array. What cannot be drawn is left out: a joint limit, which has no place in the world (its normal is
    zero), and whatever is not finite.

    Args:
        size: diameter of a contact point, m.
    """

    def __init__(self, size: float) -> None:
        self.size = size
        self._shown: dict[tuple[str, int], Marker] = {}  # messages are made once: their classes are slow to fill
        self._cones: dict[float, list[Point]] = {}

    def update(self, mode: ContactMode) -> MarkerArray:
        """The markers of one prediction, which are valid until the next call."""
        before, self._shown = self._shown, {}
        for i, contact in enumerate(mode.contacts):
            point, normal = contact.position, contact.normal
            if not (_finite(point) and _finite(normal) and (normal.x or normal.y or normal.z)):
                continue
            self._contact(i, contact, mode.header, before)
        array = MarkerArray(markers=list(self._shown.values()))
        array.markers += [_deleted(marker) for key, marker in before.items() if key not in self._shown]
        return array

    def clear(self) -> MarkerArray:
        """The array that deletes everything that is shown."""
        before, self._shown = self._shown, {}
        return MarkerArray(markers=[_deleted(marker) for marker in before.values()])

    def _contact(self, i: int, contact: ContactState, header: Header, before: dict[tuple[str, int], Marker]) -> None:
        size, point, normal, force = self.size, contact.position, contact.normal, contact.force_model

        def marker(space: str, kind: int) -> Marker:
            made = before.get((space, i)) or Marker(ns=space, id=i, type=kind, lifetime=_LIFETIME)
            made.header, made.action = header, Marker.ADD
            made.color = _COLOURS.get(contact.status, _COLOURS[ContactState.UNKNOWN])
            self._shown[space, i] = made
            return made

        sphere = marker("contacts", Marker.SPHERE)
        sphere.pose.position, sphere.scale = point, Vector3(x=size, y=size, z=size)
        if contact.status in _CLOSED:
            if contact.force_valid and _finite(force):
                arrow = marker("forces", Marker.ARROW)
                newtons = hypot(force.x, force.y, force.z)
                arrow.points = [point, _along(point, force, min(_FORCE_SCALE, _LONGEST_ARROW / max(newtons, 1e-9)))]
                arrow.scale = Vector3(x=0.3 * size, y=0.6 * size, z=0.6 * size)
            cone = marker("friction_cones", Marker.LINE_LIST)
            cone.pose.position, cone.pose.orientation = point, _turn_up(normal)
            cone.points, cone.scale.x = self._cone(contact.friction_coefficient), 0.05 * size
        text = marker("events", Marker.TEXT_VIEW_FACING)
        text.pose.position, text.scale.z = _along(point, normal, 2.0 * size), size
        text.text = _text(contact)

    def _cone(self, friction: float) -> list[Point]:
        """Rim and four edges of the cone around z, as pairs of points. They depend on the coefficient alone, and are
        made once for each."""
        if friction not in self._cones:
            half = atan(friction) if isfinite(friction) else 0.0
            height, radius = _CONE_HEIGHT * cos(half), _CONE_HEIGHT * sin(half)
            angles = [tau * k / _CONE_EDGES for k in range(_CONE_EDGES)]
            rim = [Point(x=radius * cos(a), y=radius * sin(a), z=height) for a in angles]
            lines: list[Point] = []
            for k, here in enumerate(rim):
                lines += [here, rim[(k + 1) % _CONE_EDGES]]
                if k % (_CONE_EDGES // 4) == 0:
                    lines += [Point(), here]
            if len(self._cones) >= 64:  # as many as a message has contacts
                self._cones.clear()
            self._cones[friction] = lines
        return self._cones[friction]


def _text(contact: ContactState) -> str:
    event = _EVENTS.get(contact.next_event)
    if event is None or not isfinite(contact.time_to_event):
        return str(contact.name)
    return f"{contact.name}: {event} in {1e3 * contact.time_to_event:.0f} ms"


def _deleted(marker: Marker) -> Marker:
    marker.action = Marker.DELETE
    return marker


def _finite(vector: Point | Vector3) -> bool:
    return isfinite(vector.x) and isfinite(vector.y) and isfinite(vector.z)


def _along(point: Point, direction: Vector3, length: float) -> Point:
    return Point(x=point.x + length * direction.x, y=point.y + length * direction.y, z=point.z + length * direction.z)


def _turn_up(normal: Vector3) -> Quaternion:
    """The smallest rotation that takes z to the normal; where the normal points down, a half turn about x."""
    length = hypot(normal.x, normal.y, normal.z)
    w = length + normal.z
    if w < 1e-9 * length:
        return Quaternion(x=1.0, y=0.0, z=0.0, w=0.0)
    norm = hypot(normal.x, normal.y, w)
    return Quaternion(x=-normal.y / norm, y=normal.x / norm, z=0.0, w=w / norm)
