"""How a live node fares: what it computes when it is short of time, and what there is to be said. No rclpy."""
