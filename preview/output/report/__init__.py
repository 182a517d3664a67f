"""The HTML page of a plan."""
