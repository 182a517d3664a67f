"""Writes the HTML page of a plan."""
