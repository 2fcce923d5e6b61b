"""Lifecycle node ``impact_set``: the velocities that an impact may end with."""

from __future__ import annotations

from typing import Any

from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.nodes.engine_node import EngineNode, run
from hybrid_contact_ros.nodes.outputs import ImpactOutput


class ImpactSetNode(EngineNode):
    """Publishes ``impact_set`` and answers ``~/predict_impact``."""

    parts = kept = Parts.MODE | Parts.IMPACT

    def __init__(self, **options: Any) -> None:
        super().__init__("impact_set", **options)

    def create_outputs(self) -> None:
        self._impact = ImpactOutput(self)


def main() -> None:
    """Run the node until it is interrupted."""
    run(ImpactSetNode)


if __name__ == "__main__":
    main()
