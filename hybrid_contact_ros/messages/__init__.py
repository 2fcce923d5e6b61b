"""Messages in and out by duck typing: the classes of rclpy and those of rosbags alike."""
