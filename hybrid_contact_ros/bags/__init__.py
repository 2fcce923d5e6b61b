"""rosbag2 recordings in and out, whole or cut. No rclpy."""
