"""From a robot's mass matrix and Jacobians to contact space."""
