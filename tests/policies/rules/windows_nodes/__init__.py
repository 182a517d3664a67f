"""Rules about Windows nodes, in depth."""
