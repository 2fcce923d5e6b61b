"""The ROS side of ``hybrid-contact demo``: a simulated robot, a listener, and the score that is kept of what it
heard."""
