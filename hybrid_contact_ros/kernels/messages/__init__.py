"""Kernels between the numbers of messages and those of states and predictions."""
