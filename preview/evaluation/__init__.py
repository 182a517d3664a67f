"""Runs a program in process and records its plan."""
