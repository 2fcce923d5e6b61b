"""Contact tracking, event times, and the rollout of the next contact modes."""
