"""Tests of what runs on a Linux node."""
