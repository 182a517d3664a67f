"""What must hold for instance groups: every rule, provoked."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.ec2.warm_pool import WarmPool
from winkube.instance_groups.between_rules import check_downloads, check_instance_groups, optional_programs
from winkube.instance_groups.boot_code import BootCodeArgs, check_boot_code
from winkube.instance_groups.group_args import check_instance_group_args
from winkube.instance_groups.group_rules import check_instance_group
from winkube.instance_groups.groups import advise_instance_group
from winkube.instance_groups.kubelet_rules import ADDRESSES_KEPT, OWNED_FIELDS, OWNED_FLAGS, pod_capacity
from winkube.instance_groups.rollout import Rollout
from winkube.kubeadm.config import KubeletSettings
from winkube.scheduling.labels import Taint

from .samples import linux_args, make_target, windows_args

LTSC = "mcr.microsoft.com/windows/servercore:ltsc"
LONG = "x" * 63


def test_ordinary_groups_pass():
    """The defaults, and a group with nearly everything."""
    assert not check_instance_group_args(windows_args())
    assert not check_instance_group_args(linux_args())
    assert not check_instance_group_args(linux_args(linux="ubuntu2404", instance_types=("m7g.large", "c7g.large")))
    assert not check_instance_group_args(
        windows_args(
            windows="2025", edition="full", instance_types=("m6i.large", "m5.large"), capacity_type="spot",
            on_demand_base=1, labels={"node.kubernetes.io/pool": "a"}, taints=(Taint(key="team", value="a"),),
            root_volume_size_gib=200, image_id="ami-0123456789abcdef0", container_images=(f"{LTSC}2025",),
            kubelet=KubeletSettings(max_pods=250, arguments={"v": "4"}), max_instance_lifetime_days=30,
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"name": "web servers"}, "WK-IG-020", ("name",), '"web-servers"'),
        ({"name": LONG + "y"}, "WK-IG-020", ("name",), "shorten it by 1 characters"),
        ({"windows": "2019"}, "WK-KAD-002", ("windows",), "2022"),
        ({"windows": "2023"}, "WK-KAD-002", ("windows",), '"2022"'),
        ({"edition": "Cor"}, "WK-IG-022", ("edition",), '"core"'),
        ({"instance_types": ("m7g.large",)}, "WK-EKS-016", ("instance_types", 0), "m7i.large"),
        ({"instance_types": ("m6i.larg",)}, "WK-EKS-014", ("instance_types", 0), "m6i.large"),
        ({"instance_types": ("m6i.large", "m7g.large")}, "WK-EKS-015", ("instance_types",),
         "one group per architecture"),
        ({"instance_types": ("t3.small",)}, "WK-EKS-018", ("instance_types", 0), "4096"),
        ({"subnet_ids": ()}, "WK-IG-041", ("subnet_ids",), "at least one subnet"),
        ({"min_size": 4}, "WK-EKS-019", ("min_size",), "must not exceed max_size, which is 3"),
        ({"root_volume_size_gib": 50}, "WK-IG-024", ("root_volume_size_gib",), "set root_volume_size_gib to 100"),
        ({"capacity_type": "Spot"}, "WK-IG-025", ("capacity_type",), '"spot"'),
        ({"on_demand_base": 1}, "WK-IG-025", ("on_demand_base",), "spot"),
        ({"capacity_type": "spot", "on_demand_base": 4}, "WK-IG-025", ("on_demand_base",), "set it to 3"),
        ({"capacity_type": "spot", "warm_pool": WarmPool()}, "WK-IG-026", ("warm_pool",), "cannot be stopped"),
        ({"instance_types": ("m6i.large", "m5.large"), "warm_pool": WarmPool()}, "WK-IG-026", ("warm_pool",),
         "one instance type"),
        ({"warm_pool": WarmPool(state="paused")}, "WK-IG-026", ("warm_pool", "state"), '"stopped"'),
        ({"warm_pool": WarmPool(state="hibernated")}, "WK-IG-026", ("warm_pool", "state"), "certificates"),
        ({"warm_pool": WarmPool(reuse_on_scale_in=True)}, "WK-IG-026", ("warm_pool", "reuse_on_scale_in"), "false"),
        ({"warm_pool": WarmPool(min_size=9)}, "WK-IG-026", ("warm_pool", "min_size"), "set min_size to 3"),
        ({"warm_pool": WarmPool(max_prepared=-1)}, "WK-IG-026", ("warm_pool", "max_prepared"), "0 or more"),
        ({"kubelet": KubeletSettings(arguments={"--v": "4"})}, "WK-IG-027", ("kubelet", "arguments", "--v"), '"v"'),
        ({"kubelet": KubeletSettings(arguments={"network-plugin": "cni"})}, "WK-KAD-010", None, "network-plugin"),
        ({"kubelet": KubeletSettings(system_reserved={"memory": "2 GB"})}, "WK-KAD-025", None, "2 GB"),
        ({"kubelet": KubeletSettings(image_gc_high_threshold_percent=101)}, "WK-KAD-023",
         ("kubelet", "image_gc_high_threshold_percent"), "write 100"),
        ({"kubelet": KubeletSettings(container_log_max_files=1)}, "WK-KAD-023",
         ("kubelet", "container_log_max_files"), "write 2"),
        ({"kubelet": KubeletSettings(configuration={"maxPod": 20})}, "WK-KAD-016",
         ("kubelet", "configuration", "maxPod"), "maxPods"),
        ({"kubelet": KubeletSettings(max_pods=0)}, "WK-IG-028", ("kubelet", "max_pods"), "1 or more"),
        ({"kubelet": KubeletSettings(max_pods=252)}, "WK-IG-028", ("kubelet", "max_pods"), "251 or less"),
        ({"target": make_target(node_cidr_mask=26)}, "WK-IG-028", ("kubelet", "max_pods"), "a kubelet takes 110"),
        ({"image_id": "ami-1"}, "WK-IG-029", ("image_id",), "hexadecimal"),
        ({"image_id": "2022"}, "WK-IG-029", ("image_id",), 'set windows to "2022"'),
        ({"max_instance_lifetime_days": 366}, "WK-IG-030", ("max_instance_lifetime_days",), "set it to 365"),
        ({"rollout": Rollout(min_healthy_percentage=101)}, "WK-IG-031", ("rollout", "min_healthy_percentage"), "100"),
        ({"rollout": Rollout(canary_percentage=100)}, "WK-IG-031", ("rollout", "canary_percentage"), "99"),
        ({"rollout": Rollout(canary_minutes=-1)}, "WK-IG-031", ("rollout", "canary_minutes"), "set it to 0"),
        ({"container_images": ("servercore",)}, "WK-IG-032", ("container_images", 0), "a registry and a tag"),
        ({"container_images": (f"{LTSC}2025",)}, "WK-IG-032", ("container_images", 0), '"ltsc2022"'),
        ({"container_images": ("registry.k8s.io/pause:3.10",)}, "WK-IG-033", ("container_images", 0), "pause:3.10.2"),
        ({"tags": {f"k{n}": "v" for n in range(40)}}, "WK-IG-034", ("tags",), "50"),
        ({"taints": (Taint(key="a"), Taint(key="a", effect="NoExecute"))}, "WK-IG-035", ("taints", 1, "key"),
         "one taint per key"),
        ({"drain_seconds": 5}, "WK-IG-036", ("drain_seconds",), "set drain_seconds to 30"),
        ({"page_file_mib": 100000}, "WK-IG-037", ("page_file_mib",), "set page_file_mib to 61440"),
        ({"labels": {"kubernetes.io/team": "a"}}, "WK-SCH-008", ("labels", "kubernetes.io/team"), "node.kubernetes.io"),
        ({"labels": {"kubernetes.io/os": "windows"}}, "WK-SCH-009", ("labels", "kubernetes.io/os"), "the kubelet"),
        ({"labels": {"node.kubernetes.io/instance-group": "a"}}, "WK-SCH-009",
         ("labels", "node.kubernetes.io/instance-group"), "remove it"),
        ({"labels": {f"{'a.' * 40}io/{LONG}": "b"}}, "WK-TAG-001", ("labels", f"{'a.' * 40}io/{LONG}"),
         "shorten the key"),
        ({"taints": (Taint(key="a"), Taint(key="a"))}, "WK-SCH-005", ("taints", 1), "same key and effect"),
        ({"taints": (Taint(key="node.kubernetes.io/x"),)}, "WK-SCH-010", ("taints", 0, "key"), "controllers"),
        ({"external_policies": ("admin",)}, "WK-IAM-018", None, "policy"),
        ({"target": make_target(endpoint="x")}, "WK-IG-001", ("target", "endpoint"), '"x:6443"'),
        ({"tags": {"aws:x": "y"}}, "WK-TAG-002", ("tags", "aws:x"), "rename"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(change: dict[str, Any], code: str, path: Any, words: str):
    """Each rule: its code, where, and the value or limit that would do."""
    every = check_instance_group_args(windows_args(**change))
    found = [mistake for mistake in every if mistake.rule.code == code]
    if code == "WK-IAM-018":
        found = [mistake for mistake in every if mistake.rule.code.startswith("WK-IAM")]
    assert found, [mistake.text() for mistake in every]
    assert path is None or found[0].path == path
    assert words in found[0].text()


def test_the_names_of_group_and_cluster_make_one():
    """WK-IG-020 where a long cluster's name leaves no room for the group's in that of the Auto Scaling group."""
    long = ".".join(["c" * 60] * 4)
    found = check_instance_group_args(windows_args(name="w" * 20, target=make_target(cluster_name=long)))
    (mistake,) = [m for m in found if m.rule.code == "WK-IG-020"]
    assert "255" in mistake.message
    assert "shorten it by 9 characters" in mistake.remedy


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"linux": "bottlerocket"}, "WK-IG-021", ("linux",), "does not support kubeadm"),
        ({"linux": "ubuntu"}, "WK-IG-021", ("linux",), '"ubuntu2404"'),
        ({"root_volume_size_gib": 8}, "WK-IG-024", ("root_volume_size_gib",), "20 to 16384"),
        ({"kubelet": KubeletSettings(max_pods=254)}, "WK-IG-028", ("kubelet", "max_pods"), "253"),
        ({"runtime": "docker"}, "WK-ART-006", ("runtime",), "dockershim"),
    ],
)
def test_what_linux_workers_cannot_be_is_refused(change: dict[str, Any], code: str, path: Any, words: str):
    """The same rules, with Linux' own limits."""
    found = [m for m in check_instance_group_args(linux_args(**change)) if m.rule.code == code]
    assert found, [m.text() for m in check_instance_group_args(linux_args(**change))]
    assert found[0].path == path
    assert words in found[0].text()


