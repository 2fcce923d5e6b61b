"""Contacts resolved one after the other (Ivanov 1995; Smith et al. 2012; Halm §2.2.2, Figs. 1 and 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import SEPARATING, Array, ContactSpace, check_directions
from hybrid_contact_ros.impacts.outcome import ImpactOutcome
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.kernels.impacts.increment import TOLERANCE, simultaneous
from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem


def sequential_impact(
    problem: ContactProblem, order: Iterable[int], directions: int = 4, max_impacts: int = 1000
) -> ImpactOutcome:
    """Resolve inelastic impacts one contact at a time, in the order given, until no contact approaches.

    Every single impact is Halm (31) for its contact alone: it ends at rest in the normal direction, with Coulomb
    friction at the velocity after it. Each impact loses kinetic energy, so that the sequence does. That the sequence
    ends is not certain (for two contacts it is known), and is tried: ``order`` is repeated from its start as long as
    some contact approaches and the impacts change the velocity. Where a single impact has several solutions (friction
    so strong that the contact jams), the one that the solver finds is taken.

    Args:
        problem: with v⁻ as its velocity; restitution is not used.
        order: indices of contacts, repeated cyclically. Contacts may be named several times, and some not at all (the
            sequence then ends early, unterminated, if one of those is left approaching).
        directions: k, even; vertices of the friction polygon (see ``simultaneous_impact``).
        max_impacts: single impacts at most, those of contacts that do not approach (and get no impulse) included.

    Returns:
        ``steps`` is the number of single impacts, ``residual`` the largest of theirs. ``status`` is SOLVED where no
        contact approaches any more (by more than 1e-9 of the fastest contact velocity), and STEP_LIMIT where the
        sequence did not terminate: then velocity and impulse are those so far.

    Raises:
        ValueError: ``order`` is empty or holds no index of a contact, or another argument is out of range.

    Example:
        A bar of 1 kg and 1 kg m² falls flat on two points, 0.5 m to each side of its middle. The order matters: the
        point that is hit first takes the larger impulse, and leaves the ground again.

        >>> import numpy as np
        >>> from hybrid_contact_ros import ContactProblem, sequential_impact
        >>> ends = np.array([[1.0, 0.5], [1.0, -0.5]])  # from height and angle to the heights of both points
        >>> bar = ContactProblem(np.eye(2), np.array([-1.0, 0.0]), ends, np.zeros((2, 1, 2)), np.zeros(2))
        >>> outcome = sequential_impact(bar, [0, 1])
        >>> outcome.steps, outcome.impulse[:, 0].round(9).tolist()
        (2, [0.8, 0.32])
    """
    return sequential_path(problem, order, directions, max_impacts)[0]


def sequential_path(
    problem: ContactProblem, order: Iterable[int], directions: int = 4, max_impacts: int = 1000
) -> tuple[ImpactOutcome, Array]:
    """As :func:`sequential_impact`, with the velocities (steps + 1, nv) on the way, from v⁻ to v⁺."""
    check_directions(directions)
    sequence = list(order)
    contact_set("order", sequence, problem.contacts)
    if not sequence and problem.contacts:
        raise ValueError("order is empty; indices of contacts are needed")
    if max_impacts < 1:
        raise ValueError(f"max_impacts is {max_impacts}; it must be 1 or more")
    space = ContactSpace(problem, directions)
    m, n = problem.contacts, 1 + space.g
    if space.status != Status.SOLVED or m == 0 or space.speed == 0.0:
        return simultaneous_impact(problem, directions), problem.velocity[None].copy()
    blocks = [np.ascontiguousarray(space.H[k * n : k * n + n, k * n : k * n + n]) for k in range(m)]
    bounds = [space.c[k : k + 1].copy() for k in range(m)]
    w, total = space.w.copy(), np.zeros(m * n)
    cap, z, after = np.empty(1), np.empty(n), np.empty(n)
    impulse, path = np.zeros((m, problem.tangents + 1)), [problem.velocity.copy()]
    worst, failed, idle = 0.0, Status.SOLVED, 0
    for k in _cycle(sequence, max_impacts):
        if not (w[::n] < -SEPARATING).any() or idle == len(sequence):
            break
        part = slice(k * n, k * n + n)
        here = w[part].copy()
        z[:] = 0.0
        if here[0] < 0.0:
            code, residual, _ = simultaneous(
                space.g, blocks[k], here, cap, bounds[k], space.tableau, space.lines, z, after
            )
            worst = max(worst, residual)
            failed = failed if code == Status.SOLVED else Status(code)
        w += space.H[:, part] @ z
        if here[0] < 0.0:
            w[part] = after
        total[part] += z
        idle = 0 if z.any() else idle + 1
        impulse = space.impulses(total)
        path.append(space.velocity_after(problem.velocity, impulse))
    status = failed
    if status == Status.SOLVED and (w[::n] < -SEPARATING).any():
        status = Status.STEP_LIMIT
    if status == Status.SOLVED and not worst <= 10 * TOLERANCE:
        status = Status.INACCURATE
    return ImpactOutcome(path[-1].copy(), impulse, status, worst, len(path) - 1), np.array(path)


def _cycle(sequence: list[int], limit: int) -> Iterator[int]:
    for i in range(limit):
        yield int(sequence[i % len(sequence)])
