"""What ``benchmarks/estimation.py`` is made of: recordings with truths, sensor faults, baselines, ceilings, scores."""