def test_a_group_is_of_one_system():
    """WK-IG-021 for settings that name both systems, or none."""
    fields = {name: getattr(windows_args(), name) for name in dir(windows_args()) if not name.startswith("_")}
    both = SimpleNamespace(**{**fields, "linux": "al2023"})
    found = check_instance_group(both, make_target())
    assert [m.path for m in found if m.rule.code == "WK-IG-021"] == [("windows",)]


@pytest.mark.parametrize("flag", OWNED_FLAGS)
def test_flags_that_other_fields_decide_are_refused(flag: str):
    """WK-IG-027 names the field to set instead."""
    found = [m for m in check_instance_group_args(windows_args(kubelet=KubeletSettings(arguments={flag: "x"})))
             if m.rule.code == "WK-IG-027"]  # fmt: skip
    assert [m.path for m in found] == [("kubelet", "arguments", flag)]
    assert OWNED_FLAGS[flag] in found[0].remedy or found[0].remedy == "remove it"


@pytest.mark.parametrize("field", OWNED_FIELDS)
def test_fields_that_other_fields_decide_are_refused(field: str):
    """WK-IG-027 for the KubeletConfiguration."""
    found = [m for m in check_instance_group_args(windows_args(kubelet=KubeletSettings(configuration={field: 1})))
             if m.rule.code == "WK-IG-027"]  # fmt: skip
    assert [m.path for m in found] == [("kubelet", "configuration", field)]


