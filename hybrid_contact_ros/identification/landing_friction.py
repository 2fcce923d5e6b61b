"""μ of recorded landings, as the landings of their episodes show it: a robot does not know better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hybrid_contact_ros.identification.landing_records import RecordedLanding

_HIGHEST = 3.0  # a ratio above is none of friction
_SLIDES, _AGAINST = 0.15, 0.9  # of |u_n⁻|; cosine between the impulse and the direction against the slip
_NEAR = 0.8  # of the largest ratio; a foot that slid with less was pulled by its leg
_KNOWN = 0.1  # of μ; what a slide shows is as good as that
_MAIN = 0.5  # of the largest normal impulse; smaller ones tell little


def ratios(landing: RecordedLanding) -> Iterator[tuple[float, bool]]:
    """Of each hitting contact with a large impulse: tangential over normal impulse, which is μ at most, and whether it
    slid to the end, so that it is μ. Impulses are those that explain the jump best, less what gravity and the measured
    torques did."""
    J, m = landing.rows, landing.hitting.size
    drift = np.linalg.solve(landing.mass, -landing.bias * landing.duration)
    G = J @ np.linalg.solve(landing.mass, J.T)
    jump = landing.after - landing.velocity - drift
    impulse = (np.linalg.pinv(G, rcond=1e-6, hermitian=True) @ (J @ jump)).reshape(m, -1)
    before, after = (J @ landing.velocity).reshape(m, -1), (J @ landing.after).reshape(m, -1)
    for i in np.flatnonzero(landing.hitting):
        if impulse[i, 0] <= max(0.0, _MAIN * impulse[:, 0].max()):
            continue
        force, speed = float(np.linalg.norm(impulse[i, 1:])), float(np.linalg.norm(after[i, 1:]))
        ratio = force / float(impulse[i, 0])
        if ratio < _HIGHEST:
            against = -float(after[i, 1:] @ impulse[i, 1:]) > _AGAINST * speed * force
            yield ratio, speed > _SLIDES * -float(before[:, 0].min()) and against


def with_seen_friction(
    landings: Sequence[RecordedLanding], all_of_them: bool, part: float = 0.0
) -> list[RecordedLanding]:
    """The landings, in their order, with the interval of μ that landings of their episode showed: those before, as a
    robot knows it, or all of them. ``part``: of the configured μ, by which the interval begins to both sides. Where
    feet slid to the end it is the median of what they showed; what held bounds μ from below."""
    seen = [tuple(ratios(landing)) for landing in landings]
    found = []
    for i, landing in enumerate(landings):
        of_episode = range(len(landings) if all_of_them else i)
        shown = [pair for j in of_episode if landings[j].episode == landing.episode for pair in seen[j]]
        least = max((ratio for ratio, _ in shown), default=0.0)
        sliding = [ratio for ratio, slid in shown if slid and ratio >= _NEAR * least]
        low, high = (1.0 - part) * landing.friction, (1.0 + part) * landing.friction
        if sliding:
            middle = np.full_like(low, np.median(sliding))
            low, high = (1.0 - min(part, _KNOWN)) * middle, (1.0 + min(part, _KNOWN)) * middle
        else:
            low = np.maximum(low, least)
            high = np.maximum(high, low)
        half = float(np.max((high - low) / np.maximum(high + low, 1e-12)))
        found.append(replace(landing, friction=0.5 * (low + high), friction_part=half))
    return found
