"""Made-up episodes for the scores of estimation."""

from __future__ import annotations

import numpy as np

from benchmarks.estimation_scores.episodes import Array, Bools, Episode
from hybrid_contact_ros.recordings.recording import Recording

STEP = 0.001  # s


def gait(seconds: float = 3.0, period: float = 0.4, closed: Bools | None = None, gap: Array | None = None) -> Episode:
    """Feet of a floating base that stand for 60 % of a period, the second one half a period later; or as ``closed``
    (n, k) says. Sensors are smooth functions of time that tell samples apart."""
    if closed is None:
        time = STEP * np.arange(round(seconds / STEP))
        closed = ((time[:, None] + [0.0, 0.5 * period]) % period) >= 0.4 * period
    n, k = closed.shape
    time = STEP * np.arange(n)
    waves = np.sin(np.outer(time, [1.0, 2.0, 3.0]))
    gap = np.where(closed, 0.0, 0.05) if gap is None else gap
    force = np.zeros((n, k, 3))
    force[:, :, 2] = np.where(closed, 100.0, 0.0)
    recording = Recording(
        time=time, position=0.1 * waves, quaternion=np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)), linear=waves, angular=waves,
        joints=("a", "b", "c"), q=waves, dq=np.cos(np.outer(time, [1.0, 2.0, 3.0])), effort=10.0 * waves,
        contacts=tuple(f"foot_{i}" for i in range(k)), frames=("foot",) * k, closed=closed, force=force,
    )  # fmt: skip
    return Episode("made", recording, np.ones_like(closed), {}, gap, np.zeros((n, k, 3)), force)
