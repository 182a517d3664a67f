"""Cloud controller manager, approver of serving certificates, marks of nodes, rows of aws-auth."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pulumi
import pytest
from winkube.preview.model import Plan
from winkube.scheduling.labels import Taint
from winkube.scheduling.node_taints import NodeMarks, NodeTaints, NodeTaintsArgs, check_node_taints, node_patch
from winkube.system_services.cloud_controller_manager import (
    CloudControllerManager,
    CloudControllerManagerArgs,
    check_cloud_controller_manager,
)
from winkube.system_services.kubelet_csr_approver import (
    KubeletCsrApprover,
    KubeletCsrApproverArgs,
    check_kubelet_csr_approver,
)
from winkube.system_services.system_manifests import (
    IP_NAME,
    RESOURCE_NAME,
    cloud_controller_manifests,
    csr_approver_environment,
    csr_approver_manifests,
)
from winkube.tables.releases import SELF_MANAGED_MINORS

from ..kubernetes.conftest import API, said

CLOUD = CloudControllerManagerArgs(cluster_name="prod", kubernetes_version="1.36", endpoint=API)
APPROVER = KubeletCsrApproverArgs(endpoint=API, node_cidrs=["10.0.0.0/16"])


def cloud(**more: Any) -> dict[str, Any]:
    return cloud_controller_manifests(**{"endpoint": API, "cluster_name": "--cluster-name=prod", "image": "c:v1",
                                         "pod_cidr": "10.244.0.0/16", "cloud_config": {}, **more})  # fmt: skip


def approver() -> dict[str, Any]:
    environment = csr_approver_environment("resource-name", ["10.0.0.0/16"], 366, resolve_names=False)
    return csr_approver_manifests(endpoint=API, image="a:v1", environment=environment)


def test_the_objects_are_those_of_kubernetes(validated: Callable[..., None]):
    for manifest in (*cloud().values(), *cloud(cloud_config={"Zone": "a"}).values(), *approver().values()):
        validated(manifest)


def test_the_cloud_controller_runs_before_there_is_a_network():
    pod = cloud()["controller"]["spec"]["template"]["spec"]
    assert pod["hostNetwork"] is True
    assert pod["nodeSelector"]["node-role.kubernetes.io/control-plane"] == ""
    tolerated = {it["key"] for it in pod["tolerations"]}
    assert "node.cloudprovider.kubernetes.io/uninitialized" in tolerated
    (container,) = pod["containers"]
    assert {"--configure-cloud-routes=false", "--allocate-node-cidrs=false", "--cluster-name=prod"} <= set(
        container["args"]
    )
    assert {"name": "KUBERNETES_SERVICE_HOST", "value": "api.prod.example.com"} in container["env"]


def test_its_configuration_is_mounted_where_there_is_one():
    manifests = cloud(cloud_config={"NLBSecurityGroupMode": "Managed"})
    assert manifests["configuration"]["data"]["cloud.conf"] == "[Global]\nNLBSecurityGroupMode = Managed\n"
    (container,) = manifests["controller"]["spec"]["template"]["spec"]["containers"]
    assert "--cloud-config=/etc/cloud/cloud.conf" in container["args"]
    assert "configuration" not in cloud()


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_each_minor_has_its_image(record: Callable[..., Plan], minor: str):
    plan = record(lambda: CloudControllerManager("cloud", replace(CLOUD, kubernetes_version=minor)))
    component = next(it for it in plan.resources if it.name == "cloud")
    assert re.fullmatch(
        r"registry\.k8s\.io/provider-aws/cloud-controller-manager:v1\.\d+\.\d+", component.outputs["image"]
    )


def test_a_name_that_is_computed_is_taken(record: Callable[..., Plan]):
    def build() -> None:
        CloudControllerManager("cloud", replace(CLOUD, cluster_name=pulumi.Output.from_input("prod")))

    plan = record(build, preview=False)
    controller = next(it for it in plan.resources if it.name == "cloud-controller")
    assert "--cluster-name=prod" in controller.inputs["spec"]["template"]["spec"]["containers"][0]["args"]


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"kubernetes_version": "1.34"}, "WK-K8S-031", ("kubernetes_version",), '"1.35"'),
        ({"cloud_config": {"NodeIPFamily": "ipv4"}}, "WK-K8S-030", ("cloud_config", "NodeIPFamily"), "NodeIPFamilies"),
        ({"cloud_config": {"Zone": "a\nb"}}, "WK-K8S-030", ("cloud_config", "Zone"), "one line"),
        ({"pod_cidr": "x"}, "WK-K8S-026", ("pod_cidr",), "CIDR"),
        ({"image": "x"}, "WK-K8S-029", ("image",), "not pinned"),
        ({"endpoint": "x"}, "WK-K8S-028", ("endpoint",), "host:port"),
    ],
)
def test_what_the_cloud_controller_cannot_be_told(change: dict[str, Any], code: str, path: Any, words: str):
    mistake = said(check_cloud_controller_manager(replace(CLOUD, **change)), code)
    assert mistake.path == path
    assert words in mistake.text()


def test_the_approver_compares_names_where_it_can():
    """EC2's own name begins with the instance id only where the launch template says resource-name."""
    by_resource = csr_approver_environment("resource-name", ["10.0.0.0/16"], 366, resolve_names=True)
    assert by_resource["BYPASS_HOSTNAME_CHECK"] == "false"
    assert by_resource["BYPASS_DNS_RESOLUTION"] == "false"
    assert by_resource["PROVIDER_IP_PREFIXES"] == "10.0.0.0/16"
    by_address = csr_approver_environment("ip-name", ["10.0.0.0/16"], 366, resolve_names=False)
    assert by_address["BYPASS_HOSTNAME_CHECK"] == "true"


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        (RESOURCE_NAME, "i-0123456789abcdef0.eu-central-1.compute.internal", True),
        (RESOURCE_NAME, "i-0123456789abcdef0", True),
        (RESOURCE_NAME, "ip-10-0-1-5.eu-central-1.compute.internal", False),
        (RESOURCE_NAME, "api.prod.example.com", False),
        (IP_NAME, "ip-10-0-1-5.eu-central-1.compute.internal", True),
        (IP_NAME, "ip-10-0-1-5.ec2.internal", True),
        (IP_NAME, "ip-10-0-1-5.evil.example.com", False),
        (IP_NAME, "kubernetes.default.svc", False),
    ],
)
def test_only_names_of_instances_are_granted(pattern: str, name: str, fits: bool):
    assert bool(re.search(pattern, name)) is fits


