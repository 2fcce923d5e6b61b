"""What the robot is: states, contact points, the URDF model and the contact problem of one configuration."""
