"""Published recordings (.npz) read into one form, and written as rosbag2. No rclpy."""
