"""Soles that lie in each other: two feet cannot be in the same place, so that one is not where it is said to be."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_DEEP = 0.005  # m; rectangles about two soles may share a corner
_LEVEL = 0.02  # m, by which the heights of soles may differ that are on the same ground


class _Sole(NamedTuple):
    """The contacts of a link. joint: that moves it. corners: (k, 2), m, along the ground. heights: (k,), m."""

    link: str
    joint: int
    corners: Array
    heights: Array


def overlapping(model: RigidBodyModel) -> list[tuple[str, str, float]]:
    """Pairs of links whose soles overlap at the neutral configuration, and by how much (m) at least.

    Only links with three contacts or more on the ground, at the same height, on different limbs: parts of one foot may
    overlap.
    """
    model.problem(RobotState(0, model.neutral(), np.zeros(model.nv)))  # places the contacts
    supports = model.pinocchio_model.supports
    soles = [sole for link in dict.fromkeys(model.contact_frames) if (sole := _sole(model, link)) is not None]
    found = []
    for one, other in combinations(soles, 2):
        same_limb = one.joint in supports[other.joint] or other.joint in supports[one.joint]
        level = abs(float(one.heights.mean() - other.heights.mean())) <= _LEVEL
        depth = _depth(one.corners, other.corners)
        if not same_limb and level and depth > _DEEP:
            found.append((one.link, other.link, depth))
    return found


def _sole(model: RigidBodyModel, link: str) -> _Sole | None:
    """The contacts of a link on level ground, where they are three or more that are not on one line."""
    frame = model.frame_of(link)
    chosen = [
        i
        for i, name in enumerate(model.contact_frames)
        if name == link and np.allclose(model.contact_normals[i], [0.0, 0.0, 1.0])
    ]
    if frame is None or len(chosen) < 3:
        return None
    points = model.contact_positions[chosen]
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    if float(np.linalg.svd(flat, compute_uv=False)[-1]) < _DEEP:
        return None
    return _Sole(link, frame[0], points[:, :2], points[:, 2])


def _depth(one: Array, other: Array) -> float:
    """How far two convex sets of corners have to move until they are apart: the least overlap along any line normal to
    an edge; 0 or less where they are apart."""
    depth = np.inf
    for corners in (one, other):
        for a, b in combinations(corners, 2):  # edges are among the lines through two corners
            edge = b - a
            length = float(np.linalg.norm(edge))
            if length > 0.0:
                normal = np.array([-edge[1], edge[0]]) / length
                p, q = one @ normal, other @ normal
                depth = min(depth, float(min(p.max() - q.min(), q.max() - p.min())))
    return depth
