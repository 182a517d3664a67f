"""Kubernetes objects, as pure manifests and as components."""
