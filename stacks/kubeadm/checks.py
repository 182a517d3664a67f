"""Checks of the settings of a self-managed environment, once their structure is right."""

from collections.abc import Iterable, Mapping
from typing import Any

from winkube.addons.identity import OIDC
from winkube.addons.sample_workloads import SampleWorkloadsArgs, check_sample_workloads
from winkube.addons.self_managed_addons import ADDON_NEEDS, check_self_managed_addons
from winkube.admission.windows_admission import check_windows_admission
from winkube.control_plane.cluster import endpoint
from winkube.control_plane.control_plane_rules import check_control_plane
from winkube.core.mistakes import Mistake, Mistakes, Path
from winkube.core.tags import check_tags
from winkube.instance_groups.between_rules import PODS_FIT, check_downloads, check_instance_groups
from winkube.instance_groups.group_rules import check_instance_group
from winkube.instance_groups.join_target import JoinTarget
from winkube.pod_network.flannel_config import check_pod_network
from winkube.scheduling.runtime_class_manifests import RELEASES
from winkube.tables.regions import REGIONS
from winkube.tables.releases import SELF_MANAGED_MINORS
from winkube.zone.names import NAME_IN_ZONE

from ..common.arn_formats import KEY, SECURITY_GROUP, ArnFormat, check_arn_formats
from ..common.setting_paths import WINDOWS_ONLY, check_role, given, partition_of, to_setting_paths, windows_only
from ..common.shared_checks import COMPARED as COMMON
from ..common.shared_checks import check_common, collected
from ..config.structure import ANY
from .group_settings import KubeadmGroupSettings
from .settings import KubeadmSettings

LATER = object()
"""Replaces a value that is known only after the deployment."""
WINDOWS_FIELDS = ("edition", "windows_taint", "kubelet_log", "page_file_mib", "bitlocker", "drain_seconds")
"""Settings of Windows groups only."""
LINUX_FIELDS = ("runtime",)
"""Settings of Linux groups only."""
_WORDS: Mapping[str, str] = {"vpc_cidrs.0": "network.cidr", "target.": "cluster."}

COMPARED: Mapping[str, tuple[Path, ...]] = {
    **COMMON,
    ADDON_NEEDS.code: (("addons", ANY, "name"),),
    WINDOWS_ONLY.code: (("instance_groups",),),
    RELEASES.code: (("instance_groups", ANY, "windows"),),
    OIDC.code: (("cluster", "irsa"),),
}
"""Rules that compare a value with other settings. Nothing is reported where one of those is a placeholder."""


def check_settings(settings: KubeadmSettings) -> Mistakes:
    """Every mistake in the values, with the Python names as paths."""
    return collected(settings, (check_common, _check_cluster, _check_groups, _check_objects))


def advise_settings(settings: KubeadmSettings) -> Mistakes:
    """Advice on settings that work, as far as no component gives it."""
    return Mistakes()


def _check_cluster(settings: KubeadmSettings) -> Iterable[Mistake]:
    cluster = settings.cluster
    found = check_control_plane(_control_plane(settings))
    # The domain is reported with the zone. If it is wrong, the cluster name cannot be compared with it.
    domain_is_wrong = any(mistake.path[0] == "domain" for mistake in found)
    told = (mistake for mistake in found if mistake.path[0] != "domain")
    told = (mistake for mistake in told if not (domain_is_wrong and mistake.rule is NAME_IN_ZONE))
    yield from _in_words_of_the_file(to_setting_paths(told, "cluster"))
    yield from to_setting_paths(check_role(cluster, (), settings.region), "cluster")
    keys = ("volume_kms_key_arn", "kms_key_arn", "secrets_kms_key_arn")
    formats: Mapping[Path, tuple[ArnFormat, str | None]] = {(key,): (KEY, getattr(cluster, key)) for key in keys}
    yield from to_setting_paths(check_arn_formats(formats, settings.region), "cluster")


def _in_words_of_the_file(found: Iterable[Mistake]) -> Iterable[Mistake]:
    """Replace names of arguments in messages by the names in the file."""
    for mistake in found:
        message, remedy = mistake.message, mistake.remedy
        for word, meant in _WORDS.items():
            message, remedy = message.replace(word, meant), remedy.replace(word, meant)
        yield Mistake(mistake.path, mistake.rule, message, remedy, mistake.got)


def _control_plane(settings: KubeadmSettings) -> Any:
    """The arguments of the control plane, with the subnets of the network, one for each zone."""
    network, zone = settings.network, settings.zone
    region = REGIONS.get(settings.region)
    zones = network.zones if not isinstance(network.zones, int) else (region.zones if region else ())[: network.zones]
    public = settings.cluster.api_exposure == "public"
    visibilities = ("public", "private") if zone.visibility == "both" else (zone.visibility,)
    return given(
        settings.cluster,
        cluster_name=settings.cluster.name,
        region=settings.region,
        vpc_cidrs=(network.cidr,),
        zones=tuple(zones)[: settings.cluster.slots],
        subnet_ids=tuple(zones)[: settings.cluster.slots],
        public_subnet_ids=tuple(zones) if public and network.public_subnets else (),
        domain=zone.domain,
        zone_ids=dict.fromkeys(visibilities, ""),
        endpoint=endpoint(settings.cluster.name),
    )


