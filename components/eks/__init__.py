"""EKS clusters, node groups and Windows IPAM."""
