"""Where within an increment of an impact a slip stops, so that friction has one direction in every piece of it.

An increment solves Halm (72)–(75) implicitly: its friction is that of the velocity at its end. As long as the impulse
of a contact grows in fixed proportions, its velocity is linear in the impulse, so that friction which opposes a slip of
constant direction is exactly that of Routh's process. Where the slip stops within the increment it is not, and then the
outcome of a single contact depends on the step. With the cap of the contact cut at that moment, a single contact is
integrated exactly, whatever the step. Any cap below the drawn one is as good for the law, which leaves the rates of
contacts arbitrary.

An increment is cut only where a contact's own push stops its slip. The slip of contacts that share a stiff body is
moved by their neighbours, at rates that are drawn anew for every increment. It passes zero time and again: pieces up to
each of these moments would be many and no truer.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

_RESTING = 1e-9  # scaled: slower slip is rounding, and has no direction
_FULL = 1.0 - 1e-6  # of the bound: friction of this size has opposed the same slip all along
_WHOLE = 1.0 - 1e-9  # part of an increment at which it is not cut any more
_MOST_OF_OTHERS = 0.1  # change of a slip by the neighbours, over that by the contact itself, at which it is cut
_LEAST_PART = 0.1  # of an increment that is cut where several contacts push: less is not worth another increment
_LEAST_PUSH = 1e-12  # scaled: a smaller normal impulse is rounding


@kernel(forceinline=True)
def _against(slip, friction):
    """Friction that opposes the slip at the beginning of the increment; inf if there was none."""
    if slip > _RESTING:
        return -friction
    return friction if slip < -_RESTING else math.inf


@kernel(forceinline=True)
def stop_at_slip(g, H, c, now, after, push, cap, release):
    """Cut ``cap`` and ``release`` of contacts whose slip stops within an increment to the impulse at which it stops.

    Args:
        g, H, c: as of :class:`.IncrementProblem`. now, after: (p,), velocities before the increment and after it.
        push: (p,), its impulses. cap, release: in and out, (m,).

    Returns:
        Whether anything was cut; then the increment is to be solved again.
    """
    m = c.shape[0]
    n = 1 + g
    pushing = 0
    for k in range(m):
        if push[k * n] > _LEAST_PUSH:
            pushing += 1
    cut = False
    for k in range(m):
        a = k * n
        if not (push[a] > _LEAST_PUSH and c[k] > 0.0):
            continue
        bound = c[k] * push[a]
        stops = False
        for i in range(a + 1, a + n):
            stops = stops or _against(now[i], push[i]) < _FULL * bound
        if not stops:
            continue
        part = 1.0
        for i in range(a + 1, a + n):
            if abs(now[i]) > _RESTING:
                own = H[i, a] * push[a]  # as long as all slips keep the directions that they begin with
                for j in range(a + 1, a + n):
                    own += H[i, j] * (push[j] if abs(now[j]) <= _RESTING else -math.copysign(bound, now[j]))
                others = 0.0
                if pushing > 1:  # what the contact's own impulses do not change
                    others = after[i] - now[i]
                    for j in range(a, a + n):
                        others -= H[i, j] * push[j]
                if own * now[i] < 0.0 and abs(others) <= _MOST_OF_OTHERS * abs(own):
                    part = min(part, -(now[i] + others) / own)
        if part < _WHOLE and (part >= _LEAST_PART or (pushing == 1 and part > 0.0)):
            cut = True
            cap[k] = part * push[a]
            release[k] *= part
    return cut
