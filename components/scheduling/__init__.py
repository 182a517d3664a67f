"""Labels and taints of nodes, and what is written from them: kubelet flags, node groups, autoscaler tags."""
