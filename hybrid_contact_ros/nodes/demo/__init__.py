"""The processes of ``hybrid-contact demo``: a simulated robot, a monitor, and the score at the end."""
