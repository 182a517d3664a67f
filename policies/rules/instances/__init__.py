"""Instances and what starts them."""

from . import auto_scaling, credentials, network_interfaces, user_data, volumes

RULES = (
    credentials.imdsv2_required,
    credentials.metadata_hop_limit,
    network_interfaces.no_public_address,
    volumes.ebs_encrypted,
    volumes.ebs_encryption_by_default,
    auto_scaling.launch_templates_only,
    auto_scaling.auto_scaling_zones,
    auto_scaling.auto_scaling_health,
    auto_scaling.spot_several_types,
    network_interfaces.source_destination_check,
    user_data.user_data_without_secrets,
    user_data.user_data_downloads_verified,
    credentials.no_key_pair_on_nodes,
)
"""The rules in the order of the reference page."""
