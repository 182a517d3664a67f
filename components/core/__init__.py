"""What every room shares: mistakes and the one error class, names, tags, CIDR arithmetic."""
