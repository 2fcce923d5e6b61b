"""Coordinates of the model: those of Pinocchio without the coordinates of joints that mimic another."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.urdf import Urdf

Array = NDArray[np.float64]


class Coordinates:
    """Independent coordinates (q, v) of a model, and the full ones of its Pinocchio model.

    A mimic joint is an exact linear constraint, v_full = T v with T constant, so that M = Tᵀ M_full T, h = Tᵀ h_full
    and J = J_full T, with no further terms. (Pinocchio's own mimic joints serve crba and rnea only.) Without mimic
    joints the two are the same and nothing is copied.

    Attributes:
        nq, nv: number of independent coordinates. joints: names of the joints that have them, in Pinocchio's order.
        position_index, velocity_index: first index of each of those joints in q and v.
        continuous: which of those joints are (cos, sin) pairs in q.
        followers: names of the mimic joints. reduction: T (nv_full, nv), or None without mimic joints.
        lead, ratio: (nv_full,), the column of the one entry in each row of T, and the entry.
    """

    def __init__(self, model: pin.Model, urdf: Urdf, floating_base: bool) -> None:
        first = 2 if floating_base else 1
        ids = range(first, model.njoints)
        self.followers = tuple(model.names[j] for j in ids if model.names[j] in urdf.mimics)
        follows = {j for j in ids if model.names[j] in urdf.mimics}
        self.joints = tuple(model.names[j] for j in ids if j not in follows)
        dropped_q = [model.joints[j].idx_q for j in follows]
        dropped_v = [model.joints[j].idx_v for j in follows]
        self._kept_q = np.delete(np.arange(model.nq), dropped_q)
        self._kept_v = kept_v = np.delete(np.arange(model.nv), dropped_v)
        self.nq, self.nv = len(self._kept_q), len(kept_v)
        q_of, v_of = np.full(model.nq, -1), np.full(model.nv, -1)
        q_of[self._kept_q], v_of[kept_v] = np.arange(self.nq), np.arange(self.nv)
        independent = [model.joints[j] for j in ids if j not in follows]
        self.position_index = np.array([q_of[joint.idx_q] for joint in independent], dtype=np.intp)
        self.velocity_index = np.array([v_of[joint.idx_v] for joint in independent], dtype=np.intp)
        self.continuous = np.array([joint.nq == 2 for joint in independent], dtype=bool)
        self._floating = floating_base
        self._cosine = self.position_index[self.continuous]

        self._model = model
        self._base = np.zeros(model.nq)
        self._expansion = np.zeros((model.nq, self.nq))
        self._expansion[self._kept_q, np.arange(self.nq)] = 1.0
        reduction = np.zeros((model.nv, self.nv))
        reduction[kept_v, np.arange(self.nv)] = 1.0
        for j in follows:
            leader, multiplier, offset = _resolve(model.names[j], urdf)
            lead = model.joints[model.getJointId(leader)]
            self._expansion[model.joints[j].idx_q, q_of[lead.idx_q]] = multiplier
            self._base[model.joints[j].idx_q] = offset
            reduction[model.joints[j].idx_v, v_of[lead.idx_v]] = multiplier
        self.reduction: Array | None = reduction if follows else None
        self.lead = np.array([int(np.abs(row).argmax()) for row in reduction], dtype=np.int64)
        self.ratio: Array = reduction[np.arange(model.nv), self.lead]

    def full_position(self, q: Array) -> Array:
        """Configuration of the Pinocchio model (nq_full,) for the independent one (nq,)."""
        return q if self.reduction is None else self._base + self._expansion @ q

    def reduced_position(self, full: Array) -> Array:
        """The independent configuration (nq,) of the Pinocchio model's (nq_full,)."""
        return full if self.reduction is None else full[self._kept_q]

    def full_velocity(self, v: Array) -> Array:
        """Velocity of the Pinocchio model (nv_full,) for the independent one (nv,)."""
        return v if self.reduction is None else self.reduction @ v

    def normalised(self, q: Array) -> Array:
        """q (nq,) with unit quaternion and unit (cos, sin) pairs, as a new array."""
        unit = q.copy()
        if self._floating:
            unit[3:7] /= math.sqrt(unit[3] ** 2 + unit[4] ** 2 + unit[5] ** 2 + unit[6] ** 2)
        if self._cosine.size:
            length = np.hypot(unit[self._cosine], unit[self._cosine + 1])
            unit[self._cosine] /= length
            unit[self._cosine + 1] /= length
        return unit

    def rate(self, q: Array, v: Array) -> Array:
        """q̇ (nq,) of a velocity v (nv,), linear in quaternions and (cos, sin) pairs, whose lengths it preserves."""
        found = np.empty(self.nq)
        found[self.position_index] = v[self.velocity_index]
        if self._cosine.size:
            turn = v[self.velocity_index[self.continuous]]
            found[self._cosine], found[self._cosine + 1] = -turn * q[self._cosine + 1], turn * q[self._cosine]
        if self._floating:
            x, y, z, w = q[3:7].tolist()
            a, b, c = v[3:6].tolist()
            square = x * x + y * y + z * z + w * w
            turned = np.array(
                [
                    [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                    [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
                    [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
                ]
            )
            found[:3] = turned @ v[:3] / square  # world velocity of the base's origin
            found[3:7] = (
                0.5 * (w * a + y * c - z * b),
                0.5 * (w * b + z * a - x * c),
                0.5 * (w * c + x * b - y * a),
                -0.5 * (x * a + y * b + z * c),
            )
        return found

    @staticmethod
    def base_slope(step: Array) -> Array:
        """B (6, 6), with which the base at q ⊕ ``step`` has the velocity B d(step)/dt: the right Jacobian of SE(3)."""
        return np.asarray(pin.Jexp6(step), dtype=np.float64)

    def integrate(self, q: Array, step: Array) -> Array:
        """The configuration reached from q (nq,) by the displacement ``step`` (nv,), a velocity times a time."""
        return self.reduced_position(pin.integrate(self._model, self.full_position(q), self.full_velocity(step)))

    def difference(self, start: Array, end: Array) -> Array:
        """The displacement (nv,) that leads from one configuration (nq,) to another: the inverse of
        :meth:`integrate`."""
        full = pin.difference(self._model, self.full_position(start), self.full_position(end))
        return np.asarray(full if self.reduction is None else full[self._kept_v], dtype=np.float64)


def _resolve(name: str, urdf: Urdf) -> tuple[str, float, float]:
    """The joint that ``name`` follows in the end, through followers of followers, with multiplier and offset."""
    mimic = urdf.mimics[name]
    leader, multiplier, offset = mimic.leader, mimic.multiplier, mimic.offset
    while leader in urdf.mimics:
        mimic = urdf.mimics[leader]
        leader, offset = mimic.leader, multiplier * mimic.offset + offset
        multiplier *= mimic.multiplier
    return leader, multiplier, offset
