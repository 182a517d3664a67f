"""The flavour whose control plane is that of EKS."""
