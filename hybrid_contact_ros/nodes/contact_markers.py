"""Lifecycle node ``contact_markers``: the contact mode for RViz."""

from __future__ import annotations

from typing import Any

from rclpy.time import Time
from visualization_msgs.msg import MarkerArray

from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.nodes.engine_node import EngineNode, run
from hybrid_contact_ros.prediction import Prediction
from hybrid_contact_ros.ros.markers import markers
from hybrid_contact_ros.ros.parameters import declare_own


class ContactMarkersNode(EngineNode):
    """Publishes ``contact_markers`` at ``marker_rate``: RViz needs no more."""

    parts = Parts.MODE

    def __init__(self, **options: Any) -> None:
        super().__init__("contact_markers", **options)
        declare_own(self, "marker_rate", 30.0, "of the markers, at most [Hz]")
        declare_own(self, "marker_size", 0.03, "diameter of a contact point [m]")

    def create_outputs(self) -> None:
        self._markers = self.output(MarkerArray, "contact_markers")
        self._period_ns = round(1e9 / max(float(self.get_parameter("marker_rate").value), 0.1))
        self._size = float(self.get_parameter("marker_size").value)
        self._last = 0

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        stamp = prediction.mode.stamp_ns
        if 0 <= stamp - self._last < self._period_ns:
            return
        self._last = stamp
        assert self.estimator is not None and self.encoder is not None
        names = tuple(self.estimator.model.contact_names)
        at = Time(nanoseconds=stamp).to_msg()
        self._markers.publish(markers(prediction.mode, names, self.encoder.frame_id, at, self._size))


def main() -> None:
    """Run the node until it is interrupted."""
    run(ContactMarkersNode)


if __name__ == "__main__":
    main()
