"""Compares two plans: differences, replacements, and the impact on Windows nodes."""
