"""Kubernetes objects in a program: manifests, the component that applies them, rules of Windows pods."""