@given(mask=st.integers(16, 28), system=st.sampled_from(["linux", "windows"]), pods=st.integers(1, 70000))
def test_pods_pass_exactly_where_they_have_addresses(mask: int, system: str, pods: int):
    """WK-IG-028 is about addresses alone."""
    target = make_target(pod_cidr="10.0.0.0/12", service_cidr="172.20.0.0/16", node_cidr_mask=mask)
    make = windows_args if system == "windows" else linux_args
    group = make(target=target, kubelet=KubeletSettings(max_pods=pods))
    found = [m for m in check_instance_group_args(group) if m.rule.code == "WK-IG-028"]
    assert bool(found) == (pods > 2 ** (32 - mask) - ADDRESSES_KEPT[system])
    assert pod_capacity(system, mask) == 2 ** (32 - mask) - ADDRESSES_KEPT[system]


def test_windows_workers_have_linux_workers_beside_them():
    """WK-IG-039: CoreDNS has to run somewhere; a cluster that others made has its own."""
    (mistake,) = check_instance_groups([windows_args()], make_target(), ("instance_groups",))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-IG-039", ("instance_groups",), ["windows"])
    assert 'linux: "al2023"' in mistake.remedy
    assert not check_instance_groups([windows_args(), linux_args()], make_target())
    assert not check_instance_groups([windows_args()], make_target(), linux=False)


