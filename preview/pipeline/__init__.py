"""Evaluates and compares stacks: worker processes, git revisions, pull requests."""
