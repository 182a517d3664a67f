"""Faster ways through the SDK."""
