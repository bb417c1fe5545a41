"""Frozen values and their laws; NumPy only."""
