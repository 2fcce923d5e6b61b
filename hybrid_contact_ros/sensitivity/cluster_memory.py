"""The words of clusters of so many contacts of a robot: memory that is laid out once, and the calls of the kernels."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.kernels.bound import Bound
from hybrid_contact_ros.kernels.sensitivity.cluster_moments import cluster_moments, moments_scratch
from hybrid_contact_ros.kernels.sensitivity.cluster_words import cluster_words
from hybrid_contact_ros.kernels.sensitivity.cones import POINTS
from hybrid_contact_ros.kernels.sensitivity.corner import corner_step
from hybrid_contact_ros.kernels.sensitivity.records import WordsOut, cluster_memory
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import mode_steps
from hybrid_contact_ros.sensitivity.cluster import ClusterMoments, ClusterSensitivity

Array = NDArray[np.float64]

_CORNER_STEPS = 12  # of Newton's method towards the corner; two or three are the rule
_CORNER = 1e-8  # m: gaps below this are closed
_TOLERANCE, _MODE_TOLERANCE = 1e-9, 1e-8  # of the scaled residuals of impacts and modes
_WHY = {
    EventValidity.VALID: "",
    EventValidity.CUT: "more words than the cap",
    EventValidity.NOT_TOUCHING: "a contact does not approach: it has no time of touchdown",
    EventValidity.NOT_UNIQUE: "the contact mode before the touchdowns was not found",
    EventValidity.SINGULAR: "the mass is singular, or the state has numbers that are not finite",
}


class ClusterMemory:
    """Memory and doors for clusters of k contacts beside c − k that rest.

    Args:
        model: of the robot; its memory is overwritten by :meth:`solve`. k, c: contacts.
        max_impacts … follow: as of :class:`~.cluster_solver.ClusterSolver`.
    """

    def __init__(
        self,
        model: RigidBodyModel,
        k: int,
        c: int,
        max_impacts: int,
        max_words: int,
        least: float,
        follow: float,
    ) -> None:
        nv, m = model.nv, model.contacts
        self._model, self._k, self._c = model, k, c
        memory = cluster_memory(nv, model.pinocchio_model.nv, len(model.tree.parent), m, c, k, max_impacts, max_words)
        self._out: WordsOut = memory.out
        self._velocity, self._effort = np.zeros(nv), np.zeros(nv)
        self._friction, self._restitution = np.zeros(m), np.zeros(m)
        self._which, self._place = np.zeros(c, np.int64), np.zeros(c, np.int64)
        self._closed, self._slope = np.zeros(c, np.uint8), np.zeros(k)
        self._gap_mean, self._gap_covariance, self._chance = np.zeros(k), np.zeros((k, k)), np.zeros(1)
        self._low = NormalDist().inv_cdf(follow) if follow > 0.0 else -np.inf
        spheres = model.spheres
        self._words = Bound(
            cluster_words, mode_steps(c), _TOLERANCE, _MODE_TOLERANCE, *model.tree, *model.bodies, spheres.joint,
            spheres.point, spheres.radius, spheres.normal, spheres.tangent, model.joints.columns,
            model.joints.placement, model.here.mass, model.rows.rows, self._velocity, self._effort, self._friction,
            self._restitution, self._which, self._closed, self._place, self._slope, self._gap_mean,
            self._gap_covariance, self._chance, *memory.local, *memory.levels,
            *memory.impact, *memory.chain, *memory.state, *memory.out,
        )  # fmt: skip
        self._step = np.zeros(nv)
        self._corner = Bound(
            corner_step, model.here.mass, model.rows.rows, model.rows.gap, self._which, np.zeros((nv, nv)),
            np.zeros((c, nv)), np.zeros((c, c + 1)), np.zeros(c, np.int64), self._step,
        )  # fmt: skip
        n = 2 * nv
        self._covariance, self._mean, self._times = np.zeros((n, n)), np.zeros(n), np.zeros((k, n))
        self._sigma, self._probability = np.zeros(k), np.zeros(max_words)
        self._after, self._after_covariance = np.zeros(n), np.zeros((n, n))
        out, self._count = memory.out, np.zeros(1, np.int64)
        self._mixture = Bound(
            cluster_moments, POINTS, least, self._covariance, self._mean, self._times, self._count, out.corners,
            out.size, out.validity, out.velocity, out.matrix, *moments_scratch(nv, max_words), self._sigma,
            self._probability, self._after, self._after_covariance,
        )  # fmt: skip

    def solve(
        self, q: Array, v: Array, cluster: tuple[int, ...], resting: tuple[int, ...], effort: Array | None,
        material: tuple[Array, Array], ahead: float, covariance: Array | None,
    ) -> ClusterSensitivity:  # fmt: skip
        """The words of one cluster, from the state at the corner's instant.

        Args:
            q, v: (nq,), (nv,). cluster, resting: k and c − k contacts, ascending. effort: Sᵀτ (nv,), None for zero.
            material: μ and e (m,). ahead: s, for the record. covariance: (2 nv, 2 nv) of (δq, v) at this state.
        """
        model, nv = self._model, self._model.nv
        involved = sorted((*cluster, *resting))
        self._which[:] = involved
        self._place[:] = [cluster.index(i) if i in cluster else -1 for i in involved]
        self._closed[:] = self._place < 0
        self._velocity[:] = v
        self._effort[:] = 0.0 if effort is None else effort
        self._friction[:], self._restitution[:] = material
        corner, moved, gaps = self._to_corner(q, list(cluster))
        if corner is None:
            status, why = (
                (EventValidity.NOT_TOUCHING, "the gaps cannot be closed together")
                if np.isfinite(moved)
                else (EventValidity.SINGULAR, _WHY[EventValidity.SINGULAR])
            )
            return no_words(model, cluster, resting, ahead, q, v, status, why)
        self._chance[0] = -np.inf
        if covariance is not None:
            self._mean[:nv] = model.difference(corner, q)
            if self._low > -np.inf:
                normals = model.rows.rows[list(cluster), 0]
                self._gap_mean[:] = normals @ self._mean[:nv]
                self._gap_covariance[:] = normals @ covariance[:nv, :nv] @ normals.T
                self._chance[0] = self._low
        code, count, spread = self._words.call()
        status = EventValidity(code)
        if count == 0:
            return no_words(model, cluster, resting, ahead, corner, v, status, _WHY[status])
        self._times[:, :nv] = model.rows.rows[list(cluster), 0] / self._slope[:, None]
        moments = None
        if covariance is not None:
            self._mean[nv:] = v - self._velocity
            moments = self._moments(count, covariance)
        return self._record(
            status, cluster, resting, ahead, corner, moved, gaps, count, spread, involved, moments
        )  # fmt: skip

    def _to_corner(self, q: Array, cluster: list[int]) -> tuple[Array | None, float, Array]:
        """The corner, √J s to there, and the gaps at the state; None where there is none."""
        model, moved, gaps = self._model, 0.0, np.zeros(0)
        for step in range(_CORNER_STEPS):
            model.evaluate(RobotState(0, q, self._velocity))
            if step == 0:
                gaps = model.rows.gap[cluster]
            largest, length = self._corner.call()
            if largest <= _CORNER:
                return q, moved, gaps
            moved += length
            if not np.isfinite(length):
                return None, length, gaps
            q = model.integrate(q, self._step)
        return None, moved, gaps

    def _moments(self, count: int, covariance: Array) -> ClusterMoments:
        self._covariance[:], self._count[0] = covariance, count
        total = self._mixture.call()
        return ClusterMoments(
            self._sigma.copy(), self._probability[:count].copy(), max(0.0, 1.0 - total), self._after.copy(),
            self._after_covariance.copy(),
        )  # fmt: skip

    def _record(
        self, status: EventValidity, cluster: tuple[int, ...], resting: tuple[int, ...], ahead: float, corner: Array,
        moved: float, gaps: Array, count: int, spread: float, involved: list[int], moments: ClusterMoments | None,
    ) -> ClusterSensitivity:  # fmt: skip
        out, c = self._out, self._c
        names = tuple((kind, i) for kind in ("friction", "restitution", "height") for i in involved)
        by_height = np.zeros((self._k, 3 * c))
        for j, contact in enumerate(cluster):
            by_height[j, 2 * c + involved.index(contact)] = -1.0 / self._slope[j]
        longest, height = int(out.impacts[:count].max()), int(out.cone_rows[:count].max())
        return ClusterSensitivity(
            status=status,
            why=_WHY[status],
            contacts=cluster,
            closed=resting,
            ahead=ahead,
            q=corner,
            velocity_before=self._velocity.copy(),
            moved=moved,
            gaps=gaps,
            speeds=self._slope.copy(),
            times=self._times.copy(),
            spread=spread,
            impacts=out.impacts[:count].copy(),
            struck=out.struck[:count, :longest].copy(),
            rests=out.rests[:count, :longest].copy(),
            validity=out.validity[:count].copy(),
            cone_rows=out.cone_rows[:count].copy(),
            cones=out.cones[:count, :height].copy(),
            last_time=out.last_time[:count].copy(),
            velocity=out.velocity[:count].copy(),
            acceleration=out.acceleration[:count].copy(),
            matrix=out.matrix[:count].copy(),
            rank=out.rank[:count].copy(),
            parameters=names,
            parameter_matrix=out.columns[:count].copy(),
            parameter_times=by_height,
            moments=moments,
        )


def no_words(
    model: RigidBodyModel, contacts: tuple[int, ...], closed: tuple[int, ...], ahead: float, q: Array, v: Array,
    status: EventValidity, why: str,
) -> ClusterSensitivity:  # fmt: skip
    """A record without words, and ``why`` in words: ``ahead`` in s, q (nq,) and v (nv,) of the state it is for."""
    k, n, m = len(contacts), model.nv, model.contacts
    model.evaluate(RobotState(0, q, v))
    rate = model.rows.rows[list(contacts), 0] @ v
    return ClusterSensitivity(
        status, why, contacts, closed, ahead, q, v, 0.0, model.rows.gap[list(contacts)], -rate, np.zeros((0, 2 * n)),
        0.0, np.zeros(0, np.int64), np.zeros((0, 0, m), np.uint8), np.zeros((0, 0, m), np.uint8),
        np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros((0, 0, k)), np.zeros((0, k)), np.zeros((0, n)),
        np.zeros((0, n)), np.zeros((0, 2 * n, 2 * n)), np.zeros(0, np.int64), (), np.zeros((0, 2 * n, 0)),
        np.zeros((0, 0)), None,
    )  # fmt: skip
