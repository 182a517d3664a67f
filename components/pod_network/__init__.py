"""The pod network of self-managed clusters: flannel and kube-proxy, for Linux and Windows nodes."""
