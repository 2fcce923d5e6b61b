"""The table ``treads``: touchdowns ahead on steps, apart for treads that a foot has touched before.

What no foot has touched cannot be known: there only bounds are asked to hold. A tread of stairs is a whole step; a
block is one of its tiles. Touchdowns of the first second, and of feet that rebound, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimation_scores.ahead import REBOUND, Horizon, follow
from benchmarks.estimation_scores.episodes import Array, Episode, Source, states
from benchmarks.estimation_scores.runs import Options, Runner
from benchmarks.estimation_scores.scores import true_events
from benchmarks.estimation_scores.simulated import STEPPED, terrain_of
from benchmarks.estimation_scores.tables import available, head, line
from benchmarks.estimation_scores.terrain import Terrain
from hybrid_contact_ros.mechanics.model import RigidBodyModel

HORIZONS = (0.02, 0.05)  # s
_BEGIN = 1.0  # s: the robot stands, and its gait begins
_BEFORE = 0.02  # s, at least, that another foot has touched a tread before


@dataclass(frozen=True, slots=True)
class Touchdown:
    """Of a foot, at a time (s); whether some foot has been on its tread before."""

    foot: int
    time: float
    known: bool


def treads_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """Each cell: error in ms, median (95 %); missed of how many; share of the bounds that hold."""
    head("recording", *(f"{kind}, {1e3 * h:.0f} ms" for kind in ("touched", "first") for h in HORIZONS))
    written: dict[str, Any] = {}
    for source in available(sources):
        case = source.name.split("_", 1)[1]
        if case not in STEPPED:
            line(source.name, "skipped: no steps that are known")
            continue
        run = Runner(source, options).run()
        told = {(known, h): Horizon() for known in (True, False) for h in HORIZONS}
        for episode, answers in zip(run.episodes, run.told, strict=True):
            for event in touchdowns(run.model, terrain_of(case, STEPPED), episode):
                for h in HORIZONS:
                    told[event.known, h].add(
                        answers.time, answers.ahead["touchdown"], event.foot, np.array([event.time]), h
                    )
        line(source.name, *map(_cell, told.values()))
        written[source.name] = {
            f"{'touched' if known else 'first'} {1e3 * h:.0f} ms": {
                "events": each.events, "missed": each.missed, "held": each.held, "errors": each.errors,
            }
            for (known, h), each in told.items()
        }  # fmt: skip
    return written


def _cell(told: Horizon) -> str:
    held = f"{told.held / len(told.errors):.2f}" if told.errors else "–"
    return f"{told.told()}; {told.missed}/{told.events}; {held}"


def touchdowns(model: RigidBodyModel, terrain: Terrain, episode: Episode) -> list[Touchdown]:
    """Of all feet, in the order of their times."""
    time = episode.recording.time
    given = states(model, episode.recording)

    def places(k: int) -> Array:
        model.problem(given[k])
        return model.contact_positions

    true = [(t, every) for t, every, _ in true_events(episode, "touchdown")]
    found: list[Touchdown] = []
    seen: list[tuple[float, NDArray[np.int64]]] = [(time[0], _tread(terrain, p)) for p in places(0)]
    for t, foot in sorted((float(t), foot) for foot, (times, _) in enumerate(true) for t in times):
        tread = _tread(terrain, places(int(np.searchsorted(time, t - 1e-6)))[foot])
        rebounds = bool(follow(np.array([t]), true[foot][1], REBOUND)[0])
        if t > time[0] + _BEGIN and not rebounds:
            known = any(s < t - _BEFORE and bool((tread == other).all()) for s, other in seen)
            found.append(Touchdown(foot, t, known))
        seen.append((t, tread))
    return found


def _tread(terrain: Terrain, place: Array) -> NDArray[np.int64]:
    tile = terrain.tiles(place[None])[0]
    return tile[:1] if terrain.stairs else tile
