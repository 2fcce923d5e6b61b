"""The words of a cluster of touchdowns of a robot, for predictions: memory made once, and no exception for a bad state."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.sensitivity.cluster import ClusterMoments, ClusterSensitivity
from hybrid_contact_ros.sensitivity.words import TouchdownWords, touchdown_words
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]

_RANK = 1e-9  # smaller singular values, relative to the largest, are zero
_DRAWS = 1 << 14


class ClusterSolver:
    """Finds the words of clusters of touchdowns of one robot.

    It has memory of its own beside that of the model, whose arrays stay as they are. Use it from one thread at a time.

    Args:
        model: of the robot. most_contacts: of a cluster, at most 4. most_closed: contacts that rest before, at most.
        max_impacts: of a word. max_words: of a cluster.
    """

    def __init__(
        self,
        model: RigidBodyModel,
        most_contacts: int = 4,
        most_closed: int = 4,
        max_impacts: int = 12,
        max_words: int = 64,
    ) -> None:
        if not 1 <= most_contacts <= 4 or most_closed < 0 or max_impacts < 1 or max_words < 1:
            raise ValueError("most_contacts is 1 to 4, most_closed 0 or more, max_impacts and max_words 1 or more")
        self._most = most_contacts, most_closed
        self._caps = max_impacts, max_words
        self._model = copy.copy(model)  # the same robot with another memory
        self._model.pinocchio_data = model.pinocchio_model.createData()
        self._model._prepare()

    def solve(
        self,
        q: Array,
        v: Array,
        contacts: Iterable[int],
        closed: Iterable[int] = (),
        effort: Array | None = None,
        *,
        ahead: float = 0.0,
        acceleration: Array | None = None,
        friction: Array | None = None,
        restitution: Array | None = None,
        covariance: Array | None = None,
    ) -> ClusterSensitivity:
        """All words of a cluster.

        The corner's instant is ``ahead`` after the state, which moves there with the acceleration that is given; at the
        corner the contacts are brought to touch together, as :func:`~.words.touchdown_words` says.

        Args:
            q, v: the state (nq,), (nv,). contacts: of the cluster. closed: that rest before.
            effort: Sᵀτ and all other generalised forces (nv,), which stay what they are.
            ahead: s. acceleration: v̇ (nv,) until then; zero by default.
            friction, restitution: (m,), those of the model by default.
            covariance: (2 nv, 2 nv) of (δq, v) at the given state; it is carried ahead as that of a motion whose
                acceleration does not depend on the state.

        Raises:
            ValueError: sizes and indices. Whatever the state may lead to is told by the record's ``status``.
        """
        model = self._model
        q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        if q_.shape != (model.nq,) or v_.shape != (model.nv,):
            raise ValueError(f"q and v have shapes {q_.shape} and {v_.shape}; ({model.nq},), ({model.nv},) are needed")
        cluster = tuple(sorted(contact_set("contacts", contacts, model.contacts)))
        resting = tuple(sorted(contact_set("closed", closed, model.contacts)))
        if acceleration is not None:
            v_ = v_ + ahead * acceleration
        path = ahead * v_ if acceleration is None else ahead * v_ - 0.5 * ahead**2 * acceleration
        carried = None if covariance is None else _carried(model, q_, path, ahead, np.asarray(covariance, float))
        q_ = model.integrate(q_, path)
        if friction is not None:
            model.friction = np.array(friction, dtype=np.float64)
        if restitution is not None:
            model.restitution = np.array(restitution, dtype=np.float64)
        system = RobotSystem(model, effort)
        if len(cluster) > self._most[0] or len(resting) > self._most[1]:
            why = f"{len(cluster)} contacts touch and {len(resting)} rest; at most {self._most} are followed"
            return _nothing(system, cluster, resting, ahead, q_, v_, EventValidity.CUT, why)
        try:
            words = touchdown_words(system, q_, v_, cluster, resting, None, *self._caps)
        except ValueError as error:
            code = EventValidity.SINGULAR if "singular" in str(error) else EventValidity.NOT_TOUCHING
            return _nothing(system, cluster, resting, ahead, q_, v_, code, str(error))
        return _record(system, words, ahead, q_, v_, carried, self._caps[0])


def _carried(model: RigidBodyModel, q: Array, path: Array, ahead: float, covariance: Array) -> Array:
    """The covariance after the motion along ``path``."""
    nv = model.nv
    carry = np.eye(2 * nv)
    carry[:nv, nv:] = ahead * np.eye(nv)
    if ahead and model.coordinates.reduction is None:
        by_q, by_path = pin.dIntegrate(model.pinocchio_model, q, path)
        carry[:nv, :nv], carry[:nv, nv:] = by_q, ahead * by_path
    return np.asarray(carry @ covariance @ carry.T)


def _nothing(
    system: RobotSystem,
    contacts: tuple[int, ...],
    closed: tuple[int, ...],
    ahead: float,
    q: Array,
    v: Array,
    status: EventValidity,
    why: str,
) -> ClusterSensitivity:
    """A record without words."""
    k, n, m = len(contacts), system.nv, system.contacts
    problem = system.model.problem(RobotState(0, q, v))
    rate = problem.normal_jacobian[list(contacts)] @ v
    return ClusterSensitivity(
        status, why, contacts, closed, ahead, q, v, 0.0, problem.gap[list(contacts)], -rate, np.zeros((0, 2 * n)), 0.0,
        np.zeros(0, np.int64), np.zeros((0, 0, m), np.uint8), np.zeros((0, 0, m), np.uint8), np.zeros(0, np.uint8),
        np.zeros(0, np.int64), np.zeros((0, 0, k)), np.zeros((0, k)), np.zeros((0, n)), np.zeros((0, n)),
        np.zeros((0, 2 * n, 2 * n)), np.zeros(0, np.int64), (), np.zeros((0, 2 * n, 0)), np.zeros((0, 0)), None,
    )  # fmt: skip


def _record(
    system: RobotSystem, words: TouchdownWords, ahead: float, q: Array, v: Array, covariance: Array | None, most: int
) -> ClusterSensitivity:
    """The words as arrays."""
    n, m, count, k = system.nv, system.contacts, len(words.words), len(words.contacts)
    involved = sorted((*words.contacts, *words.closed))
    names = tuple((kind, i) for kind in ("friction", "restitution", "height") for i in involved)
    struck, rests = np.zeros((2, count, most, m), np.uint8)
    velocity, acceleration = np.full((2, count, n), np.nan)
    matrix, columns = np.full((count, 2 * n, 2 * n), np.nan), np.full((count, 2 * n, len(names)), np.nan)
    rank, height = np.zeros(count, np.int64), max(len(word.gap_cone) for word in words.words)
    cones, cone_rows, last = np.zeros((count, height, k)), np.zeros(count, np.int64), np.zeros((count, k))
    for j, word in enumerate(words.words):
        for i, step in enumerate(word.chain):
            struck[j, i, sorted(step.struck)] = 1
            rests[j, i, sorted(step.rests)] = 1
        cone_rows[j], last[j] = len(word.gap_cone), word.time
        cones[j, : cone_rows[j]] = word.gap_cone
        if word.matrix is None:
            continue
        velocity[j], acceleration[j], matrix[j] = word.velocity, word.acceleration, word.matrix
        columns[j] = np.array([word.parameter_column(name) for name in names]).T
        sizes = np.linalg.svd(word.matrix, compute_uv=False)
        rank[j] = (sizes > _RANK * sizes[0]).sum()
    by_height = np.zeros((k, len(names)))
    for j, contact in enumerate(words.contacts):
        by_height[j, names.index(("height", contact))] = -1.0 / words.speeds[j]
    cut = any(word.validity == EventValidity.CUT and len(word.chain) < most for word in words.words)
    gaps = system.gap(q)[list(words.contacts)]
    found = ClusterSensitivity(
        status=EventValidity.CUT if cut else EventValidity.VALID,
        why="more words than the cap" if cut else "",
        contacts=words.contacts,
        closed=tuple(sorted(words.closed)),
        ahead=ahead,
        q=words.q,
        velocity_before=words.v,
        moved=words.moved,
        gaps=gaps,
        speeds=words.speeds,
        times=words.times,
        spread=words.spread,
        impacts=np.array([len(word.chain) for word in words.words]),
        struck=struck,
        rests=rests,
        validity=np.array([word.validity for word in words.words], np.uint8),
        cone_rows=cone_rows,
        cones=cones,
        last_time=last,
        velocity=velocity,
        acceleration=acceleration,
        matrix=matrix,
        rank=rank,
        parameters=names,
        parameter_matrix=columns,
        parameter_times=by_height,
        moments=None,
    )
    if covariance is None:
        return found
    mean = np.concatenate((pin_difference(system, words.q, q), v - words.v))
    object.__setattr__(found, "moments", _moments(found, covariance, mean))
    return found


def pin_difference(system: RobotSystem, q: Array, other: Array) -> Array:
    """The displacement (nv,) from q to another configuration."""
    coordinates = system.model.coordinates
    model = system.model.pinocchio_model
    full = pin.difference(model, coordinates.full_position(q), coordinates.full_position(other))
    if coordinates.reduction is None:
        return np.asarray(full)
    return np.asarray(np.linalg.lstsq(coordinates.reduction, full, rcond=None)[0])


def _moments(found: ClusterSensitivity, covariance: Array, mean: Array) -> ClusterMoments:
    """Moments by draws of the gaps, of which δx is a linear function and independent noise."""
    n = len(found.velocity_before)
    to_gaps = found.times * found.speeds[:, None]
    spread, middle = to_gaps @ covariance @ to_gaps.T, to_gaps @ mean
    gain = covariance @ to_gaps.T @ np.linalg.pinv(spread)
    root = np.linalg.cholesky(spread + 1e-12 * np.trace(spread) * np.eye(len(spread)))
    draws = middle + np.random.default_rng(0).normal(size=(_DRAWS, len(middle))) @ root.T
    margins = np.array([
        (draws @ found.cones[j, : found.cone_rows[j]].T).min(axis=1, initial=np.inf) for j in range(found.words)
    ])  # fmt: skip
    taken = margins.argmax(axis=0)
    probability, total, first, second = np.zeros(found.words), 0.0, np.zeros(2 * n), np.zeros((2 * n, 2 * n))
    for j in range(found.words):
        there = draws[taken == j]
        probability[j] = len(there) / _DRAWS
        if not len(there) or found.validity[j] != EventValidity.VALID:
            continue
        cov = np.cov(there.T).reshape(len(middle), -1) if len(there) > 1 else np.zeros_like(spread)
        inside = covariance + gain @ (cov - spread) @ gain.T
        after = found.matrix[j] @ (mean + gain @ (there.mean(axis=0) - middle))
        after[n:] += found.velocity[j]
        total += probability[j]
        first += probability[j] * after
        second += probability[j] * (found.matrix[j] @ inside @ found.matrix[j].T + np.outer(after, after))
    share = total if total > 0.0 else np.nan
    first, second = first / share, second / share
    sigma = np.sqrt(np.einsum("ij,jk,ik->i", found.times, covariance, found.times))
    return ClusterMoments(sigma, probability, 1.0 - total, first, second - np.outer(first, first))
