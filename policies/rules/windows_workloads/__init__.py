"""Pods for Windows nodes: what Windows does not have, and what decides where they run.

Source: Kubernetes, "Windows containers in Kubernetes" (field compatibility and limits), and the EKS guides.
"""

from . import fields, file_systems, identity, images, isolation, memory, pod_network, scheduling, services, volumes

RULES = (
    fields.windows_fields_refused,
    *fields.FIELD_RULES,
    isolation.windows_host_network,
    isolation.windows_host_process,
    isolation.windows_few_host_processes,
    isolation.windows_container_user,
    memory.windows_no_huge_pages,
    memory.windows_memory_limits,
    volumes.windows_no_block_devices,
    volumes.windows_no_memory_volumes,
    file_systems.windows_no_nfs,
    file_systems.windows_no_in_tree_volumes,
    volumes.windows_no_mount_propagation,
    volumes.windows_whole_volumes,
    volumes.windows_mount_paths,
    volumes.windows_no_file_modes,
    pod_network.windows_dns_policy,
    isolation.windows_no_hyper_v,
    images.windows_one_system,
    scheduling.windows_pod_selects_nodes,
    images.windows_image_fits_build,
    images.windows_image_has_nodes,
    scheduling.windows_build_selected,
    scheduling.windows_runtime_class_exists,
    services.windows_service_size,
    services.windows_service_affinity,
    services.windows_service_ipv4,
    identity.windows_no_pod_identity,
    identity.windows_no_pod_security_groups,
    pod_network.windows_network_policy,
    scheduling.fargate_takes_no_windows,
    file_systems.windows_volumes_ntfs,
    file_systems.ntfs_not_expanded,
    pod_network.flannel_fits_windows,
    pod_network.windows_no_legacy_controller,
    pod_network.pod_network_maintained,
)
"""The rules in the order of the reference page."""
