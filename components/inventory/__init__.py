"""Machines of a stack as an inventory of Ansible, for Kubespray and playbooks of one's own."""
