"""What feet that stand say of a velocity of the base that is uncertain: it is such that they do."""

from __future__ import annotations

from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.records import Array, Codes

_LEAST = 0.1  # of the share of the weight: a contact that bears less says nothing
_STICKS = 0.9  # What no force tells of counts where it sticks with this probability.
_FREEDOM = 3.0  # of Student's distribution of the velocity of a contact that stands: some slide, or leave just now
_PASSES = 4
_SAME = 0.2  # part of a weight that no pass is made for
_BASE = 6  # coordinates of the base
MOVED, _GAIN = 6, 7
"""Rows of ``StandingFeet.base`` behind the covariance: δ, and P h."""
_VARIANCE, _FACTOR = range(2)  # of a contact's velocity, (m/s)², negative where it says nothing; how much more it has


class StandingFeet(NamedTuple):
    """What is known of m contacts from the state before, and scratch."""

    stood: Codes  # (m,) uint8, those that were closed
    pressed: Array  # (m,), N, observed normal forces, NaN where there are none
    pressed_weight: Array  # (m,), in [0, 1], how far these are believed
    believed: Array  # (m, 2), probabilities to be closed and to slip
    stands: Array  # (m, 2), variance and factor of each
    base: Array  # (8, 6): covariance of the base's velocity, then δ, then scratch


@kernel
def steady_base(
    share, rest_speed, rows, velocity, covariance, stood, pressed, pressed_weight, believed, stands, base
):  # fmt: skip
    """The error δ of the base's velocity that makes the contacts stand which stood: J (v + δ) = 0 for each.

    δ is normal with the covariance P. The velocity (3,) of a contact that stands has Student's t distribution with
    three degrees of freedom, with ``rest_speed`` for one that bears its share of the weight, and more for one that
    bears less: feet that slide or leave just now say little where others agree. Found by least squares that are
    weighted up to four times (Lange, Little, Taylor, Robust statistical modeling using the t distribution, 1989), each
    a Kalman filter's update by one scalar after the other, which needs no inverse of P.

    Args:
        share: N, weight by contact. rest_speed: m/s.
        rows: J (m, 3, nv). velocity: J v (m, 3). covariance: P (6, 6).
        stood, pressed, pressed_weight, believed: members of StandingFeet.
        stands: scratch (m, 2). base: out (8, 6), P after that, and in row 6 δ.
    """
    m = stood.shape[0]
    for i in range(m):
        borne = 0.0
        if pressed_weight[i] >= BELIEVED and pressed[i] == pressed[i]:
            borne = pressed[i] / share
        elif believed[i, 0] - believed[i, 1] > _STICKS:
            borne = 1.0
        stands[i, _VARIANCE], stands[i, _FACTOR] = -1.0, 1.0
        if stood[i] and borne > _LEAST:
            stands[i, _VARIANCE] = (rest_speed * max(1.0, 1.0 / borne)) ** 2
    for turn in range(_PASSES):
        settled = turn > 0
        for i in range(m if turn else 0):
            if stands[i, _VARIANCE] > 0.0:
                odd = _square(rows[i], velocity[i], base[MOVED]) / stands[i, _VARIANCE]
                factor = (_FREEDOM + odd) / (_FREEDOM + 3.0)
                settled = settled and abs(factor - stands[i, _FACTOR]) <= _SAME * factor
                stands[i, _FACTOR] = factor
        if settled:
            return
        for a in range(_BASE):
            base[MOVED, a] = 0.0
            for b in range(_BASE):
                base[a, b] = covariance[a, b]
        for i in range(m):
            if stands[i, _VARIANCE] > 0.0:
                _hold(rows[i], velocity[i], stands[i, _VARIANCE] * stands[i, _FACTOR], base)


@kernel
def moved_speed(row, speed, moved):
    """The speed of a contact along a row (nv,) of J, if the base moves by ``moved`` (6,) faster than was measured."""
    for a in range(_BASE):
        speed += row[a] * moved[a]
    return speed


@kernel
def _square(rows, velocity, moved):
    """The square of a contact's speed with δ, (m/s)²."""
    square = 0.0
    for side in range(3):
        square += moved_speed(rows[side], velocity[side], moved) ** 2
    return square


@kernel
def _hold(rows, velocity, variance, base):
    """Update δ and its covariance by a contact whose velocity is zero but for this variance."""
    gain, moved = base[_GAIN], base[MOVED]
    for side in range(3):
        row, square = rows[side], 0.0
        speed = moved_speed(row, velocity[side], moved)
        for a in range(_BASE):
            gain[a] = 0.0
            for b in range(_BASE):
                gain[a] += base[a, b] * row[b]
            square += gain[a] * row[a]
        # What drivers state may be no covariance: by Cauchy and Schwarz, (P h)_a² ≤ P_aa hᵀP h of one.
        sound = True
        for a in range(_BASE):
            sound = sound and gain[a] * gain[a] <= 1.001 * base[a, a] * square + 1e-30
        if not sound:
            continue
        square += variance
        for a in range(_BASE):
            moved[a] -= gain[a] * speed / square
            for b in range(_BASE):
                base[a, b] -= gain[a] * gain[b] / square
