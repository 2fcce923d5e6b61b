"""Where within an increment of an impact a slip stops, so that friction has one direction in every piece of it.

An increment solves H (72–75) implicitly: its friction is that of the velocity at its end. As long as a contact's
impulse grows in fixed proportions its velocity is linear in it, so that friction which opposes a slip that keeps its
direction is that of Routh's process exactly; where the slip stops within the increment it is not, and what happens in
one contact depends on the step. With the contact's cap cut there, a single contact is integrated exactly, whatever the
step. Any cap below the drawn one is as good for the law, which leaves the rates of contacts arbitrary.

Cut is where a contact's own push stops its slip. The slip of contacts that share a stiff body is moved by their
neighbours, at rates that are drawn anew for every increment; it passes zero time and again, and pieces up to each of
these moments would be many and no truer.
"""

import math

from numba import njit

_RESTING = 1e-9  # scaled: slower slip is rounding, and has no direction
_FULL = 1.0 - 1e-6  # of the bound: friction that has opposed the same slip all along
_WHOLE = 1.0 - 1e-9  # of an increment
_OTHERS = 0.1  # of what a contact does to its slip: what its neighbours may do to it
_LEAST = 0.1  # of an increment: less is not worth one more where several contacts push
_PUSH = 1e-12  # scaled: less is rounding


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _against(slip, friction):
    """Friction against the slip with which the increment began; inf if there was none."""
    if slip > _RESTING:
        return -friction
    return friction if slip < -_RESTING else math.inf


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def stop_at_slip(g, H, c, now, push, cap, release):
    """Cut ``cap`` and ``release`` (m,) of contacts whose slip stops within an increment to what it takes to stop it.

    now (p,) velocities before, push (p,) the increment's impulse. Returns whether anything was cut: then the increment
    is to be solved again.
    """
    p = now.shape[0]
    m = c.shape[0]
    n = 1 + g
    pushing = 0
    for k in range(m):
        if push[k * n] > _PUSH:
            pushing += 1
    cut = False
    for k in range(m):
        a = k * n
        if not (push[a] > _PUSH and c[k] > 0.0):
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
                if pushing > 1:
                    for j in range(p):
                        if j < a or j >= a + n:
                            others += H[i, j] * push[j]
                if own * now[i] < 0.0 and abs(others) <= _OTHERS * abs(own):
                    part = min(part, -(now[i] + others) / own)
        if part < _WHOLE and (part >= _LEAST or (pushing == 1 and part > 0.0)):
            cut = True
            cap[k] = part * push[a]
            release[k] *= part
    return cut
