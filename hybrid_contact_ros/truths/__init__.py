"""Which contacts touched, from whatever a recording holds: sensors, force plates, simulators, other estimators."""
