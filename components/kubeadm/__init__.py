"""What kubeadm, kubelets and the control plane read: documents as pure functions of plain data, and their checks."""
