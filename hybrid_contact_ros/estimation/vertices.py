"""Which contacts of an impact matter: of many points on one sole, the corners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from hybrid_contact_ros.config import EstimatorConfig

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_FLAT = 1e-6  # Points whose extent in a direction is below this part of their largest lie in a plane, or on a line.
_CHOICES_REMEMBERED = 64  # A robot's impacts are of a few sets of contacts that come up again and again.
_CORNERS_LIMIT = 24  # of one impact; beyond it soles are rounded
_ROUNDED = (8, 6, 4)  # Corners that stand for a sole with more, tried in turn until the limit holds.


class ContactVertices:
    """Leaves out the contact points of a sole that lie within the convex hull of its others.

    A sole consists of the points on one link with one radius, one plane and one material. A force on a point within the
    hull of others acts as forces shared among these, and where they do not approach, the point does not either. The
    impact is the same without the point, at a small part of the cost (many redundant contacts take an LCP from
    microseconds to seconds), except that friction which resists a spin is shared differently.

    Where more than 24 corners are left, soles that have more than eight (then six, then four) are taken as polygons
    with that many of their corners, as far apart as can be: an approximation, within the rounding of the sole's edge.
    """

    def __init__(self, config: EstimatorConfig, contacts: int) -> None:
        points = [np.reshape(contact.points, (-1, 3)) for contact in config.contacts.values()]
        spheres = sum(len(part) for part in points)
        self._points = np.concatenate([*points, np.zeros((contacts - spheres, 3))])
        soles: dict[object, int] = {}
        entries: list[int] = []
        for contact, part in zip(config.contacts.values(), points, strict=True):
            same = contact.link, contact.radius, contact.environment, contact.friction, contact.restitution
            entries += [soles.setdefault(same, len(soles))] * len(part)
        entries += range(len(soles), len(soles) + contacts - spheres)  # joint limits are by themselves
        self._entry = np.array(entries, dtype=np.intp)
        self._known: dict[bytes, Indices] = {}

    def soles(self, contacts: Indices) -> Indices:
        """The number of the sole that each of these contacts (k,) is on; of a joint limit one of its own."""
        return self._entry[contacts]

    def of(self, chosen: Indices) -> Indices:
        """Those of the ``chosen`` contacts (k,), in ascending order, that matter."""
        key = chosen.tobytes()
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _CHOICES_REMEMBERED:
                self._known.clear()
            entries = self._entry[chosen]
            parts = [chosen[entries == entry] for entry in np.unique(entries)]
            parts = [part[extreme(self._points[part])] for part in parts]
            for corners in _ROUNDED:
                if sum(len(part) for part in parts) > _CORNERS_LIMIT:
                    parts = [part[spread(self._points[part], corners)] for part in parts]
            found = np.sort(np.concatenate(parts or [chosen]))
            self._known[key] = found
        return found


def extreme(points: Array) -> Indices:
    """Indices of the vertices of the convex hull of points (k, 3), which may lie in a plane or on a line."""
    every = np.arange(len(points))
    centred = points - points.mean(axis=0)
    _, extent, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int((extent > _FLAT * max(float(extent.max()), 1e-300)).sum()) if extent.any() else 0
    if rank == 0:
        return every[:1]
    flat = centred @ axes[:rank].T
    if rank == 1:
        return np.unique([flat[:, 0].argmin(), flat[:, 0].argmax()])
    if len(points) <= rank + 1:
        return every
    try:
        return np.sort(ConvexHull(flat).vertices.astype(np.intp))
    except QhullError:
        return every


def spread(points: Array, limit: int) -> Indices:
    """Indices of at most ``limit`` points of (k, 3) that are far apart, the first of them farthest from their mean."""
    if len(points) <= limit:
        return np.arange(len(points))
    near = np.linalg.norm(points - points.mean(axis=0), axis=1)
    chosen = [int(near.argmax())]
    near[:] = np.inf
    while len(chosen) < limit:
        near = np.minimum(near, np.linalg.norm(points - points[chosen[-1]], axis=1))
        chosen.append(int(near.argmax()))
    return np.sort(np.array(chosen, dtype=np.intp))
