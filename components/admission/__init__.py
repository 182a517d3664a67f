"""Admission policies for Windows pods."""
