"""Windows nodes by Karpenter."""

from dataclasses import replace

import pytest
from winkube.eks.karpenter import (
    KarpenterWindowsNodes,
    KarpenterWindowsNodesArgs,
    KarpenterWindowsRole,
    KarpenterWindowsRoleArgs,
    check_karpenter_nodes,
    check_karpenter_role,
    node_class,
    node_pool,
)
from winkube.scheduling.labels import Taint

from .conftest import CLUSTER, TAGS, assert_well_made, the

ARGS = KarpenterWindowsNodesArgs(
    cluster=CLUSTER,
    pool_name="windows2022",
    role_name="windows",
    subnet_ids=["subnet-1", "subnet-2"],
    security_group_ids=["sg-1"],
    tags=TAGS,
)
BUILDS = {"2019": "10.0.17763", "2022": "10.0.20348", "2025": "10.0.26100"}


@pytest.mark.parametrize("release", BUILDS)
def test_a_node_class_takes_the_newest_image_of_its_release(release: str):
    """Karpenter takes no other version of a Windows image than latest."""
    spec = node_class(replace(ARGS, windows=release))["spec"]
    assert spec["amiSelectorTerms"] == [{"alias": f"windows{release}@latest"}]


def test_a_node_class_is_as_safe_as_a_node_group():
    spec = node_class(ARGS)["spec"]
    assert spec["metadataOptions"]["httpTokens"] == "required"
    assert spec["metadataOptions"]["httpPutResponseHopLimit"] == 1
    (volume,) = spec["blockDeviceMappings"]
    assert (volume["deviceName"], volume["ebs"]["encrypted"]) == ("/dev/sda1", True)
    assert spec["kubelet"]["systemReserved"]["memory"] == "1536Mi"


def test_the_service_cidr_is_told_to_the_bootstrap_script():
    """Karpenter calls it without -ServiceCIDR, and its guess is wrong for every other range."""
    assert '"SERVICE_IPV4_CIDR", "10.100.0.0/16", "Machine"' in node_class(ARGS)["spec"]["userData"]


@pytest.mark.parametrize("release", BUILDS)
def test_a_pool_asks_for_windows_of_its_build_on_x86(release: str):
    pool = node_pool(replace(ARGS, windows=release))["spec"]
    wanted = {it["key"]: it["values"] for it in pool["template"]["spec"]["requirements"]}
    assert wanted["kubernetes.io/os"] == ["windows"]
    assert wanted["kubernetes.io/arch"] == ["amd64"]
    assert wanted["node.kubernetes.io/windows-build"] == [BUILDS[release]]
    assert pool["template"]["spec"]["taints"] == [{"key": "os", "value": "windows", "effect": "NoSchedule"}]
    assert pool["template"]["spec"]["nodeClassRef"]["name"] == "windows2022"


@pytest.mark.parametrize("preview", [True, False])
def test_the_role_has_an_entry_of_its_own_type(record, preview: bool):
    args = KarpenterWindowsRoleArgs(cluster=CLUSTER, tags=TAGS)
    plan = record(lambda: KarpenterWindowsRole("kw", args), preview=preview)
    assert_well_made(plan, "KarpenterWindowsRole", ["roleArn", "roleName"])
    entry = the(plan, "AccessEntry")
    assert entry.inputs["type"] == "EC2_WINDOWS"
    assert "kubernetesGroups" not in entry.inputs


@pytest.mark.parametrize("preview", [True, False])
def test_the_objects_are_registered_as_their_manifests_say(record, preview: bool):
    plan = record(lambda: KarpenterWindowsNodes("kn", ARGS), preview=preview)
    assert_well_made(plan, "KarpenterWindowsNodes", ["poolName", "windowsBuild"])
    made, pool = the(plan, "EC2NodeClass"), the(plan, "NodePool")
    assert made.inputs["spec"] == node_class(ARGS)["spec"]
    assert made.urn in pool.options.dependencies


def test_the_entry_needs_the_api():
    cluster = replace(CLUSTER, authentication_mode="CONFIG_MAP")
    (mistake,) = check_karpenter_role(KarpenterWindowsRoleArgs(cluster=cluster))
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-042", ("cluster", "authentication_mode"))
    assert mistake.remedy == 'set authentication_mode to "API_AND_CONFIG_MAP"'


@pytest.mark.parametrize(
    ("more", "code", "path", "remedy"),
    [
        ({"windows": "2022 Core"}, "WK-ADD-040", ("windows",), 'write "2022"'),
        ({"windows": "2025", "cluster": replace(CLUSTER, kubernetes_version="1.34")}, "WK-ADD-040", ("windows",),
         'set windows to "2022"'),
        ({"linux_role_names": ["linux", "windows"]}, "WK-ADD-041", ("role_name",), "create a KarpenterWindowsRole"),
        ({"tags": {"karpenter.sh/nodepool": "x"}}, "WK-ADD-044", ("tags", "karpenter.sh/nodepool"), "remove the tag"),
        ({"tags": {"kubernetes.io/cluster/dev": "owned"}}, "WK-ADD-044", ("tags", "kubernetes.io/cluster/dev"),
         "remove the tag"),
        ({"subnet_ids": []}, "WK-ADD-045", ("subnet_ids",), "add at least one"),
        ({"security_group_ids": []}, "WK-ADD-045", ("security_group_ids",), "add at least one"),
        ({"capacity_types": ["on_demand"]}, "WK-ADD-046", ("capacity_types", 0), 'write "on-demand"'),
        ({"pool_name": "Windows 2022"}, "WK-ADD-047", ("pool_name",), '"windows2022"'),
        ({"root_volume_size_gib": 30}, "WK-ADD-048", ("root_volume_size_gib",), "to 50 or more"),
        ({"taints": [Taint(key="os", effect="Never")]}, "WK-SCH-004", ("taints", 0, "effect"), "write"),
    ],
)  # fmt: skip
def test_mistakes_in_a_kind_of_nodes(more, code: str, path, remedy: str):
    (mistake,) = check_karpenter_nodes(replace(ARGS, **more))
    assert (mistake.rule.code, mistake.path) == (code, path)
    assert remedy in mistake.remedy
