"""The flavour whose control plane is one's own: kubeadm on EC2, flannel, Linux and Windows instance groups."""
