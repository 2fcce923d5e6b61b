"""Results of replays that no robot made: a trot with known mistakes, as long as a test wants it."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybrid_contact_ros.codes import ContactStatus, EventKind, Flag
from hybrid_contact_ros.results.file import Result
from hybrid_contact_ros.results.scored import with_truth
from hybrid_contact_ros.scoring.track import Truth

START_NS = 1_700_000_000_000_000_000
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
NV = 18
GAIT = 0.5  # s of a stride
LATE = 0.004  # s that predictions follow the truth


def trot(
    seconds: float = 6.0, rate: float = 500.0, feet: tuple[str, ...] = FEET, truth: bool = True, seed: int = 0
) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray]]]:
    """Summary and tables of a result. Contacts are seen ``LATE`` s late, and the first foot's stance at 40 % of the
    time is not seen at all; impacts come every stride, and every tenth velocity after one is outside of its set."""
    random = np.random.default_rng(seed)
    m, n = len(feet), int(seconds * rate)
    t = np.arange(n) / rate
    stamps = START_NS + np.round(t * 1e9).astype(np.int64)

    def stance(at: np.ndarray) -> np.ndarray:
        phase = (at[:, None] / GAIT + 0.5 * (np.arange(m) % 2)) % 1.0
        return phase < 0.5

    true, closed = stance(t), stance(t - LATE)
    missed = (int(0.4 * seconds / GAIT) + np.array([0.0, 0.5])) * GAIT
    closed[(t >= missed[0]) & (t < missed[1] + LATE), 0] = False
    phase = (t[:, None] / GAIT + 0.5 * (np.arange(m) % 2)) % 1.0
    ahead = np.where(phase < 0.5, 0.5 - phase, 1.0 - phase) * GAIT + 0.002 * random.standard_normal((n, m))
    force = np.where(closed, 60.0 + 8.0 * random.standard_normal((n, m)), 0.5 * random.standard_normal((n, m)))
    gap = np.where(true, 0.0, 0.05 * np.sin(2 * np.pi * (phase - 0.5)).clip(0)) + 2e-4 * random.standard_normal((n, m))
    probability = np.clip(np.where(closed, 0.97, 0.03) + 0.01 * random.standard_normal((n, m)), 0.0, 1.0)
    decided = np.where(closed, Flag.HOLDS, Flag.UNDECIDED)
    tables: dict[str, dict[str, np.ndarray]] = {
        "states": {
            "stamp_ns": stamps, "compute_ns": (4e4 * random.lognormal(0, 0.3, n)).astype(np.int64),
            "input_age_ns": np.zeros(n, np.int64), "base_position": np.zeros((n, 3), np.float32),
        },
        "contacts": {
            "closed": closed, "status": np.where(closed, ContactStatus.STICKING, ContactStatus.OPEN).astype(np.uint8),
            "probability": probability.astype(np.float32), "probability_valid": np.ones(n, bool),
            "gap": gap.astype(np.float32), "ground_sigma": np.full((n, m), 5e-4, np.float32),
            "normal_force": force.astype(np.float32), "force_weight": np.ones((n, m), np.float32),
            "next_event": np.where(closed, EventKind.LIFTOFF, EventKind.TOUCHDOWN).astype(np.uint8),
            "time_to_event": ahead.astype(np.float32), "earliest": (0.9 * ahead).astype(np.float32),
            "latest": (1.1 * ahead).astype(np.float32), "bounds_valid": np.ones((n, m), bool),
            "friction_lower": np.where(closed, 0.3, 0.0).astype(np.float32),
            "friction_upper": np.full((n, m), np.inf, np.float32), "slip_warning": random.random((n, m)) < 1e-3,
        },
        "stability": {name: decided.astype(np.uint8) for name in ("constraint_stability", "friction", "zeno")},
        "refusals": {
            "stamp_ns": stamps[[n // 3, n // 3 + 1, n // 2]], "reason": np.array([0, 0, 1], np.int16),
        },
    }  # fmt: skip
    sets, observed = _impacts(seconds, random)
    tables |= {"sets": sets, "observed": observed}
    summary = {
        "kind": "hybrid_contact_ros result", "format": 1, "package_version": "0", "bag": "made.mcap", "robot": "made",
        "contacts": list(feet), "frames": list(feet), "groups": [],
        "truth": ["/truth/contact_mode"] if truth else [], "configuration": {"filter": {"level": 0.5}},
        "hashes": {"urdf": "0" * 16}, "faults": {"no_velocity": 2, "stale": 1},
        "reasons": ["no_velocity", "stale"], "warnings": [], "damage": None,
    }  # fmt: skip
    told = Truth(stamps, tuple((name, (i,)) for i, name in enumerate(feet)), true, np.ones(true.shape, bool))
    made = with_truth(Result(summary, tables), told if truth else None)
    return made.summary, made.tables


def _impacts(seconds: float, random: np.random.Generator) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    k, samples = max(1, int(seconds / GAIT)), 64
    times = START_NS + np.round((np.arange(k) + 0.25) * GAIT * 1e9).astype(np.int64)
    before = random.standard_normal((k, NV)).astype(np.float32)
    nominal = 0.2 * before
    velocities = np.repeat(nominal, samples, axis=0) + 0.05 * random.standard_normal((k * samples, NV))
    away = np.where(np.arange(k) % 10 == 9, 0.3, 0.0)
    sets = {
        "stamp_ns": times - 5_000_000, "impact_time_ns": times, "contacts": np.full(k, 3, np.uint64),
        "radius": np.full(k, 0.2, np.float32), "v_minus": before, "nominal": nominal,
        "offsets": samples * np.arange(k + 1), "velocities": velocities.astype(np.float32),
    }  # fmt: skip
    observed = {
        "time_ns": times, "v_minus": before, "v_plus": (nominal * (1 + 3 * away[:, None])).astype(np.float32),
        "set": np.arange(k, dtype=np.int32), "distance": away.astype(np.float32),
        "nominal_distance": (3 * away).astype(np.float32), "radius": np.full(k, 0.2, np.float32),
        "within_bounds": away == 0.0,
    }  # fmt: skip
    return sets, observed
