"""Pods, services and permissions inside of clusters, whatever the operating system."""

from . import images, namespaces, pod_security, rbac, scheduling, secrets, service_accounts, services

RULES = (
    pod_security.pod_not_privileged,
    pod_security.pod_own_namespaces,
    pod_security.pod_no_escalation,
    pod_security.pod_no_host_paths,
    pod_security.pod_no_host_ports,
    images.image_tag_fixed,
    images.image_registry_approved,
    secrets.no_secret_in_environment,
    secrets.secrets_as_files,
    service_accounts.service_account_own,
    service_accounts.default_service_account_unbound,
    namespaces.default_namespace_unused,
    secrets.config_map_without_secrets,
    rbac.rbac_no_wildcards,
    rbac.rbac_no_secret_reading,
    rbac.rbac_no_detours,
    rbac.rbac_no_escalation,
    rbac.rbac_no_cluster_admin,
    rbac.rbac_no_anonymous,
    namespaces.namespace_pod_security,
    namespaces.namespace_network_policy,
    services.service_load_balancer_private,
    services.service_load_balancer_tls,
    services.ingress_tls,
    scheduling.no_beta_labels,
)
"""The rules in the order of the reference page."""
