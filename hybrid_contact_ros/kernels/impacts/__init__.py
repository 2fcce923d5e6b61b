"""Impacts: the increment complementarity problem, its solvers, sampled sets and bounds."""
