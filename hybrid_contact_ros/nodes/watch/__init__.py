"""The ROS side of ``hybrid-contact watch``: the node that listens, and the recorder."""
