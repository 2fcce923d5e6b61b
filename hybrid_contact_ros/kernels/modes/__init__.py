"""Contact modes under Coulomb friction: which contacts hold, slide or open, and with which forces."""
