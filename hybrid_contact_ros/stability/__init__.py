"""Whether contacts stay: constraint stability and Zeno (Or, Ames)."""
