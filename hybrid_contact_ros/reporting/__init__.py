"""Reports that people look at, from the result of a replay."""
