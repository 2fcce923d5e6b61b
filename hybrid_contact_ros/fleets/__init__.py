"""Many recordings at once: found, scored on many processors, and kept as one table. No rclpy."""