def test_groups_of_one_cluster_have_different_names():
    """WK-IG-038 at the second one."""
    found = check_instance_groups([linux_args(), linux_args()], make_target(), ("instance_groups",))
    assert [(m.rule.code, m.path) for m in found] == [("WK-IG-038", ("instance_groups", 1, "name"))]


def test_the_pod_network_has_a_part_for_every_node():
    """WK-IG-040 says which network would do, counting the nodes that a rollout adds."""
    target = make_target(pod_cidr="10.244.0.0/21")
    (mistake,) = check_instance_groups([linux_args(max_size=8)], target)
    assert (mistake.rule.code, mistake.path) == ("WK-IG-040", ("pod_cidr",))
    assert "8 subnets of /24" in mistake.message
    assert "/20 or larger" in mistake.remedy
    assert not check_instance_groups([linux_args(max_size=4)], target)


def test_files_without_a_digest_are_asked_for():
    """WK-ART-001 below the target, for what this group fetches; digests for other groups are not its matter."""
    group = windows_args(target=make_target(kubernetes_version="1.37"))
    found = check_instance_group_args(group)
    assert found
    assert {m.path[:2] for m in found} == {("target", "artefact_digests")}
    digests = {str(m.path[2]): "sha256:" + "0" * 64 for m in found}
    known = make_target(kubernetes_version="1.37", artefact_digests=digests)
    assert not check_instance_group_args(windows_args(target=known))
    assert not check_downloads(linux_args(target=known), known)


def test_programs_are_fetched_where_their_digest_is_known():
    """kube-log-runner and the credential provider have no published digest: without one they are left out, and said."""
    group = windows_args()
    assert optional_programs(group, group.target) == ("kubectl",)
    (advice,) = advise_instance_group(group)
    assert (advice.rule.code, advice.path) == ("WK-IG-042", ("target", "artefact_digests"))
    digests = {
        "kube-log-runner-1.36.4-windows-amd64": "sha256:" + "1" * 64,
        "ecr-credential-provider-1.31.7-windows-amd64": "sha256:" + "2" * 64,
    }
    more = replace(group, target=make_target(artefact_digests=digests))
    assert optional_programs(more, more.target) == ("kubectl", "kube-log-runner", "ecr-credential-provider")
    assert not advise_instance_group(more)
    assert not advise_instance_group(replace(group, kubelet_log=False))
    wanted = check_instance_group_args(replace(group, kubelet_log=True))
    assert [m.rule.code for m in wanted] == ["WK-ART-001"]


def test_boot_code_is_for_two_systems():
    """WK-IG-050 for another one."""
    (mistake,) = check_boot_code(BootCodeArgs(cluster_name="a", bucket="b", systems=("window",)))
    assert (mistake.rule.code, mistake.path) == ("WK-IG-050", ("systems", 0))
    assert '"windows"' in mistake.remedy
