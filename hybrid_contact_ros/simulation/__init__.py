"""Event-driven executions of hybrid systems: touchdown, liftoff, impact, rest (Johnson, Definitions 2 to 6; Or,
Definition 5)."""
