"""What nodes need of ROS: message classes, parameters, QoS, the executor, diagnostics. With ``nodes`` this is the only
room that knows rclpy."""