def test_networks_that_are_computed_are_joined(record: Callable[..., Plan]):
    def build() -> None:
        cidrs = ["10.0.0.0/16", pulumi.Output.from_input("10.1.0.0/16")]
        KubeletCsrApprover("approver", replace(APPROVER, node_cidrs=cidrs))

    plan = record(build, preview=False)
    pod = next(it for it in plan.resources if it.name == "approver-approver").inputs["spec"]["template"]["spec"]
    environment = {it["name"]: it.get("value") for it in pod["containers"][0]["env"]}
    assert environment["PROVIDER_IP_PREFIXES"] == "10.0.0.0/16,10.1.0.0/16"


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"hostname_type": "resource_name"}, "WK-K8S-032", ("hostname_type",), 'write "resource-name"'),
        ({"node_cidrs": []}, "WK-K8S-033", ("node_cidrs",), "VPC"),
        ({"node_cidrs": ["0.0.0.0/0"]}, "WK-K8S-033", ("node_cidrs", 0), "0.0.0.0/0"),
        ({"validity_days": 400}, "WK-K8S-034", ("validity_days",), "367"),
        ({"image": "a:latest"}, "WK-K8S-029", ("image",), "not pinned"),
    ],
)
def test_what_the_approver_cannot_be_told(change: dict[str, Any], code: str, path: Any, words: str):
    mistake = said(check_kubelet_csr_approver(replace(APPROVER, **change)), code)
    assert mistake.path == path
    assert words in mistake.text()


def test_a_node_is_patched_and_not_owned(record: Callable[..., Plan]):
    """Labels join the node's own; without taints its list is left alone."""
    marks = [
        NodeMarks(node="i-1", labels={"team": "web"}, taints=[Taint(key="os", value="windows"), Taint(key="team")]),
        NodeMarks(node="i-2", labels={"team": "web"}),
    ]
    plan = record(lambda: NodeTaints("marks", NodeTaintsArgs(nodes=marks)))
    first, second = [it for it in plan.resources if it.type == "kubernetes:core/v1:NodePatch"]
    assert first.inputs["spec"]["taints"] == [
        {"key": "os", "value": "windows", "effect": "NoSchedule"}, {"key": "team", "effect": "NoSchedule"},
    ]  # fmt: skip
    assert "spec" not in second.inputs
    assert node_patch("n", {}, [])["spec"] == {"taints": []}


@pytest.mark.parametrize(
    ("marks", "code", "path"),
    [
        ([], "WK-K8S-035", ("nodes",)),
        ([NodeMarks(node="A_b", labels={"a": "b"})], "WK-K8S-035", ("nodes", 0, "node")),
        ([NodeMarks(node="n"), ], "WK-K8S-035", ("nodes", 0)),
        ([NodeMarks(node="n", labels={"a": "b"}), NodeMarks(node="n", labels={"c": "d"})], "WK-K8S-035",
         ("nodes", 1, "node")),
        ([NodeMarks(node="n", taints=[Taint(key="a", effect="NoShedule")])], "WK-SCH-004",
         ("nodes", 0, "taints", 0, "effect")),
    ],
)  # fmt: skip
def test_marks_that_cannot_be_set_are_refused(marks: list[NodeMarks], code: str, path: tuple[Any, ...]):
    assert said(check_node_taints(NodeTaintsArgs(nodes=marks)), code).path == path
