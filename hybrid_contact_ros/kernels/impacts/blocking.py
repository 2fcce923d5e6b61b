"""What ends a step of parametric bounded pivoting (:mod:`.pivoting`): the first variable that reaches a bound.

Along a step the values of the tableau's basic variables are linear. Those of x have two bounds, 0 and the width of the
pair, and t has 0 and the largest cap.
"""

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.tableau import NO_CAP, X_BASIC

_COEFFICIENT = 1e-11  # entries below count as zero in the ratio test
_TIE = 1e-13  # of two blocking variables this close, the one with the larger entry leaves
_CLEARLY = 3.0  # ties between two quotients that it takes to tell them apart without a look at their order
_ROUNDING = 1e-15  # of quotients, relative
_NEVER = 1e300  # the quotient of a variable that does not fall

NOTHING, OWN_WIDTH, TIED = -1, -2, -3
"""What blocks a step if it is no pair."""


@kernel(forceinline=True)
def _blocks(value, fall, best, strength):
    """Whether value − fall · step ≥ 0 ends the step before ``best``, or with ``best`` but with a larger pivot."""
    if fall < _COEFFICIENT:
        return False
    return value < (best - _TIE) * fall or (value < (best + _TIE) * fall and fall > strength)


@kernel(forceinline=True)
def first_blocking(problem, top, over, tableau):
    """The ratio test of the first step, in which t enters and all y are basic.

    Returns the blocking pair, or NOTHING where t reaches ``top``, which stands for 1.
    """
    cap, c = problem.cap, problem.c
    T = tableau.T
    p = problem.H.shape[0]
    n = 1 + problem.g
    best = top
    leaving = NOTHING
    for k in range(cap.shape[0]):
        a = k * n
        if cap[k] * over > NO_CAP:
            last = a + n if tableau.side[a] < 0.0 and c[k] > 0.0 else a + 1
            for i in range(a, last):
                if T[p, i] < -_COEFFICIENT and T[p + 2, i] < -best * T[p, i]:
                    best = max(T[p + 2, i], 0.0) / -T[p, i]
                    leaving = i
    return leaving


@kernel(forceinline=True)
def _quotient(value, fall, counts):
    """How long a variable can fall: value / fall where it counts and falls, elsewhere _NEVER."""
    falls = counts and fall >= _COEFFICIENT
    quotient = (value if value > 0.0 else 0.0) / (fall if falls else 1.0)
    return quotient if falls else _NEVER


@kernel(forceinline=True)
def _take(quotient, code, kept):
    """The least and the second of the quotients, and the code of the least, with one more quotient."""
    best, second, which = kept
    less = quotient < best
    other = best if less else quotient
    return (
        quotient if less else best,
        other if other < second else second,
        code if less else which,
    )


@kernel(forceinline=True)
def _clearly_blocking(problem, top, over, out, own, tableau):
    """As :func:`_any_blocking`, where one pair blocks clearly before all others; TIED in place of the pair elsewhere.

    Where the others block later by three ties or more, the order in which pairs are compared does not matter, so that
    both kernels name the same pair.
    There are no branches that depend on numbers: the processor would guess every other one of them wrong, which takes
    it longer than the pivot itself. Each kind of end has a minimum of its own, so that they do not wait for each other.
    """
    cap, c = problem.cap, problem.c
    T, side, holds = tableau.T, tableau.side, tableau.holds
    p = problem.H.shape[0]
    n = 1 + problem.g
    perturbed = p + 2
    t = T[perturbed, out]
    t_rate = T[p, out]
    none = (_NEVER, _NEVER, 0.0)
    falls = _take(_quotient(t, -t_rate, True), -1.0, none)
    widens = _take(_quotient(top - t, t_rate, True), -0.5, none)
    slides = none
    turns = none
    for k in range(cap.shape[0]):
        share = cap[k] * over
        takes = share > NO_CAP
        a = k * n
        at_out = a == out
        inside = (holds[a] == X_BASIC) | (own == a)
        value = 0.0 if at_out else T[perturbed, a]
        rate = (1.0 if own == a else 0.0) if at_out else T[p, a]
        width = share * t
        width_rate = share * t_rate
        falls = _take(_quotient(value, -rate, takes & (not at_out)), float(a), falls)
        widens = _take(_quotient(width - value, rate - width_rate, takes & inside), a + 0.5, widens)
        capped = side[a] < 0.0
        value = value if inside else 0.0
        rate = rate if inside else 0.0
        value = width - value if capped else value
        rate = width_rate - rate if capped else rate
        takes = takes & (c[k] != 0.0) & (inside | capped)
        width = 2.0 * c[k] * value
        width_rate = 2.0 * c[k] * rate
        for i in range(a + 1, a + n):
            at_out = i == out
            value = 0.0 if at_out else T[perturbed, i]
            rate = 1.0 if at_out else T[p, i]
            inside = (holds[i] == X_BASIC) | (own == i)
            slides = _take(_quotient(value, -rate, takes & (not at_out)), float(i), slides)
            turns = _take(_quotient(width - value, rate - width_rate, takes & inside), i + 0.5, turns)
    kept = _take(widens[0], widens[2], falls)
    kept = _take(slides[0], slides[2], kept)
    best, second, which = _take(turns[0], turns[2], kept)
    for kind in (widens, slides, turns):
        second = kind[1] if kind[1] < second else second
    if best == _NEVER or not second > best + _CLEARLY * (_TIE + _ROUNDING * best):
        return TIED, False
    if which < 0.0:
        return out, which > -1.0
    leaving = int(which)
    opposite = which > leaving
    return (OWN_WIDTH if opposite and leaving == own else leaving), opposite


