"""Hybrid executions: trajectories with touchdown, liftoff, impact and rest (J Definitions 2–6, O Definition 5)."""
