"""Measurements of speed and memory: see ``bench/run.py``."""
