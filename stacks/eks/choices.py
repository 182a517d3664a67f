"""The allowed values of settings for the JSON schema, from the tables with which the components check them."""

from collections.abc import Mapping, Sequence

from winkube.addons.addon_table import ADDONS
from winkube.addons.identity import IDENTITIES
from winkube.addons.storage_rules import RECLAIM_POLICIES, VOLUME_SPEEDS
from winkube.ec2.instance_rules import CAPACITY_TYPES
from winkube.eks.access import ACCESS_POLICIES
from winkube.eks.cluster_rules import (
    AUTHENTICATION_MODES,
    CONTROL_PLANE_TIERS,
    EGRESS_MODES,
    LOG_TYPE_NAMES,
    SUPPORT_TYPES,
)
from winkube.eks.group_options import MANAGEMENTS, UPDATE_STRATEGIES
from winkube.eks.ipam import MODES
from winkube.eks.node_classes import CAPACITY_TYPES as KARPENTER_CAPACITY_TYPES
from winkube.eks.port_rules import PROTOCOLS
from winkube.tables.kubernetes import EKS_MINORS
from winkube.tables.linux import LINUX_IMAGES
from winkube.tables.windows import EDITIONS, WINDOWS_RELEASES

from ..config.introspection import Model
from . import addon_settings, cluster_settings, group_settings
from .cluster_checks import CORE_DNS_PLATFORMS

CHOICES: Mapping[tuple[type[Model], str], Sequence[str]] = {
    (cluster_settings.ClusterSettings, "kubernetes_version"): tuple(EKS_MINORS),
    (cluster_settings.ClusterSettings, "authentication_mode"): AUTHENTICATION_MODES,
    (cluster_settings.ClusterSettings, "log_types"): LOG_TYPE_NAMES,
    (cluster_settings.ClusterSettings, "control_plane_egress"): tuple(EGRESS_MODES),
    (cluster_settings.ClusterSettings, "support_type"): tuple(SUPPORT_TYPES),
    (cluster_settings.ClusterSettings, "control_plane_tier"): CONTROL_PLANE_TIERS,
    (cluster_settings.ClusterSettings, "core_dns"): CORE_DNS_PLATFORMS,
    (cluster_settings.PodPortSettings, "protocol"): PROTOCOLS,
    (cluster_settings.AccessPolicySettings, "policy"): tuple(ACCESS_POLICIES),
    (cluster_settings.WindowsIpamSettings, "mode"): MODES,
    (group_settings.InstanceGroupSettings, "linux"): tuple(LINUX_IMAGES),
    (group_settings.InstanceGroupSettings, "windows"): tuple(WINDOWS_RELEASES),
    (group_settings.InstanceGroupSettings, "edition"): tuple(EDITIONS),
    (group_settings.InstanceGroupSettings, "capacity_type"): tuple(CAPACITY_TYPES),
    (group_settings.InstanceGroupSettings, "management"): MANAGEMENTS,
    (group_settings.InstanceGroupSettings, "update_strategy"): tuple(UPDATE_STRATEGIES),
    (addon_settings.AddonSettings, "name"): tuple(ADDONS),
    (addon_settings.AddonSettings, "identity"): IDENTITIES,
    (addon_settings.NtfsStorageClassSettings, "volume_type"): tuple(VOLUME_SPEEDS),
    (addon_settings.NtfsStorageClassSettings, "reclaim_policy"): RECLAIM_POLICIES,
    (addon_settings.SmbStorageClassSettings, "reclaim_policy"): RECLAIM_POLICIES,
    (addon_settings.KarpenterPoolSettings, "windows"): tuple(WINDOWS_RELEASES),
    (addon_settings.KarpenterPoolSettings, "capacity_types"): KARPENTER_CAPACITY_TYPES,
}
"""Section and setting to the allowed values; for a list, those of its items."""
