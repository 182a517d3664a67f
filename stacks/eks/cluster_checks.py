"""Checks of the section of the cluster: control plane, Windows IPAM, CoreDNS, security groups."""

from collections.abc import Iterable, Mapping

from winkube.core.mistakes import Mistake, Mistakes, Path, Rule, nearest, one_of, shown
from winkube.eks.cluster_rules import check_cluster
from winkube.eks.ipam import IPAM_MODE, OWNED_VALUE, check_addon_values, check_windows_ipam
from winkube.eks.port_rules import check_pod_ports
from winkube.roles.policy_documents import EKS_CLUSTER_POLICIES, EKS_WINDOWS_POLICIES

from ..common.arn_formats import KEY, ROLE, SECURITY_GROUP, ArnFormat, check_arn_formats
from ..common.setting_paths import check_role, given, to_setting_paths, windows_only
from .cluster_settings import ClusterSettings, WindowsIpamSettings
from .settings import EksSettings

CORE_DNS = Rule(
    "WK-SET-009",
    "CoreDNS runs on Linux nodes, or on Fargate if EKS manages it and nodes can reach it.",
    "https://docs.aws.amazon.com/eks/latest/userguide/fargate-getting-started.html#fargate-gs-coredns",
)
CORE_DNS_PLATFORMS = ("nodes", "fargate")
_IPAM_SWITCH = "enableWindowsIpam"
_OF_THE_ADDON = ("addon_version", "addon_values", "service_account_role_arn")


def check_cluster_settings(settings: EksSettings) -> Iterable[Mistake]:
    """Every mistake in the section of the cluster."""
    cluster, windows = settings.cluster, bool(settings.windows_releases)
    yield from to_setting_paths(check_cluster(given(cluster, cluster_name=cluster.name)), "cluster")
    own = (*EKS_CLUSTER_POLICIES, *(EKS_WINDOWS_POLICIES if windows else ()))
    yield from to_setting_paths(check_role(cluster, own, settings.region), "cluster")
    yield from to_setting_paths(check_arn_formats(_arn_formats(cluster), settings.region), "cluster")
    yield from to_setting_paths(_check_core_dns(cluster), "cluster")
    if cluster.security_groups is not None:
        ports = [given(port) for port in cluster.security_groups.pod_ports]
        found = check_pod_ports(ports, cluster.security_groups.egress_cidrs)
        yield from to_setting_paths(found, "cluster", "security_groups")
    yield from to_setting_paths(_check_ipam(cluster.windows_ipam, windows=windows), "cluster", "windows_ipam")


def _arn_formats(cluster: ClusterSettings) -> Mapping[Path, tuple[ArnFormat, str | None]]:
    groups: dict[Path, tuple[ArnFormat, str | None]] = {
        ("security_group_ids", index): (SECURITY_GROUP, group) for index, group in enumerate(cluster.security_group_ids)
    }
    return {
        ("log_kms_key_arn",): (KEY, cluster.log_kms_key_arn),
        ("secrets_kms_key_arn",): (KEY, cluster.secrets_kms_key_arn),
        ("windows_ipam", "service_account_role_arn"): (ROLE, cluster.windows_ipam.service_account_role_arn),
        **groups,
    }


def _check_core_dns(cluster: ClusterSettings) -> Iterable[Mistake]:
    platform, path = cluster.core_dns, ("core_dns",)
    if platform not in CORE_DNS_PLATFORMS:
        near = nearest(platform, CORE_DNS_PLATFORMS) or CORE_DNS_PLATFORMS[0]
        yield Mistake(path, CORE_DNS, f"CoreDNS runs on {one_of(CORE_DNS_PLATFORMS)}", f"write {shown(near)}", platform)
    if platform != "fargate":
        return
    if cluster.windows_ipam.mode == "config_map":
        yield Mistake(path, CORE_DNS, "with a self-managed CNI, CoreDNS is self-managed too, and runs on nodes",
                      'write "nodes", or set windows_ipam.mode to "addon"', platform)  # fmt: skip
    if cluster.security_groups is not None:
        yield Mistake(path, CORE_DNS, "pods on Fargate are in the security group of EKS, but nodes with "
                      "security_groups are not", 'write "nodes", or remove security_groups', platform)  # fmt: skip


def _check_ipam(ipam: WindowsIpamSettings, *, windows: bool) -> Iterable[Mistake]:
    found = Mistakes(check_windows_ipam(given(ipam, enabled=True)))
    values = dict(ipam.addon_values)
    if _IPAM_SWITCH in values:
        found.add(OWNED_VALUE, ("addon_values", _IPAM_SWITCH), "Windows IPAM is switched on if there are Windows nodes",
                  "remove it", values.pop(_IPAM_SWITCH))  # fmt: skip
    found.take(check_addon_values(values))
    if ipam.mode == "config_map":
        for field in _OF_THE_ADDON:
            if getattr(ipam, field):
                found.add(IPAM_MODE, (field,), "belongs to the add-on, which is not installed with mode config_map",
                          f'remove {field}, or set mode to "addon"', getattr(ipam, field))  # fmt: skip
    if not windows:
        # The settings of the add-on hold for Linux nodes as well.
        fields = [field for field in type(ipam).model_fields if field not in _OF_THE_ADDON]
        found.extend(windows_only(ipam, fields, "add a group with windows"))
    return found
