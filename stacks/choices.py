"""The values to choose from, for editors: from the tables by which the components judge the same settings."""

from collections.abc import Mapping, Sequence

from winkube.eks.access import ACCESS_POLICIES
from winkube.eks.cluster_rules import (
    AUTHENTICATION_MODES,
    CONTROL_PLANE_TIERS,
    EGRESS_MODES,
    LOG_TYPE_NAMES,
    SUPPORT_TYPES,
)
from winkube.eks.ipam import MODES
from winkube.eks.node_group_rules import CAPACITY_TYPES
from winkube.eks.scheduling import EKS_EFFECTS
from winkube.network.endpoints import GATEWAY_SERVICES, INTERFACE_SERVICES
from winkube.network.plan import NAT_MODES
from winkube.tables.kubernetes import EKS_MINORS
from winkube.tables.linux import LINUX_IMAGES
from winkube.tables.regions import REGIONS
from winkube.tables.windows import EDITIONS, WINDOWS_RELEASES
from winkube.zone.names import VISIBILITIES

from . import settings
from .shape import Model

CHOICES: Mapping[tuple[type[Model], str], Sequence[str]] = {
    (settings.Settings, "flavour"): tuple(settings.FLAVOURS),
    (settings.Settings, "region"): tuple(REGIONS),
    (settings.NetworkSettings, "nat"): NAT_MODES,
    (settings.NetworkSettings, "gateway_endpoints"): GATEWAY_SERVICES,
    (settings.NetworkSettings, "interface_endpoints"): INTERFACE_SERVICES,
    (settings.ZoneSettings, "visibility"): VISIBILITIES,
    (settings.ClusterSettings, "kubernetes_version"): tuple(EKS_MINORS),
    (settings.ClusterSettings, "authentication_mode"): AUTHENTICATION_MODES,
    (settings.ClusterSettings, "log_types"): LOG_TYPE_NAMES,
    (settings.ClusterSettings, "control_plane_egress"): tuple(EGRESS_MODES),
    (settings.ClusterSettings, "support_type"): tuple(SUPPORT_TYPES),
    (settings.ClusterSettings, "control_plane_tier"): CONTROL_PLANE_TIERS,
    (settings.AccessPolicySettings, "policy"): tuple(ACCESS_POLICIES),
    (settings.WindowsIpamSettings, "mode"): MODES,
    (settings.InstanceGroupSettings, "linux"): tuple(LINUX_IMAGES),
    (settings.InstanceGroupSettings, "windows"): tuple(WINDOWS_RELEASES),
    (settings.InstanceGroupSettings, "edition"): tuple(EDITIONS),
    (settings.InstanceGroupSettings, "capacity_type"): tuple(CAPACITY_TYPES),
    (settings.TaintSettings, "effect"): tuple(EKS_EFFECTS),
}
"""Section and setting to its values; of a list, the values of its items."""
