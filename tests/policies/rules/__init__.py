"""Rules that the cases alone do not show in full."""
