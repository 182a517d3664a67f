"""Network: VPC, subnets per zone and role, NAT, endpoints, flow logs."""
