"""Changes of the mode of :mod:`.mode_steps`: an impulse joins the basis, leaves it, or goes to its other bound."""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.mode_basis import (
    GIVEN_UP,
    STIFF,
    expand,
    follow,
    is_dependent,
    place,
    set_impulse,
    slide_more,
    take_in,
    take_out,
)
from hybrid_contact_ros.kernels.impacts.tableau import X_BASIC, Y_BASIC


@kernel(forceinline=True)
def face_slip(problem, k, tableau, after):
    """Let the axes of contact k, which closes, slide against their velocities."""
    n = 1 + problem.g
    for q in range(k * n + 1, (k + 1) * n):
        tableau.side[q] = 1.0 if after[q] > 0.0 else -1.0


@kernel(forceinline=True)
def to_bound(problem, k, count, tableau, z, after):
    """Give contact k, whose normal has just left the basis or its bound, the impulses of its new side.

    The axes of one that opens leave the basis. Returns as :func:`.take_out`.
    """
    cap, c = problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    a = k * n
    opens = side[a] > 0.0
    value = 0.0 if opens else cap[k]
    for q in range(a + 1, a + n):
        if opens and holds[q] == X_BASIC and count >= 0:
            count = take_out(place(q, count, tableau), count, tableau)
        if opens:
            holds[q] = Y_BASIC
        if holds[q] != X_BASIC:
            set_impulse(problem, q, -side[q] * c[k] * value, z, after)
    set_impulse(problem, a, value, z, after)
    return count


@kernel(forceinline=True)
def leave(problem, j, k, count, tableau, z, after):
    """Take row j of contact k out of the basis, to the bound that its impulse is closest to.

    A normal has its new side then, and :func:`to_bound` is what follows. Returns as :func:`.take_out`.
    """
    cap, c = problem.cap, problem.c
    T, side, holds = tableau.T, tableau.side, tableau.holds
    a = k * (1 + problem.g)
    B = T.shape[0] // 2
    at = place(j, count, tableau)
    holds[j] = Y_BASIC
    if j == a:
        follow(problem, k, tableau, z)
        side[a] = 1.0 if z[a] < 0.5 * cap[k] else -1.0
        return take_out(at, count, tableau)
    side[j] = -1.0 if z[j] > 0.0 else 1.0
    if holds[a] == X_BASIC:  # slides from now on: follows its normal
        f = -side[j] * c[k]
        normal = place(a, count, tableau)
        for i in range(T.shape[1]):
            T[normal, i] += f * T[at, i]
        for y in range(count):
            T[B + y, at] -= f * T[B + y, normal]
    count = take_out(at, count, tableau)
    set_impulse(problem, j, -side[j] * c[k] * z[a], z, after)
    return count


@kernel(forceinline=True)
def _ratio(problem, i, count, tableau, rate, z):
    """How far impulses can move at ``rate`` (p,) until one of the basis, or i, is at a bound: (step, which)."""
    cap, c = problem.cap, problem.c
    side, rows = tableau.side, tableau.column
    n = 1 + problem.g
    best = 1e300
    found = -1
    for x in range(count + 1):
        j = int(rows[x]) if x < count else i
        k = j // n
        a = k * n
        step = 1e300
        if j == a:
            if rate[j] < -STIFF:
                step = z[j] / -rate[j]
            elif rate[j] > STIFF:
                step = (cap[k] - z[j]) / rate[j]
        else:
            for sign in (-1.0, 1.0):
                if j == i and sign * side[i] < 0.0:
                    continue  # the bound that it comes from
                fall = sign * rate[j] - c[k] * rate[a]
                if fall > STIFF:
                    step = min(step, (c[k] * z[a] - sign * z[j]) / fall)
        if step < best:
            best = step
            found = j
    return max(best, 0.0), found


@kernel(forceinline=True)
def _exchange(problem, i, k, slides, count, tableau, z, after):
    """Move row i and the basis, on which it depends, so that velocities stay, until one is at a bound: which one it is.

    After :func:`.expand`. Where it is i itself its side changes, too.
    """
    c = problem.c
    T, share, side, rows = tableau.T, tableau.row, tableau.side, tableau.column
    rate = tableau.felt
    n = 1 + problem.g
    a = k * n
    p = z.shape[0]
    for j in range(p):
        rate[j] = 0.0
    rate[i] = side[i]
    for x in range(count):
        rate[int(rows[x])] = -share[x] * side[i]
    if slides:
        rate[i] -= side[i] * c[k] * rate[a]
    step, found = _ratio(problem, i, count, tableau, rate, z)
    if found < 0:
        return GIVEN_UP
    for j in range(p):
        z[j] += step * rate[j]
    for j in range(p):
        after[j] += step * side[i] * T[count, j]
    for x in range(count):
        f = step * share[x] * side[i]
        for j in range(p):
            after[j] -= f * T[x, j]
    if i == a:
        follow(problem, k, tableau, z)
    if found == i:
        side[i] = -side[i]
        if i != a:
            f = -2.0 * side[i] * c[k]
            if slides and not slide_more(i, f, place(a, count, tableau), count, tableau):
                return GIVEN_UP
            set_impulse(problem, i, -side[i] * c[k] * z[a], z, after)
    return found


@kernel(forceinline=True)
def join(problem, i, k, count, tableau, z, after):
    """Take row i of contact k, whose z is up to date, into the basis.

    If i depends on the basis, move both until one impulse is at a bound.

    Returns (how many there are, or GIVEN_UP; the row whose impulse has come to a bound, −1 if i has joined).
    """
    c = problem.c
    T, side, holds = tableau.T, tableau.side, tableau.holds
    p = z.shape[0]
    a = k * (1 + problem.g)
    B = T.shape[0] // 2
    slides = i > a and holds[a] == X_BASIC  # until now, and follows its normal
    if count + 1 >= B:
        return GIVEN_UP, -1
    own = expand(problem, i, count, tableau)
    if is_dependent(own):
        found = _exchange(problem, i, k, slides, count, tableau, z, after)
        return (count if found >= 0 else GIVEN_UP), found
    count = take_in(i, own, count, tableau)
    if slides:
        normal = place(a, count, tableau)
        f = -side[i] * c[k]
        for j in range(p):
            T[normal, j] -= f * T[count - 1, j]
        for y in range(count):
            T[B + y, count - 1] += f * T[B + y, normal]
    return count, -1


@kernel(forceinline=True)
def turn(problem, i, k, tableau, z, after):
    """Bring row i of contact k, which is not in the basis, from one bound to the other.

    A normal has its new side then, and :func:`to_bound` is what follows.
    """
    c, side = problem.c, tableau.side
    n = 1 + problem.g
    a = k * n
    side[i] = -side[i]
    if i > a:
        set_impulse(problem, i, -side[i] * c[k] * z[a], z, after)
    elif side[a] < 0.0:
        face_slip(problem, k, tableau, after)
