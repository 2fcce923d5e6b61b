"""Saltation matrices of liftoff and of the begin of a slip: events that forces decide, and that change no velocity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode, Direction
from hybrid_contact_ros.sensitivity.gradients import depends_on_time, differences
from hybrid_contact_ros.sensitivity.local_event import LocalEvent
from hybrid_contact_ros.sensitivity.mode_gradient import Motion, MotionDerivative, motion_derivative, motion_of
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal, saltation
from hybrid_contact_ros.sensitivity.touchdown import unsolvable

Array = NDArray[np.float64]
_SAME = (
    1e-6  # of the accelerations, free ones included: fields that differ by less, without a switch of efforts, are one
)
_TIME_STEP = 1e-4  # s, of differences for forces that depend on time
_AT_GUARD = 1e-4  # of the forces: so far from zero a force has not vanished yet


def liftoff_saltation(
    event: LocalEvent, after: ContactMode | None = None, *, controls: Array | None = None
) -> Saltation:
    """Ξ of a liftoff: the normal force of a closed contact falls to zero.

    Motion is continuous there, so that Ξ is the identity, unless efforts switch with the contact mode: then
    Ξ = I + (F⁺ − F⁻) Dh / (Dh F⁻) with h = λ_n (Johnson's §4.6; most walking controllers).

    Args:
        event: its contact leaves. after: the mode after, by default that without the contact.
        controls: ∂(Sᵀτ)/∂u (nv, u) of control parameters u (Pace (27)), for columns of their own.

    Returns:
        The saltation; its parameters are μ of the closed contacts, and ("control", k). Or the reason why there is none.

    Raises:
        ValueError: the event or ``after`` names contacts that do not exist, or v has a wrong size.
    """
    return _force_saltation("liftoff", event, after, controls)


def slip_saltation(event: LocalEvent, after: ContactMode | None = None, *, controls: Array | None = None) -> Saltation:
    """Ξ of a stick that ends: h = μ λ_n − |λ_t| falls to zero. Otherwise as :func:`liftoff_saltation`."""
    return _force_saltation("slip", event, after, controls)


def _force_saltation(kind: str, event: LocalEvent, after: ContactMode | None, controls: Array | None) -> Saltation:
    contact, before = event.contact, event.before
    who, gradient = frozenset({contact}), event.gradient(after)
    if contact not in before.closed or (kind == "slip" and contact in before.sliding):
        return refusal(kind, who, Validity.NOT_TOUCHING, f"contact {contact} is not held before the event")
    try:
        here = motion_derivative(gradient, before, event.resting)
        now = here.motion
        value = guard_value(kind, now, contact)
        if abs(value) > _AT_GUARD * max(1.0, float(np.abs(now.force).max())):
            return refusal(kind, who, Validity.NOT_TOUCHING, f"the force of contact {contact} is {value:.3g} N from it")
        mode = with_directions(after or _mode_after(kind, contact, before), before, now)
        behind = motion_of(event.problem(mode), mode, event.resting)
    except Unsolvable as error:
        return refusal(kind, who, unsolvable(error), error.why)
    except ValueError as error:
        return refusal(kind, who, Validity.UNEXPLAINED, str(error))
    return force_jump(kind, event, here, behind, controls)


def force_jump(
    kind: str, event: LocalEvent, here: MotionDerivative, behind: Motion, controls: Array | None = None
) -> Saltation:
    """The saltation from the motions before and after."""
    now, n, contact = here.motion, here.motion.problem.nv, event.contact
    guard = guard_gradient(kind, here, contact)
    push = np.zeros((n, 0)) if controls is None else np.asarray(controls, dtype=np.float64)
    closed = sorted(event.before.closed)
    by_guard = np.concatenate((guard[2 * n :][closed], guard[2 * n + now.problem.contacts :] @ push))
    names = (*(("friction", i) for i in closed), *(("control", k) for k in range(push.shape[1])))
    ahead, after = now.field, behind.field
    inertia = np.diag(now.problem.mass)
    heavy = inertia > 0.0
    free = np.abs(now.problem.bias_force[heavy]) / inertia[heavy]
    size = float(free.max(initial=0.0) + np.abs(ahead[n:]).max(initial=0.0))
    if np.abs(after - ahead).max(initial=0.0) <= _SAME * size and np.array_equal(
        behind.problem.bias_force, now.problem.bias_force
    ):
        after = ahead  # exactly: what differs is the rounding of the event's time
    return saltation(
        np.eye(2 * n),
        guard[: 2 * n],
        ahead,
        after,
        guard_rate=_guard_rate(kind, event),
        guard_parameters=by_guard,
        velocity_after=now.problem.velocity,
        kind=kind,
        contacts=frozenset({contact}),
        parameters=names,
    )


def guard_value(kind: str, now: Motion, contact: int) -> float:
    """h, N: the normal force, or what the friction cone leaves of it for a tangential force."""
    normal, tangent = float(now.force[contact, 0]), now.force[contact, 1:]
    if kind == "liftoff":
        return normal
    return float(now.problem.friction[contact] * normal - np.linalg.norm(tangent))


def guard_gradient(kind: str, here: MotionDerivative, contact: int) -> Array:
    """Dh (2 nv + m + nv,): with respect to (q, v), μ and generalised forces."""
    force = np.hstack((here.force[contact], here.force_friction[contact], here.force_push[contact]))
    if kind == "liftoff":
        return np.asarray(force[0])
    now, n = here.motion, here.motion.problem.nv
    tangent = now.force[contact, 1:]
    found = now.problem.friction[contact] * force[0] - tangent @ force[1:] / np.linalg.norm(tangent)
    found[2 * n + contact] += now.force[contact, 0]
    if here.friction is not None:
        found[: 2 * n] += now.force[contact, 0] * here.friction[contact]
    return np.asarray(found)


def with_directions(mode: ContactMode, before: ContactMode, now: Motion) -> ContactMode:
    """The mode, with contacts that begin to slide from rest against the friction that held them."""
    found: dict[int, Direction] = dict(mode.directions)
    for i in mode.sliding - before.sliding:
        tangent = now.force[i, 1:]
        size = float(np.linalg.norm(tangent))
        if i not in found and size > 0.0:
            found[i] = -tangent / size
    return ContactMode(mode.closed, mode.sliding, found, mode.kinetic)


def _mode_after(kind: str, contact: int, before: ContactMode) -> ContactMode:
    if kind == "liftoff":
        return before.changed(before.closed - {contact}, before.sliding - {contact})
    return before.changed(before.closed, before.sliding | {contact})


def _guard_rate(kind: str, event: LocalEvent) -> float:
    """D_t h of forces that depend on time, by differences; zero where none does."""
    if not depends_on_time(event.system):
        return 0.0

    def value(step: Array) -> Array:
        problem = event.problem(event.before, time=event.time + float(step[0]))
        return np.array([guard_value(kind, motion_of(problem, event.before, event.resting), event.contact)])

    return float(differences(value, 1, _TIME_STEP)[0, 0])
