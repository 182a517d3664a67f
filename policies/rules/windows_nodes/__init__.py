"""What a cluster with Windows nodes needs, and what its nodes must be."""

from . import addons, bootstrap, clusters, images, ipam, kubelet, node_groups, roles, volumes

RULES = (
    roles.windows_node_role_not_shared,
    roles.windows_cluster_role,
    roles.windows_access_entry,
    ipam.windows_ipam_once,
    ipam.windows_ipam_settings,
    ipam.windows_prefixes_need_nitro,
    addons.windows_no_custom_networking,
    clusters.windows_needs_linux_nodes,
    clusters.windows_two_linux_nodes,
    clusters.windows_needs_ipv4,
    images.windows_release_runs,
    images.windows_release_current,
    node_groups.windows_instance_types,
    node_groups.windows_instance_types_tested,
    node_groups.windows_nodes_tainted,
    node_groups.windows_no_node_repair,
    images.windows_release_pinned,
    volumes.windows_root_volume,
    bootstrap.windows_bootstrap_addresses,
    bootstrap.windows_memory_reserved,
    kubelet.kubelet_arguments_safe,
    kubelet.kubelet_arguments_known,
    bootstrap.windows_managed_group_bootstrap,
    addons.addon_keeps_to_linux,
)
"""The rules in the order of the reference page."""
