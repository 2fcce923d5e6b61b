"""How outcomes vary along whole executions (Pace and Burden)."""
