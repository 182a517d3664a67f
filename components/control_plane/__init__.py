"""The control plane of a self-managed cluster: kubeadm on EC2, in fixed slots behind a load balancer."""
