"""How outcomes vary with the state (Pace, Burden)."""
