"""Which contacts of an impact matter: of many points on one sole, the corners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from hybrid_contact_ros.config import EstimatorConfig

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_FLAT = 1e-6  # of the largest extent: thinner sets of points are flat, or lines
_REMEMBERED = 64  # choices, of the few that come up again and again


class ContactVertices:
    """Leaves out the points of a configured contact that lie within the convex hull of its others.

    All points of one entry of ``contacts`` are on one link, with one radius, one plane and one material. A force on a
    point within the hull of others is one shared among these, and where they do not approach it does not either: the
    impact is the same without it, at a small part of the cost (many redundant contacts take an LCP from microseconds
    to seconds). The exception: friction that resists a spin is shared differently.
    """

    def __init__(self, config: EstimatorConfig, contacts: int) -> None:
        points = [np.reshape(contact.points, (-1, 3)) for contact in config.contacts.values()]
        spheres = sum(len(part) for part in points)
        self._points = np.concatenate([*points, np.zeros((contacts - spheres, 3))])
        sizes = [len(part) for part in points] + [1] * (contacts - spheres)  # joint limits are by themselves
        self._entry = np.repeat(np.arange(len(sizes)), sizes)
        self._known: dict[bytes, Indices] = {}

    def of(self, chosen: Indices) -> Indices:
        """Those of the ``chosen`` contacts (k,), ascending, that matter."""
        key = chosen.tobytes()
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            entries = self._entry[chosen]
            parts = [chosen[entries == entry] for entry in np.unique(entries)]
            found = np.sort(np.concatenate([part[extreme(self._points[part])] for part in parts] or [chosen]))
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
