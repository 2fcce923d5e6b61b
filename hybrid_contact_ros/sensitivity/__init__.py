"""How the outcome of one event varies with the state before it (Pace and Burden)."""
