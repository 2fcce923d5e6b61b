"""Lifecycle nodes, thin."""
