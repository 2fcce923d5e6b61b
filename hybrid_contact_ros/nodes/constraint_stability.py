"""Lifecycle node ``constraint_stability``: whether the contacts stay, and how events depend on the state before."""

from __future__ import annotations

from typing import Any

from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.nodes.engine_node import EngineNode, run
from hybrid_contact_ros.nodes.outputs import STABILITY, SensitivityOutput, StabilityOutput
from hybrid_contact_ros.prediction import Prediction


class ConstraintStabilityNode(EngineNode):
    """Publishes ``constraint_stability`` and ``event_sensitivity``."""

    kept = Parts.MODE | Parts.STABILITY
    parts = kept | Parts.SENSITIVITY

    def __init__(self, **options: Any) -> None:
        super().__init__("constraint_stability", **options)

    def create_outputs(self) -> None:
        self._stability = StabilityOutput(self)
        self._sensitivity = SensitivityOutput(self)

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        if self.stream is not None and self.stream.parts & STABILITY:
            self._stability.publish(prediction, compute_ns)

    def unheard(self) -> int:
        return (0 if self._stability.heard else STABILITY) | self._sensitivity.unheard


def main() -> None:
    """Run the node until it is interrupted."""
    run(ConstraintStabilityNode)


if __name__ == "__main__":
    main()
