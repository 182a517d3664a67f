"""VPCs and what guards them."""

from . import endpoints, network_acls, security_groups, subnets, vpcs

RULES = (
    security_groups.no_world_to_admin_ports,
    security_groups.no_world_to_risky_ports,
    security_groups.only_public_ports_to_world,
    security_groups.default_security_group_closed,
    network_acls.network_acl_admin_ports,
    subnets.subnets_without_public_addresses,
    vpcs.vpc_block_public_access,
    vpcs.vpc_flow_logs,
    vpcs.vpc_dns_for_eks,
    endpoints.endpoints_of_isolated_vpc,
    subnets.nodes_in_private_subnets,
)
"""The rules in the order of the reference page."""
