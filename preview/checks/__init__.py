"""Checks of a plan: inputs, Kubernetes objects, secrets in plain text, policy packs."""
