"""What ``benchmarks/landings.py`` is made of: recorded landings, sets and their sizes, and models of a landing.

Prototypes: nothing of the package uses them.
"""
