"""Which contacts were closed, as the whole recording tells it afterwards: a reference where there is no truth.

Two kinds of evidence that do not share their errors, neither of which the estimator has at the time:

* the force that the motion needed, M v̇ + h − Sᵀτ = Jᵀ f, with v̇ from the velocities before *and after* the state. It
  has no observer's lag, no mode and no density in it. It presses if it is above what forces of feet in the air seem to
  be, and above 5 % of a share of the weight;
* the gap over the line along which the same foot stood in its nearest stance. It is open if that is beyond its noise.

Only where both agree is a contact called closed or open; elsewhere (near events of noisy recordings, on ground that
gives way, of feet that skim) the reference is silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.noise import Episodes
from hybrid_contact_ros.identification.observed_contacts import SMOOTHED, Seen, Stretch, see, stretches
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

SHARE = 0.05
"""Of a share of the weight: less force does not tell a foot that presses from one that does not."""
_SPANS = (1, 3)  # samples before and after, between which velocities are differenced
_SLOWEST = 0.0051  # s, between samples: forces of an event are lost in longer ones
_BEYOND = 1.5  # times what forces in the air are below in 99 % of the samples
_UNTOLD = 0.7  # of a share: forces in the air that seem to be as large tell nothing
_SLIDING = 0.5  # of a share that a foot that slides must bear: with less it may skim, and touch for a part of the time
_DEVIATIONS, _LEAST_RISE = 4.0, 2e-4  # of the gap's noise, and m, beyond which a foot has left its stance
_REACH = 0.05  # s, beyond a stance, over which its line goes on
_CHI = 0.6745 * np.sqrt(20.0)  # median of |third differences|, of noise of variance 1


def hindsight(model: RigidBodyModel, config: EstimatorConfig, episodes: Episodes) -> Episodes | None:
    """The episodes with a reference for a truth, or None where there is none: without efforts, of several points on
    one link, where nv ≤ 3m, or where forces of feet in the air do not vanish."""
    if model.nv <= 3 * model.contacts or len({c.link for c in config.contacts.values()}) < model.contacts:
        return None
    if any(state.effort is None for states in episodes.states for state in states):
        return None
    step = float(np.median(np.concatenate([np.diff([s.stamp_ns for s in states]) for states in episodes.states])))
    if not 1e-9 * step <= _SLOWEST:
        return None
    seen = [see(model, config, states) for states in episodes.states]
    swings, stances = stretches(seen, False), stretches(seen, True)
    if not swings or not stances:
        return None
    found = [_forces(model, states) for states in episodes.states]  # of each episode, of each span (n, m)
    air = [_in(swings, [np.abs(each[k]) for each in found]) for k in range(len(_SPANS))]
    best = int(np.argmin(air))
    forces = [each[best] for each in found]
    share = _in(stances, forces, 0.5)
    least = max(_BEYOND * air[best], SHARE * share)
    if not least < _UNTOLD * share:
        return None
    span = _SPANS[best]
    limit = max(_DEVIATIONS * _noise(stances, seen), _LEAST_RISE)
    truth, certain = [], []
    for e, (x, force) in enumerate(zip(seen, forces, strict=True)):
        rise = x.gap - _stood(e, stances, x)
        slides = _mean_speed(x) > config.activation.slip_on
        needed = np.where(slides, np.maximum(least, _SLIDING * share), least)
        closed = _all_within(force > needed, span) & (rise < limit)
        truth.append(closed)
        certain.append(closed | (_all_within(force < least, span) & (rise > limit)))
    return replace(episodes, truth=tuple(truth), certain=tuple(certain))


def _forces(model: RigidBodyModel, states: Sequence[RobotState]) -> list[Array]:
    """Normal forces (n, m), N, of each span; NaN where a span reaches over an end or a pause."""
    n, m = len(states), model.contacts
    time, v = 1e-9 * np.array([s.stamp_ns for s in states], dtype=np.float64), np.array([s.v for s in states])
    step = float(np.median(np.diff(time)))
    found = [np.full((n, m), np.nan) for _ in _SPANS]
    for k in range(1, n - 1):
        problem = model.problem(states[k])
        rows = np.concatenate([problem.normal_jacobian[:, None], problem.tangent_jacobian], axis=1)
        jacobian = rows.reshape(-1, model.nv)
        try:
            response = np.linalg.solve(problem.mass, jacobian.T)
        except np.linalg.LinAlgError:
            continue
        inverse = np.linalg.pinv(jacobian @ response, rcond=1e-8)
        for half, forces in zip(_SPANS, found, strict=True):
            a, b = k - half, k + half
            if a >= 0 and b < n and time[b] - time[a] < 1.5 * 2 * half * step:
                needed = v[b] - v[a]
                needed = problem.mass @ needed / (time[b] - time[a]) + problem.bias_force
                forces[k] = (inverse @ (response.T @ needed)).reshape(m, -1)[:, 0]
    return found


def _all_within(flags: Bools, span: int) -> Bools:
    """Where flags (n, m) hold ``span`` samples before and after, too: over so many an impact's force is spread."""
    held = flags.copy()
    for k in range(1, span + 1):
        held[k:] &= flags[:-k]
        held[:-k] &= flags[k:]
    return held


def _mean_speed(x: Seen) -> Array:
    """Speed along the surface (n, m), m/s, of the mean velocity over 10 ms."""
    step = float(np.median(np.diff(x.time)))
    mean = uniform_filter1d(x.slide, max(1, round(SMOOTHED / step)), axis=0, mode="nearest")
    return np.asarray(np.linalg.norm(mean, axis=2))


def _in(chosen: Sequence[Stretch], values: Sequence[Array], quantile: float = 0.99) -> float:
    """A quantile of what is known within stretches."""
    inside = np.concatenate([values[s.episode][s.rows, s.contact] for s in chosen])
    inside = inside[np.isfinite(inside)]
    return float(np.quantile(inside, quantile)) if inside.size else np.inf


def _noise(stances: Sequence[Stretch], seen: Sequence[Seen]) -> float:
    long = [s for s in stances if s.end - s.begin > 8]
    each = [np.median(np.abs(np.diff(seen[s.episode].gap[s.rows, s.contact], 3))) for s in long]
    return float(np.median(each)) / _CHI if each else np.inf


def _stood(episode: int, stances: Sequence[Stretch], x: Seen) -> Array:
    """The gap (n, m) of the line along which each foot stood in its nearest stance; NaN of a foot that never stands."""
    found, time = np.full(x.gap.shape, np.nan), x.time
    for i in range(x.gap.shape[1]):
        own = [s for s in stances if (s.episode, s.contact) == (episode, i)]
        if not own:
            continue
        lines = np.array([_line(time[s.rows], x.gap[s.rows, i]) for s in own])
        begin, end = (time[[s.begin for s in own]], time[[s.end - 1 for s in own]])
        away = np.maximum(np.maximum(begin - time[:, None], time[:, None] - end), 0.0)
        nearest = away.argmin(axis=1)
        middle, slope, at = lines[nearest].T
        found[:, i] = middle + slope * (np.clip(time, begin[nearest] - _REACH, end[nearest] + _REACH) - at)
    return found


def _line(time: Array, gap: Array) -> tuple[float, float, float]:
    """Middle, slope and time of the middle of a line through a stance: the base may drift."""
    at = float(time.mean())
    t = time - at
    square = float(t @ t)
    return float(gap.mean()), float(t @ gap) / square if square > 0.0 else 0.0, at
