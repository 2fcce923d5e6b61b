"""Saltation matrices where a slip comes to rest: it sticks or, in the plane, turns back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Balance, Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.local_event import LocalEvent
from hybrid_contact_ros.sensitivity.mode_gradient import Motion, motion_of
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal, saltation
from hybrid_contact_ros.sensitivity.spatial_slip_end import approach
from hybrid_contact_ros.sensitivity.touchdown import unsolvable

Array = NDArray[np.float64]
_DEPENDENT = 1e-7  # relative: what is left of rows that others imply


def stick_saltation(
    event: LocalEvent, after: ContactMode | None = None, *, together: frozenset[int] = frozenset()
) -> Saltation:
    """Ξ of a slip that comes to rest.

    In the plane the guard is the speed along the slip, h = s J_t v, and Ξ = I + (F⁺ − F⁻) Dh / (Dh F⁻). Where the
    contact then sticks, s J_t v̇ + s J̇_t v = 0, so that Dh Ξ = 0: the speed of slip is lost.

    In space the slip ends on a set of codimension two, which no single guard describes. Close to it only the slip's
    direction is fast, and that takes changes of the state through an oblique projection Π to those without a slip
    across the direction of approach ŝ (:func:`~.spatial_slip_end.approach`). Then the speed along ŝ ends by the guard
    formula, and

        Ξ = (I + (F⁺ − F⁻) Dh / (Dh F⁻)) Π,      h = ŝ·J_t v.

    Two directions are lost. That holds where the slip is attracted to ŝ, or its direction stays as it is. Otherwise the
    answer is SPATIAL_SLIP_END.

    Args:
        event: its contact stops. after: the mode after, by default with the contact sticking. Where it slides, it
            turns back, which takes a plane.
        together: other contacts that stop with this one because closed rows tie them to it, as the corners of a block.

    Raises:
        ValueError: the event or ``after`` names contacts that do not exist, or v has a wrong size.
    """
    contact, before, v_ = event.contact, event.before, event.v
    stopping = who = together | {contact}
    here = event.gradient(after)
    if not stopping <= before.closed & before.sliding:
        return refusal("stick", who, Validity.NOT_TOUCHING, f"contact {contact} does not slide before the event")
    mode = after or before.changed(before.closed, before.sliding - stopping)
    kind = "reversal" if contact in mode.sliding else "stick"
    try:
        ahead = motion_of(here.problem, before, 0.0)
        if not _tied(here.problem, before, ahead, contact, together):
            why = f"{len(stopping)} slips end at one instant, and near it in several orders"
            return refusal(kind, who, Validity.SIMULTANEOUS, why)
        if contact in mode.sliding and not mode.directions:
            turned = {i: -ahead.edges[i] for i in stopping}
            mode = ContactMode(mode.closed, mode.sliding, turned, mode.kinetic)
        behind = motion_of(event.problem(mode), mode, event.resting)
    except Unsolvable as error:
        return refusal(kind, who, unsolvable(error), error.why)
    except ValueError as error:
        return refusal(kind, who, Validity.UNEXPLAINED, str(error))
    slip, rates = ahead.edges[contact], here.rates(v_)[contact, 1:]
    reset, lost = np.eye(2 * len(v_)), (f"slip along its direction of contact {contact}",) * (kind == "stick")
    if here.problem.tangents == 2:
        if kind == "reversal":
            why = "in space no slip turns back through rest, unless by chance"
            return refusal(kind, who, Validity.SPATIAL_SLIP_END, why)
        last = approach(here.problem, before, contact, stopping, rates)
        if isinstance(last, str):
            return refusal(kind, who, Validity.SPATIAL_SLIP_END, last)
        ahead, slip, reset = last.motion, last.slip, last.projection
        lost = (*lost, f"slip across its direction of contact {contact}")
    guard = np.concatenate((slip @ rates, slip @ here.problem.tangent_jacobian[contact]))
    found = saltation(
        np.eye(len(guard)),
        guard,
        ahead.field,
        behind.field,
        velocity_after=v_,
        kind=kind,
        contacts=who,
        lost=lost,
    )
    if here.problem.tangents == 1 or found.matrix is None or found.time is None or found.velocity_gradient is None:
        return found
    n = len(v_)
    time_gradient = found.time @ reset
    return Saltation(
        kind, who, Validity.VALID, "", found.matrix @ reset, time_gradient, v_,
        found.velocity_gradient @ reset, lost=lost, parameter_matrix=np.zeros((2 * n, 0)), parameter_time=np.zeros(0),
    )  # fmt: skip


def _tied(problem: ContactProblem, mode: ContactMode, ahead: Motion, contact: int, together: frozenset[int]) -> bool:
    """Whether the closed rows make all of these contacts slip alike, so that one cannot stop without the others."""
    rows = Balance(problem, mode.rows(problem), ahead.edges).closed
    for i in together:
        apart = problem.tangent_jacobian[i] - problem.tangent_jacobian[contact]
        left = apart.T - rows.T @ np.linalg.lstsq(rows.T, apart.T, rcond=1e-9)[0]
        if np.abs(left).max() > _DEPENDENT * np.abs(problem.tangent_jacobian[i]).max():
            return False
    return True
