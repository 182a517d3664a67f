"""Prepares values and texts for output: secrets removed, control characters spelled out, widths measured."""
