"""ClusterZone: the Route 53 zones of a cluster."""
