"""Lifecycle node ``contact_mode``: which contacts hold, and what they do next."""

from __future__ import annotations

from typing import Any

from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.nodes.engine_node import EngineNode, run
from hybrid_contact_ros.nodes.outputs import ModeOutput
from hybrid_contact_ros.prediction import Prediction


class ContactModeNode(EngineNode):
    """Publishes ``contact_mode`` and ``contact_events``."""

    parts = Parts.MODE | Parts.SEQUENCE

    def __init__(self, **options: Any) -> None:
        super().__init__("contact_mode", **options)

    def create_outputs(self) -> None:
        self._mode = ModeOutput(self)

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        self._mode.publish(prediction, compute_ns, age_ns)


def main() -> None:
    """Run the node until it is interrupted."""
    run(ContactModeNode)


if __name__ == "__main__":
    main()
