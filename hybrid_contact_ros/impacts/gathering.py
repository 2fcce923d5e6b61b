"""From the samples of an impact to its set: one compiled call, and the confidence of its coverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.impacts.coverage import RADIUS, comparisons, coverage_bound
from hybrid_contact_ros.impacts.restitution import Material
from hybrid_contact_ros.impacts.sampler import Samples
from hybrid_contact_ros.kernels.impacts.coverage import BLOCK
from hybrid_contact_ros.kernels.impacts.records import TERMINATED
from hybrid_contact_ros.kernels.impacts.set_gathering import gather_set


@dataclass(slots=True, eq=False)
class Gathered:
    """A set; every array is new.

    Attributes:
        velocities (n, nv), impulses (n, m, 1 + d), lower, upper (nv,), coverage, coverage_radius, residual: as of
            :class:`~hybrid_contact_ros.impacts.outcome.VelocitySet`.
        terminated: (n,) bool. all_terminated: whether all did.
        energy: kinetic, J, before the impact, and the least and the largest after it of samples that terminated (NaN
            without any).
    """

    velocities: Array
    impulses: Array
    lower: Array
    upper: Array
    terminated: NDArray[np.bool_]
    all_terminated: bool
    coverage: float
    coverage_radius: float
    residual: float
    energy: tuple[float, float, float]


class Gathering:
    """Makes sets of the samples in one contact space.

    Args:
        space: may be filled in later, and anew. friction: (m,), the highest of the samples. material: None for the
            inelastic law with known friction.
    """

    def __init__(self, space: ContactSpace, friction: Array, material: Material | None) -> None:
        self._space, self._friction = space, friction
        n, m = space.L.shape[0], friction.size
        self._gain, self._slack = np.ones(m), 1.0
        if material is not None:
            self._gain, self._slack = np.ascontiguousarray(material.restitution_gain), material.residual_slack
        self._scratch = (np.empty(BLOCK), np.empty((m, m)), np.empty((n + 1, n)), np.empty(m), np.empty(m))
        self._jumps, self._columns = np.empty((0, n)), np.empty((n, 0))

    def of(self, velocity: Array, samples: Samples) -> Gathered:
        """The set of these samples of an impact with the velocity v⁻ (n,)."""
        space, info = self._space, samples.info
        count, n, m = len(info), velocity.size, self._friction.size
        if len(self._jumps) < count:
            self._jumps, self._columns = np.empty((count, n)), np.empty((n, count))
        velocities, impulses = np.empty((count, n)), np.empty((count, m, 1 + space.A.shape[1]))
        lower, upper = np.empty(n), np.empty(n)
        ended, hits, trials, radius, residual, *energy = gather_set(
            *(RADIUS, *comparisons(count), self._slack, space.speed),
            *(velocity, self._friction, self._gain),
            *space.response,
            *space.axes,
            *(samples.z, info),
            *(self._jumps[:count], self._columns, *self._scratch),
            *(velocities, impulses, lower, upper),
        )
        whole = ended == count
        return Gathered(
            velocities=velocities,
            impulses=impulses,
            lower=lower,
            upper=upper,
            terminated=np.ones(count, dtype=np.bool_) if whole else info[:, TERMINATED] > 0.0,
            all_terminated=whole,
            coverage=coverage_bound(hits, trials),
            coverage_radius=radius,
            residual=residual,
            energy=(energy[0], energy[1], energy[2]),
        )
