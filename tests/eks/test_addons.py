"""Add-ons and Windows IPAM as components."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pulumi
import pytest
from winkube.core.errors import WinkubeError
from winkube.eks.addon import EksAddon, EksAddonArgs
from winkube.eks.target import EksTarget
from winkube.eks.windows_ipam import WindowsIpam, WindowsIpamArgs
from winkube.preview.model import Plan

TARGET = EksTarget(name="dev", kubernetes_version="1.36")
SELF_MANAGED = replace(TARGET, vpc_cni="self_managed")
ADDON, PATCH = "aws:eks/addon:Addon", "kubernetes:core/v1:ConfigMapPatch"
Record = Callable[..., Plan]


def only(plan: Plan, kind: str):
    """The one resource of a kind."""
    (found,) = [resource for resource in plan.resources if resource.type == kind]
    return found


def refused(build: Callable[[], Any], record: Record):
    """The one mistake with which a component is refused."""
    with pytest.raises(WinkubeError) as caught:
        record(build)
    (mistake,) = caught.value.mistakes
    return mistake


def test_ipam_in_the_addon(record: Record):
    """The add-on carries the values; there is no ConfigMap."""
    plan = record(
        lambda: WindowsIpam("ipam", WindowsIpamArgs(cluster=TARGET, prefix_delegation=True, warm_prefix_target=1))
    )
    inputs = only(plan, ADDON).inputs
    assert inputs["addonName"] == "vpc-cni"
    assert json.loads(inputs["configurationValues"]) == {
        "enableWindowsIpam": "true", "enableWindowsPrefixDelegation": "true", "warmWindowsPrefixTarget": 1,
    }  # fmt: skip
    assert not [resource for resource in plan.resources if resource.type == PATCH]


def test_ipam_in_the_config_map(record: Record):
    """The ConfigMap is patched, for others write into it too; there is no add-on."""
    plan = record(lambda: WindowsIpam("ipam", WindowsIpamArgs(cluster=SELF_MANAGED, mode="config_map")))
    inputs = only(plan, PATCH).inputs
    assert inputs["metadata"]["name"] == "amazon-vpc-cni"
    assert inputs["metadata"]["namespace"] == "kube-system"
    assert inputs["metadata"]["annotations"] == {"pulumi.com/patchForce": "true"}
    assert inputs["data"]["enable-windows-ipam"] == "true"
    assert not [resource for resource in plan.resources if resource.type == ADDON]


@pytest.mark.parametrize(
    ("target", "mode", "right"), [(TARGET, "config_map", "addon"), (SELF_MANAGED, "addon", "config_map")]
)
def test_the_mode_fits_who_installs_the_cni(record: Record, target: EksTarget, mode: str, right: str):
    """WK-EKS-050 for a ConfigMap that the add-on would overwrite, and the reverse."""
    mistake = refused(lambda: WindowsIpam("ipam", WindowsIpamArgs(cluster=target, mode=mode)), record)
    assert (mistake.rule.code, mistake.path, mistake.remedy) == ("WK-EKS-050", ("mode",), f'set mode to "{right}"')


def test_addon_options_have_no_place_in_the_config_map(record: Record):
    """WK-EKS-050 at the option."""
    args = WindowsIpamArgs(cluster=SELF_MANAGED, mode="config_map", addon_version="v1.21.0-eksbuild.1")
    mistake = refused(lambda: WindowsIpam("ipam", args), record)
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-050", ("addon_version",))


def test_an_addon_waits_for_what_it_is_told(record: Record):
    """CoreDNS after the nodes: the order reaches the add-on itself."""

    def build() -> None:
        first = EksAddon("kube-proxy", EksAddonArgs(cluster=TARGET, addon_name="kube-proxy"))
        EksAddon("dns", EksAddonArgs(cluster=TARGET, addon_name="coredns", configuration_values={"replicaCount": 2}),
                 pulumi.ResourceOptions(depends_on=[first]))  # fmt: skip

    plan = record(build)
    addons = {resource.inputs["addonName"]: resource for resource in plan.resources if resource.type == ADDON}
    assert addons["kube-proxy"].urn in addons["coredns"].options.dependencies
    assert json.loads(addons["coredns"].inputs["configurationValues"]) == {"replicaCount": 2}
    assert "configurationValues" not in addons["kube-proxy"].inputs


def test_the_cni_is_not_an_addon_like_others(record: Record):
    """WK-EKS-060: two add-ons of one name would fight."""
    mistake = refused(lambda: EksAddon("cni", EksAddonArgs(cluster=TARGET, addon_name="vpc-cni")), record)
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-060", ("addon_name",), "vpc-cni")
    assert "WindowsIpam" in mistake.remedy


def test_conflicts_are_resolved_in_one_of_three_ways(record: Record):
    """WK-EKS-061 with the nearest word; preserving is a matter of updates only."""
    args = EksAddonArgs(cluster=TARGET, addon_name="coredns", on_conflict="PRESERVE")
    mistake = refused(lambda: EksAddon("dns", args), record)
    assert (mistake.rule.code, mistake.remedy) == ("WK-EKS-061", 'write "preserve"')
    inputs = only(record(lambda: EksAddon("dns", replace(args, on_conflict="preserve"))), ADDON).inputs
    assert (inputs["resolveConflictsOnCreate"], inputs["resolveConflictsOnUpdate"]) == ("OVERWRITE", "PRESERVE")


@pytest.mark.parametrize(
    ("values", "code", "path"),
    [
        ({"enableWindowsIpam": "true"}, "WK-EKS-036", ("addon_values", "enableWindowsIpam")),
        (
            {"env": {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}},
            "WK-EKS-035",
            ("addon_values", "env", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"),
        ),
    ],
)
def test_other_values_of_the_addon_leave_windows_alone(
    record: Record, values: dict[str, Any], code: str, path: tuple[str, ...]
):
    """WK-EKS-036 for a value that a field writes, WK-EKS-035 for custom networking."""
    mistake = refused(lambda: WindowsIpam("ipam", WindowsIpamArgs(cluster=TARGET, addon_values=values)), record)
    assert (mistake.rule.code, mistake.path) == (code, path)


def test_network_policies_of_the_cni_are_advised_against(record: Record):
    """WK-EKS-037 as a warning: they work on Linux."""
    args = WindowsIpamArgs(cluster=TARGET, addon_values={"enableNetworkPolicy": "true"})
    plan = record(lambda: WindowsIpam("ipam", args))
    assert any("WK-EKS-037" in text and "Calico" in text for _, text in plan.logs)
    assert json.loads(only(plan, ADDON).inputs["configurationValues"])["enableNetworkPolicy"] == "true"


@pytest.mark.parametrize(
    ("target", "code", "field"),
    [
        (replace(TARGET, auto_mode=True), "WK-EKS-034", "auto_mode"),
        (replace(TARGET, ip_family="ipv6"), "WK-EKS-030", "ip_family"),
    ],
)
def test_ipam_needs_a_cluster_that_can_have_windows_nodes(record: Record, target: EksTarget, code: str, field: str):
    """WK-EKS-034 for Auto Mode and WK-EKS-030 for IPv6, unless IPAM stays off."""
    mistake = refused(lambda: WindowsIpam("ipam", WindowsIpamArgs(cluster=target)), record)
    assert (mistake.rule.code, mistake.path) == (code, ("cluster", field))
    record(lambda: WindowsIpam("ipam", WindowsIpamArgs(cluster=target, enabled=False)))


def test_the_target_is_judged(record: Record):
    """WK-EKS-056 and WK-EKS-057 for words that the description of a cluster does not know."""
    args = EksAddonArgs(cluster=replace(TARGET, vpc_cni="selfmanaged"), addon_name="coredns")
    mistake = refused(lambda: EksAddon("dns", args), record)
    assert (mistake.rule.code, mistake.path, mistake.remedy) == (
        "WK-EKS-056",
        ("cluster", "vpc_cni"),
        'write "self_managed"',
    )
    args = replace(args, cluster=replace(TARGET, authentication_mode="CONFIGMAP"))
    mistake = refused(lambda: EksAddon("dns", args), record)
    assert (mistake.rule.code, mistake.remedy) == ("WK-EKS-057", 'write "CONFIG_MAP"')
