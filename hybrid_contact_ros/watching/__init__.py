"""What a person sees of running suites: robots as their topics tell of them, and tables for a plain terminal. No
rclpy."""
