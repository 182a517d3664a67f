"""Rules about instances, in depth."""
