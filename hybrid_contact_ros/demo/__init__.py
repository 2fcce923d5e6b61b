"""The demo: a simulated robot, and what a person sees of the suite beside it. No rclpy."""
