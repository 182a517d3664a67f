"""Checks of the add-ons and of what needs them: storage classes, Karpenter, logs, Active Directory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from winkube.addons.addon_rules import ADDON_KNOWN, check_addons
from winkube.addons.addon_table import ADDONS
from winkube.addons.storage_rules import check_ntfs_storage_class, check_smb_storage_class
from winkube.core.mistakes import Mistake, Mistakes, Path, Rule
from winkube.eks.node_classes import RESERVED_TAGS, check_node_tags
from winkube.eks.node_group_rules import linux_capacity
from winkube.roles.validation import check_policy_documents

from ..common.arn_formats import KEY, QUEUE, ROLE, ArnFormat, check_arn_formats
from ..common.setting_paths import given, partition_of, to_setting_paths
from .group_checks import target_of
from .settings import EksSettings

NEEDS_ADDON = Rule("WK-SET-010", "A setting that depends on an add-on needs that add-on.")
NEEDS_LINUX = Rule("WK-SET-011", "Add-ons need Linux nodes.",
                   "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html")  # fmt: skip
NEEDS_OIDC = Rule("WK-SET-012", "Add-ons with IRSA need the OIDC provider of the cluster.",
                  "https://docs.aws.amazon.com/eks/latest/userguide/iam-roles-for-service-accounts.html")  # fmt: skip
LOGS_TWICE = Rule("WK-SET-013", "Logs of Windows nodes are collected once.")
UNIQUE_NAME = Rule("WK-SET-014", "Objects of one kind have different names.",
                   "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/")  # fmt: skip

_SERVED: Mapping[Path, str] = {
    ("storage_classes", "ntfs"): "aws-ebs-csi-driver",
    ("storage_classes", "smb"): "csi-driver-smb",
    ("karpenter",): "karpenter",
    ("gmsa_credential_specs",): "windows-gmsa",
}
"""Settings with the add-on that they need."""
_ELSEWHERE: Mapping[Any, str] = {
    "vpc-cni": "remove it: it is always installed, and cluster.windows_ipam configures it",
    "coredns": "remove it: it is always installed, and cluster.core_dns configures it",
    "kube-proxy": "remove it: it is always installed, and on Windows it is part of the node image",
    "aws-for-fluent-bit": "set windows_logs for Windows nodes, or choose amazon-cloudwatch-observability",
}
"""The remedy for add-ons that are not in the table."""


def check_addon_settings(settings: EksSettings) -> Iterable[Mistake]:
    """Every mistake in the add-ons and in what needs them."""
    releases = settings.windows_releases
    version = target_of(settings.cluster).kubernetes_version
    for mistake in check_addons(settings.addons, bool(releases), version, windows_releases=releases):
        elsewhere = _ELSEWHERE.get(mistake.got) if mistake.rule is ADDON_KNOWN else None
        yield replace(mistake, remedy=elsewhere) if elsewhere else mistake
    for index, addon in enumerate(settings.addons):
        found = check_policy_documents(addon.additional_policies, partition=partition_of(settings.region))
        yield from to_setting_paths(found, "addons", index)
    yield from check_arn_formats(_arn_formats(settings), settings.region)
    yield from _check_whole(settings)
    yield from _check_storage_classes(settings)
    yield from _check_karpenter(settings)
    yield from _check_windows_logs(settings)
    yield from _check_credential_specs(settings)


def _arn_formats(settings: EksSettings) -> Mapping[Path, tuple[ArnFormat, str | None]]:
    formats: dict[Path, tuple[ArnFormat, str | None]] = {
        ("addons", index, "role_arn"): (ROLE, addon.role_arn) for index, addon in enumerate(settings.addons)
    }
    for index, storage_class in enumerate(settings.storage_classes.ntfs):
        formats["storage_classes", "ntfs", index, "kms_key_arn"] = (KEY, storage_class.kms_key_arn)
    for index, spec in enumerate(settings.gmsa_credential_specs):
        formats["gmsa_credential_specs", index, "credential_key_arn"] = (KEY, spec.credential_key_arn)
    if settings.karpenter is not None:
        formats["karpenter", "queue_arn"] = (QUEUE, settings.karpenter.queue_arn)
    if settings.windows_logs is not None:
        formats["windows_logs", "log_kms_key_arn"] = (KEY, settings.windows_logs.log_kms_key_arn)
    return formats


def _check_whole(settings: EksSettings) -> Iterable[Mistake]:
    """Check what the add-ons need of nodes and cluster, and what needs an add-on."""
    found = Mistakes()
    if settings.addons and linux_capacity(settings.instance_groups) == 0 and settings.cluster.core_dns == "fargate":
        found.add(NEEDS_LINUX, ("addons",), "Fargate runs CoreDNS only, and there are no Linux nodes for add-ons",
                  'add a group with linux: "al2023", or remove the add-ons', list(settings.addon_names))  # fmt: skip
    by_irsa = [addon.name for addon in settings.addons if addon.identity == "irsa" and addon.role_arn is None
               and addon.name in ADDONS and ADDONS[addon.name].service_account]  # fmt: skip
    if by_irsa and not settings.cluster.oidc_provider:
        found.add(NEEDS_OIDC, ("cluster", "oidc_provider"), f"the roles of {', '.join(by_irsa)} need it",
                  'set oidc_provider to true, or identity of these add-ons to "pod_identity"', False)  # fmt: skip
    for path, addon_name in _SERVED.items():
        served = getattr(settings, str(path[0]))
        if (getattr(served, str(path[1])) if path[1:] else served) and addon_name not in settings.addon_names:
            found.add(NEEDS_ADDON, path, f"needs the add-on {addon_name}",
                      f'add {{"name": "{addon_name}"}} to addons, or remove it')  # fmt: skip
    return found


def _check_storage_classes(settings: EksSettings) -> Iterable[Mistake]:
    classes = settings.storage_classes
    for index, ntfs in enumerate(classes.ntfs):
        yield from to_setting_paths(check_ntfs_storage_class(ntfs), "storage_classes", "ntfs", index)
    for index, smb in enumerate(classes.smb):
        yield from to_setting_paths(check_smb_storage_class(smb), "storage_classes", "smb", index)
    names = [(("storage_classes", "ntfs", index, "class_name"), it.class_name) for index, it in enumerate(classes.ntfs)]
    names += [(("storage_classes", "smb", index, "class_name"), it.class_name) for index, it in enumerate(classes.smb)]
    yield from _check_names(names)


def _check_names(names: Sequence[tuple[Path, str]]) -> Iterable[Mistake]:
    seen: set[str] = set()
    for path, name in names:
        if name in seen:
            yield Mistake(path, UNIQUE_NAME, "another object has the same name", "give each its own name", name)
        seen.add(name)


# The checks below are in modules that import the SDK, so they are imported only by stacks that need them.


def _check_karpenter(settings: EksSettings) -> Iterable[Mistake]:
    pools = settings.karpenter.windows_pools if settings.karpenter else ()
    if "karpenter" not in settings.addon_names and not pools:
        return
    from winkube.eks.karpenter import check_karpenter_nodes, check_karpenter_role

    cluster = target_of(settings.cluster)
    role = SimpleNamespace(cluster=cluster, additional_policies=(), external_policies=(), permissions_boundary=None,
                           path="/", tags={})  # fmt: skip
    yield from to_setting_paths(check_karpenter_role(cast(Any, role)), "karpenter")
    yield from (mistake for mistake in check_node_tags(settings.tags) if mistake.rule is RESERVED_TAGS)
    one = ("",)
    made: dict[str, Any] = {"role_name": "", "linux_role_names": (), "subnet_ids": one, "security_group_ids": one}
    for index, pool in enumerate(pools):
        found = check_karpenter_nodes(given(pool, cluster=cluster, tags={}, **made))
        yield from to_setting_paths(found, "karpenter", "windows_pools", index)
    yield from _check_names([
        (("karpenter", "windows_pools", index, "pool_name"), pool.pool_name) for index, pool in enumerate(pools)
    ])  # fmt: skip


def _check_windows_logs(settings: EksSettings) -> Iterable[Mistake]:
    if settings.windows_logs is None:
        return
    from winkube.addons.fluent_bit import check_fluent_bit_windows

    yield from to_setting_paths(check_fluent_bit_windows(given(settings.windows_logs, tags={})), "windows_logs")
    if "amazon-cloudwatch-observability" in settings.addon_names:
        yield Mistake(("windows_logs",), LOGS_TWICE, "amazon-cloudwatch-observability collects these logs too",
                      "remove windows_logs, or the add-on")  # fmt: skip


def _check_credential_specs(settings: EksSettings) -> Iterable[Mistake]:
    specs = settings.gmsa_credential_specs
    if not specs:
        return
    from winkube.addons.gmsa import check_gmsa_credential_spec

    for index, spec in enumerate(specs):
        yield from to_setting_paths(check_gmsa_credential_spec(given(spec)), "gmsa_credential_specs", index)
    yield from _check_names([
        (("gmsa_credential_specs", index, "spec_name"), spec.spec_name) for index, spec in enumerate(specs)
    ])  # fmt: skip
