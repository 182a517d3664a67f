"""Buckets, file systems, registries, logs."""

from . import bucket_access, buckets, file_systems, logs, registries

RULES = (
    bucket_access.bucket_blocks_public_access,
    bucket_access.bucket_no_public_write,
    bucket_access.bucket_no_public_read,
    bucket_access.bucket_without_acls,
    buckets.bucket_tls_only,
    buckets.versioned_bucket_lifecycle,
    buckets.bucket_access_logs,
    buckets.no_force_destroy,
    buckets.object_without_secrets,
    file_systems.file_system_encrypted,
    file_systems.fsx_windows_zones,
    registries.registry_scans,
    registries.registry_immutable_tags,
    registries.registry_lifecycle,
    logs.log_retention,
)
"""The rules in the order of the reference page."""
