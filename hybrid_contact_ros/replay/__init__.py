"""Bags in; predictions, scores and reports out. No rclpy."""
