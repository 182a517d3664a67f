"""What a self-managed cluster on AWS needs to become Ready: cloud controller manager, CSR approver."""
