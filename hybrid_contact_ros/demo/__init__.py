"""The main job: a simulated robot, the suite beside it, and what a person sees of it."""
