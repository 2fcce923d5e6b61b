"""Tangents turned so that the first is along the slip: a friction polygon then has a vertex against the slip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
_ROUNDING = 1e-12  # a slip slower than this part of Σ|J_t||v| is rounding of zero, and has no direction


def along_slip(problem: ContactProblem) -> tuple[ContactProblem, Array]:
    """Turn the tangents of each contact so that the first is along its tangential velocity J_t v.

    A friction polygon of k vertices is exact along its vertices; elsewhere it is off by up to 180°/k, or short of the
    cone by up to 1 − cos(180°/k). With turned tangents the friction of a contact that goes on sliding as it does is
    exact for any k. Contacts that do not slide, and all in the plane, keep their tangents. A tangential impulse Λ_t of
    the turned problem is turnsᵀ Λ_t in the tangents of ``problem``.

    Returns:
        The problem, and turns (m, d, d): new tangents are turns @ tangents.
    """
    m, d = problem.contacts, problem.tangents
    if d != 2 or m == 0:
        return problem, np.tile(np.eye(d), (m, 1, 1))
    tangents, v = problem.tangent_jacobian, problem.velocity
    slip = tangents @ v
    added = np.abs(tangents) @ np.abs(v)  # the terms whose sum is the slip
    speed = np.sqrt((slip * slip).sum(axis=1))
    slides = speed > _ROUNDING * np.sqrt((added * added).sum(axis=1))
    along = np.zeros((m, 2))
    along[:, 0] = 1.0
    np.divide(slip, speed[:, None], out=along, where=slides[:, None])
    turns = np.empty((m, 2, 2))
    turns[:, 0] = along
    turns[:, 1, 0] = -along[:, 1]
    turns[:, 1, 1] = along[:, 0]
    if not slides.any():
        return problem, turns
    drift = problem.jacobian_drift.copy()
    drift[:, 1:] = (turns @ drift[:, 1:, None])[:, :, 0]
    return problem.replace_trusted(tangent_jacobian=turns @ tangents, jacobian_drift=drift), turns
