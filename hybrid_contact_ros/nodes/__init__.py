"""The lifecycle nodes. With ``ros`` this is the only room that knows rclpy; what can be tested without ROS is below."""