@kernel(forceinline=True)
def _any_blocking(problem, top, over, out, own, tableau):
    """What ends the step of the entering variable: (pair, whether the width of its x does).

    The pair ``out`` stands for t, which reaches ``top`` "by its width". NOTHING: nothing blocks; OWN_WIDTH: the width
    of the entering variable itself does. ``own`` is the pair of the entering variable if that is an x, else −1.
    """
    cap, c = problem.cap, problem.c
    T, side, holds = tableau.T, tableau.side, tableau.holds
    p = problem.H.shape[0]
    n = 1 + problem.g
    perturbed = p + 2
    t = T[perturbed, out]
    t_rate = T[p, out]
    best = math.inf
    strength = 0.0
    leaving = NOTHING
    opposite = False
    if t_rate < -_COEFFICIENT:
        best, strength, leaving = max(t, 0.0) / -t_rate, -t_rate, out
    elif t_rate > _COEFFICIENT:
        best, strength, leaving, opposite = max(top - t, 0.0) / t_rate, t_rate, out, True
    for k in range(cap.shape[0]):
        share = cap[k] * over
        if share <= NO_CAP:
            continue
        a = k * n
        width = share * t
        width_rate = share * t_rate
        value = 0.0  # of x of the normal pair
        rate = 1.0 if own == a else 0.0
        if a != out:
            value = T[perturbed, a]
            rate = T[p, a]
            if _blocks(max(value, 0.0), -rate, best, strength):
                best, strength, leaving, opposite = max(value, 0.0) / -rate, -rate, a, False
        if holds[a] == X_BASIC or own == a:
            if _blocks(max(width - value, 0.0), rate - width_rate, best, strength):
                best, strength, opposite = max(width - value, 0.0) / (rate - width_rate), rate - width_rate, True
                leaving = a if own != a else OWN_WIDTH
        else:
            if side[a] > 0.0:
                continue  # open
            value = 0.0
            rate = 0.0
        if c[k] == 0.0:
            continue
        if side[a] < 0.0:
            value = width - value
            rate = width_rate - rate
        width = 2.0 * c[k] * value  # of the axes
        width_rate = 2.0 * c[k] * rate
        for i in range(a + 1, a + n):
            value = 0.0
            rate = 1.0
            if i != out:
                value = T[perturbed, i]
                rate = T[p, i]
                if _blocks(max(value, 0.0), -rate, best, strength):
                    best, strength, leaving, opposite = max(value, 0.0) / -rate, -rate, i, False
            if (holds[i] == X_BASIC or own == i) and _blocks(
                max(width - value, 0.0), rate - width_rate, best, strength
            ):
                best, strength, opposite = max(width - value, 0.0) / (rate - width_rate), rate - width_rate, True
                leaving = i if own != i else OWN_WIDTH
    return leaving, opposite


@kernel(forceinline=True)
def blocking(problem, top, over, out, own, tableau):
    """What ends the step of the entering variable; see :func:`_any_blocking`."""
    leaving, opposite = _clearly_blocking(problem, top, over, out, own, tableau)
    if leaving == TIED:
        leaving, opposite = _any_blocking(problem, top, over, out, own, tableau)
    return leaving, opposite
