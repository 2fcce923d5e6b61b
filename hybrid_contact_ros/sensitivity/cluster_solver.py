"""The words of a cluster of touchdowns of a robot, for predictions: compiled, and no exception for a bad state."""

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
from hybrid_contact_ros.sensitivity.cluster import ClusterSensitivity
from hybrid_contact_ros.sensitivity.cluster_memory import ClusterMemory, no_words

Array = NDArray[np.float64]

MOST_CONTACTS = 4
"""Contacts of a cluster: their orders have three dimensions, in which cones are integrated."""


class ClusterSolver:
    """Finds the words of clusters of touchdowns of one robot.

    It has memory of its own beside that of the model, whose arrays stay as they are, all of it made at construction.
    Use it from one thread at a time.

    Args:
        model: of the robot. most_contacts: of a cluster, at most 4. most_closed: contacts that rest before, at most.
        max_impacts: of a word. max_words: of a cluster.
        least: words with a smaller probability take no part in the mixture over words.
        follow: branches of the tree that are surely less probable are not followed, where a covariance is given, and
            their words are not listed; 0 follows all.

    Raises:
        ValueError: a number out of its range.
    """

    def __init__(
        self,
        model: RigidBodyModel,
        most_contacts: int = MOST_CONTACTS,
        most_closed: int = 4,
        max_impacts: int = 12,
        max_words: int = 64,
        least: float = 1e-3,
        follow: float = 0.0,
    ) -> None:
        if not 1 <= most_contacts <= MOST_CONTACTS or most_closed < 0 or max_impacts < 1 or max_words < 1:
            raise ValueError(
                f"most_contacts is {most_contacts}, most_closed {most_closed}, max_impacts {max_impacts}, max_words "
                f"{max_words}; they must be 1 to {MOST_CONTACTS}, 0 or more, and 1 or more"
            )
        if not (0.0 <= least < 1.0 and 0.0 <= follow < 0.5):
            raise ValueError(f"least is {least}, follow {follow}; they are probabilities, follow below 0.5")
        self._most = most_contacts, most_closed
        self._model = copy.copy(model)  # the same robot with another memory
        self._model.pinocchio_data = model.pinocchio_model.createData()
        self._model._prepare()
        sizes = [
            (k, k + more)
            for k in range(1, most_contacts + 1)
            for more in range(most_closed + 1)
            if k + more <= model.contacts
        ]
        self._sizes = {size: ClusterMemory(self._model, *size, max_impacts, max_words, least, follow) for size in sizes}

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
        if not cluster or set(cluster) & set(resting):
            raise ValueError(f"contacts {cluster} touch, and {resting} are closed: give some, in one set each")
        path = ahead * v_
        if acceleration is not None:
            path = path + 0.5 * ahead**2 * acceleration
            v_ = v_ + ahead * acceleration
        spread = None if covariance is None else _carried(model, q_, path, ahead, np.asarray(covariance, float))
        if ahead:
            q_ = model.integrate(q_, path)
        memory = self._sizes.get((len(cluster), len(cluster) + len(resting)))
        if memory is None:
            most = f"{self._most[0]} and {self._most[1]}"
            why = f"{len(cluster)} contacts touch and {len(resting)} rest; at most {most} are followed"
            return no_words(model, cluster, resting, ahead, q_, v_, EventValidity.CUT, why)
        mu = model.friction if friction is None else friction
        material = mu, model.restitution if restitution is None else restitution
        return memory.solve(q_, v_, cluster, resting, effort, material, ahead, spread)

    def warm(self) -> None:
        """Compile, or load, what :meth:`solve` needs; the only call that may take long."""
        model = self._model
        v = np.zeros(model.nv)
        model.evaluate(RobotState(0, model.bent(), v))
        v[:] = -model.rows.rows[0, 0]
        self.solve(model.bent(), v, [0], covariance=np.eye(2 * model.nv))


def _carried(model: RigidBodyModel, q: Array, path: Array, ahead: float, covariance: Array) -> Array:
    """The covariance after the motion along ``path``."""
    if not ahead:
        return covariance
    nv = model.nv
    carry = np.eye(2 * nv)
    carry[:nv, nv:] = ahead * np.eye(nv)
    if model.coordinates.reduction is None:
        by_q, by_path = pin.dIntegrate(model.pinocchio_model, q, path)
        carry[:nv, :nv], carry[:nv, nv:] = by_q, ahead * by_path
    return np.asarray(carry @ covariance @ carry.T)
