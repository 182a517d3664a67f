"""Kubernetes clusters with Windows worker nodes on AWS."""
