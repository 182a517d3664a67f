"""Targets that describe clusters which other tools made."""
