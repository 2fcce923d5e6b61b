"""Lifecycle node ``contact_suite``: contact mode, impact set and stability in one process, on one subscription."""

from __future__ import annotations

from typing import Any

from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.nodes.engine_node import EngineNode, run
from hybrid_contact_ros.nodes.outputs import STABILITY, ImpactOutput, ModeOutput, SensitivityOutput, StabilityOutput
from hybrid_contact_ros.prediction import Prediction


class ContactSuiteNode(EngineNode):
    """Publishes everything. It is the default, with the lowest latency.

    Where states come faster than they can be answered, parts are left out in a fixed order
    (:mod:`~hybrid_contact_ros.monitoring.budget`)."""

    parts = Parts.ALL | Parts.SENSITIVITY

    def __init__(self, **options: Any) -> None:
        super().__init__("contact_suite", **options)

    def create_outputs(self) -> None:
        self._mode = ModeOutput(self)
        self._stability = StabilityOutput(self)
        self._impact = ImpactOutput(self)
        self._sensitivity = SensitivityOutput(self)

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        self._mode.publish(prediction, compute_ns, age_ns)
        if self.stream is not None and self.stream.parts & STABILITY:
            self._stability.publish(prediction, compute_ns)

    def unheard(self) -> int:
        return (0 if self._stability.heard else STABILITY) | self._sensitivity.unheard


def main() -> None:
    """Run the node until it is interrupted."""
    run(ContactSuiteNode)


if __name__ == "__main__":
    main()
