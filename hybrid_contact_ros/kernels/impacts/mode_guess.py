"""The guess of :mod:`.mode_steps`: a few sweeps of projected Gauss and Seidel, or the mode of the answer before."""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.mode_basis import STIFF, add_rows, follow, resolve, set_impulse
from hybrid_contact_ros.kernels.impacts.tableau import X_BASIC, Y_BASIC

_SWEEPS = 3  # of Gauss and Seidel


@kernel(forceinline=True)
def _sweep(problem, over, change, z, after):
    """Give each impulse in turn the value that its own conditions ask for while all others are held.

    over: (p,), 1 / H_ii, or 0 for what cannot be moved. change: scratch, (1 + g,).
    """
    H, cap, c = problem.H, problem.cap, problem.c
    n = 1 + problem.g
    for k in range(cap.shape[0]):
        a = k * n
        if z[a] == 0.0 and after[a] >= 0.0:
            continue
        bound = 0.0
        for i in range(a, a + n):
            speed = after[i]
            for j in range(a, i):
                speed += change[j - a] * H[j, i]
            value = z[i] - speed * over[i]
            if i == a:
                value = min(max(value, 0.0), cap[k])
                bound = c[k] * value
            elif over[i] == 0.0:
                value = -bound if speed > 0.0 else bound
            else:
                value = min(max(value, -bound), bound)
            change[i - a] = value - z[i]
            z[i] = value
        add_rows(H, a, n, change, after)


@kernel(forceinline=True)
def _sweeps(problem, tableau, z, after):
    """All sweeps, from z = 0 on."""
    H, w = problem.H, problem.w
    over = tableau.felt
    for i in range(z.shape[0]):
        z[i] = 0.0
        after[i] = w[i]
        over[i] = 1.0 / H[i, i] if H[i, i] > STIFF else 0.0
    for _ in range(_SWEEPS):
        _sweep(problem, over, tableau.row, z, after)


@kernel(forceinline=True)
def guess(problem, tableau, z, after):
    """Bring every impulse to the bound that it is closest to after the sweeps: the mode in which nothing is inside.

    Arguments as of :func:`.mode_steps.solve_by_mode`. Returns how many impulses are in the basis: none.
    """
    cap, c = problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    _sweeps(problem, tableau, z, after)
    for k in range(cap.shape[0]):
        a = k * n
        holds[a] = Y_BASIC
        side[a] = 1.0 if z[a] < 0.5 * cap[k] or cap[k] == 0.0 else -1.0
        value = 0.0 if side[a] > 0.0 else cap[k]
        for i in range(a + 1, a + n):
            holds[i] = Y_BASIC
            side[i] = 1.0 if z[i] < 0.0 or (z[i] == 0.0 and after[i] > 0.0) else -1.0
            set_impulse(problem, i, -side[i] * c[k] * value, z, after)
        set_impulse(problem, a, value, z, after)
    return 0


@kernel(forceinline=True)
def guess_again(problem, tableau, z, after):
    """The mode of the answer before, for other velocities and caps; arguments and return value as of :func:`guess`."""
    H, w, cap = problem.H, problem.w, problem.cap
    n = 1 + problem.g
    count = int(tableau.column[z.shape[0]])
    for i in range(z.shape[0]):
        after[i] = w[i]
    for k in range(cap.shape[0]):
        a = k * n
        if tableau.holds[a] != X_BASIC:
            z[a] = 0.0 if tableau.side[a] > 0.0 else cap[k]
        follow(problem, k, tableau, z)
        if z[a] != 0.0:
            add_rows(H, a, n, z[a : a + n], after)
    resolve(count, tableau, z, after)
    return count
