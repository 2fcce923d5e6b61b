"""A filter of beliefs that is fed by hand."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.config_belief import BeliefConfig
from hybrid_contact_ros.estimation.contact_belief import belief_record, belief_settings
from hybrid_contact_ros.kernels.estimation.belief_records import BeliefInput
from hybrid_contact_ros.kernels.estimation.contact_belief import contact_belief
from hybrid_contact_ros.kernels.estimation.sensor_likelihoods import sensor_memory

CONFIG = BeliefConfig()
WEIGHT = 160.0
SHARE = WEIGHT / 4
SURFACE = CONFIG.gap_sigma
MEASURED = ("gap", "gap_sigmas", "surfaces", "own", "rate", "rate_sigmas", "spread", "slide", "quiet", "load", "force")


class Belief:
    """A filter of m contacts that is fed one state after the other."""

    def __init__(self, m: int, weight: float = WEIGHT, links: list[str] | None = None, config=CONFIG) -> None:
        self.settings = belief_settings(config, 2.0, weight, m)
        self.record = belief_record(links or [f"foot {i}" for i in range(m)], 18)
        self.first = True
        self.beside = sensor_memory(m).beside

    def step(self, dt=1e-3, trusted=True, observed=True, kind=None, times=None, **state) -> np.ndarray:
        """Probabilities (m, 2), closed and slipping; ``kind`` and ``times`` were foretold with the state before."""
        r, m = self.record, len(self.record.load)
        if kind is not None:
            r.kind[:], r.times[:] = kind, times
        given = evidence(m, **state)
        contact_belief(
            *self.settings, r.members, dt, self.first, trusted, observed, given.touching, *given[5:16],
            given.force_covariance, given.doubt, given.force_weight, given.stood, given.late, given.link_of,
            r.belief, r.kind, r.times, r.held, r.forces, r.transition, r.single, r.joint, r.L, r.x, self.beside,
            r.probability,
        )  # fmt: skip
        self.first = False
        return r.probability.copy()


def evidence(
    m: int, dt=1e-3, first=False, touching=1, stood=0, covariance=None, doubt=0.0, weight=1.0, late=0.0, **state
) -> BeliefInput:
    """A state of contacts that stand, but for what is given."""
    values = {
        "gap": 0.0,
        "gap_sigmas": 1e-3,
        "surfaces": SURFACE,
        "own": 0.0,
        "rate": 0.0,
        "rate_sigmas": 0.02,
        "spread": 0.0,
        "slide": 0.0,
        "quiet": 0.0,
    }
    values |= {"load": SHARE, "force": SHARE} | state
    arrays = {name: np.broadcast_to(np.asarray(values[name], float), m).copy() for name in MEASURED}
    return BeliefInput(
        dt=dt, first=first, trusted=True, observed=True,
        touching=np.broadcast_to(np.asarray(touching, np.uint8), m).copy(), **arrays,
        force_covariance=np.eye(m) * 4.0 if covariance is None else covariance,
        doubt=np.broadcast_to(np.asarray(doubt, float), m).copy(),
        force_weight=np.broadcast_to(np.asarray(weight, float), m).copy(),
        stood=np.broadcast_to(np.asarray(stood, np.uint8), m).copy(), late=late,
        link_of=np.asarray(state.get("link_of", np.arange(m))),
    )  # fmt: skip
