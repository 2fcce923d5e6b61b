"""Observed normal forces against true ones: how often ± 1 and ± 2 of their deviations hold these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.estimation_scores.episodes import Episode, Source, states
from benchmarks.estimation_scores.faults import noisy
from benchmarks.estimation_scores.runs import Options, Runner
from benchmarks.estimation_scores.tables import available, head, line
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.results.force_sigma import force_sigma


def forces_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """Of the states and contacts whose force was observed, exact and with noise. Ground is level: a true normal force
    is the vertical one."""
    head("recording", "states", "forces", "error, median (95 %), N", "deviation, median, N", "within 1", "within 2")
    written: dict[str, Any] = {}
    for source in available(sources):
        runner = Runner(source, options)
        for kind in ("exact", "noise"):
            parts = [
                _compared(runner, noisy(e) if kind == "noise" else e) for e in runner.recorded if e.force is not None
            ]
            if not parts:
                continue
            error, sigma = np.concatenate(parts, axis=1)
            found = np.isfinite(error) & np.isfinite(sigma)
            error, sigma = np.abs(error[found]), sigma[found]
            shares = [float(np.mean(error <= k * sigma)) for k in (1.0, 2.0)]
            middle, most = np.quantile(error, (0.5, 0.95))
            line(
                source.name, kind, str(error.size), f"{middle:.1f} ({most:.1f})", f"{np.median(sigma):.1f}",
                *(f"{share:.3f}" for share in shares),
            )  # fmt: skip
            written.setdefault(source.name, {})[kind] = shares
    return written


def _compared(runner: Runner, episode: Episode) -> np.ndarray:
    """Errors and deviations (2, n · m), N."""
    estimator, force, noise = runner.estimator, [], []
    estimator.reset()
    for state in states(estimator.model, episode.recording):
        mode = estimator.update(state, Parts.MODE).mode
        force.append(np.einsum("mi,mi->m", mode.force_estimate, mode.normal))
        noise.append(estimator.force_noise)
    observed = np.array(force)
    stamps = np.rint(1e9 * episode.recording.time).astype(np.int64)
    sigma = force_sigma(stamps, observed, np.array(noise), 1.0 / estimator.config.observer.gain)
    assert episode.force is not None
    return np.stack([(observed - episode.force[:, :, 2]).ravel(), sigma.ravel()])
