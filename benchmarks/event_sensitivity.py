"""``./run bench event_sensitivity``: what a message of one cluster of touchdowns of a Go2 costs, step by step."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin

from benchmarks.estimator import ROOT, go2
from hybrid_contact_ros.bags.typestore import message_types
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.event_maps import EventMaps
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.impacts.steps import without_pauses
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.serialized_encoding import SerializedEncoder

TURNS = 40


def least(work: Callable[[], object]) -> float:
    """ms of thread time, the least of some turns."""
    best = np.inf
    for _ in range(TURNS):
        begin = time.thread_time_ns()
        work()
        best = min(best, 1e-6 * (time.thread_time_ns() - begin))
    return best


def falling(estimator: ContactEstimator) -> RobotState:
    """A Go2 that falls at 1 m/s, its feet some millimetres apart in height, with odometry of 1 mm and 2 cm/s."""
    model = estimator.model
    q = model.neutral()
    q[7:] = np.tile([0.0, 0.9, -1.8], 4)
    q = model.integrate(q, 0.005 * np.random.default_rng(0).normal(size=model.nv))
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min() - 0.02
    v = np.zeros(model.nv)
    v[2] = -1.0
    return RobotState(0, q, v, np.zeros(model.nv), np.stack((1e-6 * np.eye(6), 4e-4 * np.eye(6))))


def main() -> None:
    """Print the table."""
    model = go2()
    config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    estimator = ContactEstimator(model, config)
    estimator.warm(parts=Parts.MODE | Parts.SENSITIVITY)
    state = falling(estimator)
    terms = least(lambda: pin.computeAllTerms(model.pinocchio_model, model.pinocchio_data, state.q, state.v))
    print(f"thread time, least of {TURNS}; computeAllTerms takes {1e3 * terms:.1f} µs")
    print("feet | words | all but the message, ms | its bytes, ms | kB")
    estimator.update(state, Parts.MODE)
    ahead, maps, encoder = estimator.events_ahead(), EventMaps(model, config), SerializedEncoder(message_types(), model)
    assert ahead is not None
    for feet in range(1, 5):
        kinds = ahead.backed.copy()
        kinds[feet:] = 0
        some = replace(ahead, backed=kinds)
        (event,) = without_pauses(maps.ahead(some))
        whole = least(lambda some=some: without_pauses(maps.ahead(some)))  # type: ignore[misc]
        data = encoder.sensitivity(event)
        bytes_ = least(lambda event=event: encoder.sensitivity(event))  # type: ignore[misc]
        print(f"{feet} | {len(event.words)} | {whole:.2f} | {bytes_:.2f} | {len(data) / 1000:.0f}")


if __name__ == "__main__":
    main()
