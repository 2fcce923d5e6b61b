"""How late the base's pose and velocity come against the joints, from feet that stand.

A foot that stands has no velocity. Where the base's stamps are δ later than what they measure, its velocity at the
joints' time t is that stamped t + δ, and with any other the foot seems to move. For each shift by a whole number of
states the squares of the velocities of standing feet are added up; the delay is where they are least, by a parabola
through the least and its neighbours. Noise of the base is the same at every shift, and cancels. A bootstrap draws
stretches of time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.identification.intervals import Found, by_blocks, not_found
from hybrid_contact_ros.identification.observed_contacts import Seen, Stretch
from hybrid_contact_ros.identification.stance_noise import BLOCK
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_NAME = "stamps of the base, later than joint states by"
_REACH = 0.012  # s, that is looked for at most
_STATES = 1200  # that are looked at, spread over the recording
_CLEAR = 0.1  # of the least sum, that those at the ends of the range are above it
_WIDEST = 0.002  # s, half-width of an interval that tells something
_SLOWEST = 0.0051  # s, between states


def base_delay(
    model: RigidBodyModel,
    episodes: Sequence[Sequence[RobotState]],
    seen: Sequence[Seen],
    stances: Sequence[Stretch],
) -> Found:
    """The delay, s; positive where the base's stamps are later than what they measure."""
    if not model.floating_base:
        return not_found(_NAME, "s", "the base is fixed")
    step = float(np.median(np.concatenate([np.diff(x.time) for x in seen])))
    if step > _SLOWEST:
        return not_found(_NAME, "s", f"states are {1e3 * step:.0f} ms apart, and {1e3 * _SLOWEST:.0f} are needed")
    reach = max(2, round(_REACH / step))
    stands = [np.zeros(x.closed.shape, dtype=np.bool_) for x in seen]
    for s in stances:
        stands[s.episode][s.rows, s.contact] = seen[s.episode].sticking[s.rows, s.contact]
    chosen = [
        (e, int(k)) for e, flags in enumerate(stands)
        for k in np.flatnonzero(flags.any(axis=1)) if reach <= k < len(flags) - reach
    ]  # fmt: skip
    chosen = chosen[:: max(1, len(chosen) // _STATES)]
    sums: dict[tuple[int, int], Array] = {}
    for e, k in chosen:
        time = seen[e].time
        if time[k + reach] - time[k - reach] > 1.1 * 2 * reach * step:
            continue
        row = _squares(model, episodes[e], k, reach, stands[e][k])
        key = (e, int((time[k] - time[0]) / BLOCK))
        sums[key] = sums.get(key, np.zeros(2 * reach + 1)) + row
    if not sums:
        return not_found(_NAME, "s", "no foot stands long enough")
    table = np.array(list(sums.values()))
    total = table.sum(axis=0)
    best = int(total.argmin())
    if best in (0, 2 * reach) or min(total[0], total[-1]) < (1.0 + _CLEAR) * total[best]:
        return not_found(
            _NAME, "s", "the robot hardly turns or shakes while it stands: no delay shows", len(chosen), len(table)
        )

    def value(draws: NDArray[np.intp]) -> Array:
        return step * (_least(table[draws].sum(axis=1)) - reach)

    found = by_blocks(_NAME, "s", len(table), len(chosen), value)
    if found.known and 0.5 * (found.high - found.low) > _WIDEST:
        why = f"its interval is {1e3 * found.low:.1f} to {1e3 * found.high:.1f} ms"
        return not_found(_NAME, "s", why, found.samples, found.blocks)
    return found


def _squares(model: RigidBodyModel, states: Sequence[RobotState], k: int, reach: int, stands: NDArray) -> Array:
    """(2 reach + 1,): Σ |velocity|² of the standing contacts of state k, with the base of each state about it."""
    here = states[k]
    found = np.empty(2 * reach + 1)
    q, v = here.q.copy(), here.v.copy()
    for j in range(-reach, reach + 1):
        other = states[k + j]
        q[:7], v[:6] = other.q[:7], other.v[:6]
        model.evaluate(RobotState(here.stamp_ns, q, v))
        u = model.rows.rows[stands] @ v
        found[j + reach] = float((u * u).sum())
    return found


def _least(sums: Array) -> Array:
    """Where each row (draws, n) is least, between samples."""
    k = np.clip(sums.argmin(axis=1), 1, sums.shape[1] - 2)
    row = np.arange(len(sums))
    a, b, c = sums[row, k - 1], sums[row, k], sums[row, k + 1]
    bend = a - 2.0 * b + c
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(k + np.where(bend > 0.0, np.clip(0.5 * (a - c) / bend, -1.0, 1.0), 0.0))
