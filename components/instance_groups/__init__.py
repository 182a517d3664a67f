"""Workers of self-managed clusters: Linux and Windows instance groups, and images for them."""
