"""Predictions compared with what happened."""
