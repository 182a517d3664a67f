"""EKS clusters, their node groups and add-ons, whatever the operating system."""

from . import access, addons, clusters, logs, network, node_groups, versions

RULES = (
    network.cluster_endpoint_restricted,
    network.cluster_endpoint_private,
    versions.cluster_version_exists,
    versions.cluster_version_supported,
    versions.node_version_skew,
    clusters.cluster_secrets_encrypted,
    clusters.eks_tagged,
    logs.cluster_audit_logs,
    logs.cluster_log_group,
    access.cluster_access_entries,
    access.aws_auth_has_effect,
    access.access_entry_groups,
    access.cluster_admin_access,
    clusters.cluster_deletion_protection,
    network.cluster_two_zones,
    network.cluster_service_range,
    network.cluster_service_range_apart,
    node_groups.node_image_maintained,
    node_groups.node_group_architecture,
    node_groups.node_group_sizes,
    node_groups.node_group_labels,
    node_groups.node_group_remote_access,
    addons.network_policies_enforced,
    node_groups.fargate_selectors,
    addons.addon_conflicts,
)
"""The rules in the order of the reference page."""
