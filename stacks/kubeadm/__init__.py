"""The flavour with a self-managed control plane: kubeadm on EC2, flannel, Linux and Windows instance groups."""
