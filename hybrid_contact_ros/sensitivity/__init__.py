"""How outcomes vary with the order of impacts (Pace and Burden)."""