def _check_groups(settings: KubeadmSettings) -> Iterable[Mistake]:
    groups, target = settings.instance_groups, target_of(settings)
    slots = settings.cluster.slots
    together = check_instance_groups(groups, target, (), other_nodes=slots)
    network = [mistake for mistake in together if mistake.rule is PODS_FIT]
    yield from to_setting_paths([mistake for mistake in together if mistake not in network], "instance_groups")
    yield from to_setting_paths(network, "cluster")
    known = settings.cluster.kubernetes_version in SELF_MANAGED_MINORS
    for index, group in enumerate(groups):
        found = Mistakes(check_tags(group.tags, ("tags",)))
        found.extend(check_role(group, (), settings.region))
        found.extend(check_arn_formats(_arn_formats(group), settings.region))
        checked = given(group, subnet_ids=("",), **_defaults(group))
        found.extend(check_instance_group(checked, target))
        if group.linux:
            found.extend(windows_only(group, WINDOWS_FIELDS, "set windows instead of linux"))
        downloads = check_downloads(checked, target) if known else Mistakes()
        # The runtime is a setting of the group; all others that decide on downloads are settings of the cluster.
        own = [mistake for mistake in downloads if mistake.path[0] == "runtime"]
        yield from _in_words_of_the_file(to_setting_paths([*found, *own], "instance_groups", index))
        yield from to_setting_paths([mistake for mistake in downloads if mistake not in own], "cluster")


def target_of(settings: KubeadmSettings) -> JoinTarget:
    """The cluster as groups see it. Its wrong values are replaced, so that they are reported for the cluster only."""
    cluster = settings.cluster
    version = cluster.kubernetes_version
    return JoinTarget(
        cluster_name=cluster.name,
        kubernetes_version=version if version in SELF_MANAGED_MINORS else SELF_MANAGED_MINORS[-1],
        region=settings.region,
        endpoint=endpoint(cluster.name),
        token_parameter="",
        certificate_authority="",
        vpc_id="",
        bucket="",
        bucket_arn="",
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
        cluster_domain=cluster.cluster_domain,
        node_cidr_mask=cluster.node_cidr_mask,
        vxlan_vni=settings.pod_network.vni,
        vxlan_port=settings.pod_network.port,
        mirror=cluster.mirror,
        registry_mirrors=cluster.registry_mirrors,
        artefact_digests=cluster.artefact_digests,
        image_repository=cluster.image_repository,
    )


def _check_objects(settings: KubeadmSettings) -> Iterable[Mistake]:
    cluster = settings.cluster
    releases = settings.windows_releases
    pod_network = given(
        settings.pod_network,
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
        pod_network="flannel-vxlan",
        windows=bool(releases),
    )
    found = check_pod_network(pod_network)
    names = ("pod_cidr", "service_cidr")  # checked with the cluster
    yield from to_setting_paths((mistake for mistake in found if mistake.path[0] not in names), "pod_network")
    if releases:
        version = cluster.kubernetes_version
        admission = given(
            settings.windows_admission,
            kubernetes_version=version if version in SELF_MANAGED_MINORS else SELF_MANAGED_MINORS[-1],
            releases=releases,
        )
        yield from to_setting_paths(check_windows_admission(admission), "windows_admission")
    yield from _check_addons(settings)
    yield from _check_samples(settings)


def _check_addons(settings: KubeadmSettings) -> Iterable[Mistake]:
    cluster = settings.cluster
    version, irsa = cluster.kubernetes_version, cluster.irsa is not None
    addons = given(
        settings,
        kubernetes_version=version if version in SELF_MANAGED_MINORS else SELF_MANAGED_MINORS[-1],
        partition=partition_of(settings.region) or "aws",
        windows=bool(settings.windows_releases),
        vpc_id="",
        # The issuer is known after the deployment; the settings decide whether there is one.
        oidc_provider_arn=LATER if irsa else None,
        oidc_issuer=LATER if irsa else None,
        permissions_boundary=cluster.permissions_boundary,
        role_path=cluster.role_path,
        tags={},
    )
    for mistake in check_self_managed_addons(addons) if settings.addons else ():
        first = mistake.path[0]
        if first == "addons":
            yield mistake
        elif first in ("oidc_provider_arn", "oidc_issuer"):
            yield Mistake(("cluster", "irsa"), mistake.rule, "add-ons assume IAM roles, which needs an OIDC issuer "
                          "of the cluster", "add irsa: {} to the cluster, or give each add-on a "
                          "role_arn")  # fmt: skip


def _check_samples(settings: KubeadmSettings) -> Iterable[Mistake]:
    section, releases = settings.sample_workloads, settings.windows_releases
    if section is None:
        return
    if not releases:
        yield Mistake(("sample_workloads",), WINDOWS_ONLY, "is for Windows nodes, and there are none here",
                      "remove sample_workloads, or add a group with windows")  # fmt: skip
        return
    args = SampleWorkloadsArgs(releases=releases, namespace=section.namespace, replicas=section.replicas)
    yield from to_setting_paths(check_sample_workloads(args), "sample_workloads")


def _defaults(group: KubeadmGroupSettings) -> dict[str, Any]:
    """The values that the component of a group sets by default."""
    return {
        "edition": group.edition or ("core" if group.windows else None),
        "runtime": group.runtime or "containerd",
    }


def _arn_formats(group: KubeadmGroupSettings) -> Mapping[Path, tuple[ArnFormat, str | None]]:
    groups: dict[Path, tuple[ArnFormat, str | None]] = {
        ("security_group_ids", index): (SECURITY_GROUP, text) for index, text in enumerate(group.security_group_ids)
    }
    return {("volume_kms_key_arn",): (KEY, group.volume_kms_key_arn), **groups}
