"""What ``benchmarks/landings.py`` is made of: recorded landings, sets and their sizes, and models of a landing; and
``benchmarks/real_impacts.py``: a cube, an ellipse, Cassie.

Prototypes: nothing of the package uses them.
"""
