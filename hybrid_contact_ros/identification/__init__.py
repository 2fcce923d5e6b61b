"""Restitution and friction from recorded impacts."""
