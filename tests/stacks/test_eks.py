"""What the flavour makes of settings that the stacks of the program do not have."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from winkube.preview.checks.plan import check_plan
from winkube.preview.model import Plan, Resource, Severity

from stacks import deploy

from .conftest import WaitsFor
from .test_settings import FULL

LINUX = {"name": "system", "linux": "al2023"}
WINDOWS = {"name": "windows", "windows": "2022"}


@pytest.fixture
def plan_of(record: Any, stack_of: Any) -> Any:
    """The plan of the small stack with changes; no check finds anything in it."""

    def evaluate(changes: Mapping[str, Any], *, preview: bool = True) -> Plan:
        plan: Plan = record(deploy, config=stack_of(changes), preview=preview)
        findings = [*plan.findings, *check_plan(plan)]
        assert [finding for finding in findings if finding.severity is not Severity.NOTE] == []
        return plan

    return evaluate


def the(plan: Plan, name: str, kind: str = "") -> Resource:
    (found,) = [it for it in plan.resources if it.name == name and it.custom and it.type.endswith(kind)]
    return found


def names(plan: Plan, kind: str) -> set[str]:
    return {resource.name for resource in plan.resources if resource.type.endswith(kind)}


@pytest.mark.parametrize("preview", [True, False])
def test_every_setting_together_evaluates_without_a_finding(plan_of: Any, preview: bool) -> None:
    """One of everything, as a preview and as an update."""
    plan = plan_of(FULL, preview=preview)
    kinds = {resource.type.rpartition(":")[2] for resource in plan.resources}
    assert {
        "ClusterZone", "EksAddons", "EksCluster", "EksSecurityGroups", "FluentBitWindows", "GmsaCredentialSpec",
        "KarpenterWindowsNodes", "KarpenterWindowsRole", "NtfsStorageClass", "SmbStorageClass", "StateBucket",
    } <= kinds  # fmt: skip


def test_linux_and_windows_groups_differ_in_the_settings_of_each_only(plan_of: Any) -> None:
    plan = plan_of({
        "winkube:instanceGroups": [
            LINUX,
            {**WINDOWS, "cpuCores": 1, "threadsPerCore": 2, "warmPool": {"state": "running"},
             "maxUnavailablePercentage": 50, "proxy": {"https": "http://proxy.example.com:3128"}},
        ],
    })  # fmt: skip
    group, template = the(plan, "dev-windows-group").inputs, the(plan, "dev-windows-template").inputs
    assert template["cpuOptions"] == {"coreCount": 1, "threadsPerCore": 2}
    assert group["warmPoolConfig"]["poolState"] == "RUNNING"
    assert group["updateConfig"] == {"maxUnavailablePercentage": 50}
    assert template["userData"]
    assert "cpuOptions" not in the(plan, "dev-system-template").inputs


def test_nodes_of_a_cluster_with_groups_of_its_own_are_in_these_alone(plan_of: Any) -> None:
    changes = {"winkube:cluster.securityGroups": {"podPorts": [{"first": 8080}]}}
    plan = plan_of({**changes, "winkube:instanceGroups[1].securityGroupIds": ["sg-0123456789abcdef0"]}, preview=False)
    own = {word: the(plan, f"dev-nodes-{word}").id for word in ("control-plane", "linux", "windows")}
    assert the(plan, "dev-cluster").inputs["vpcConfig"]["securityGroupIds"] == [own["control-plane"]]
    assert the(plan, "dev-system-template").inputs["vpcSecurityGroupIds"] == [own["linux"]]
    assert the(plan, "dev-windows-template").inputs["vpcSecurityGroupIds"] == [own["windows"], "sg-0123456789abcdef0"]


def test_coredns_runs_on_fargate_without_linux_groups(plan_of: Any, waits_for: WaitsFor) -> None:
    plan = plan_of({"winkube:cluster.coreDns": "fargate", "winkube:instanceGroups": [WINDOWS]})
    assert json.loads(the(plan, "dev-coredns-addon").inputs["configurationValues"]) == {"computeType": "Fargate"}
    assert "dev-coredns-pods-profile" in waits_for(plan, "dev-coredns-addon")
    assert "dev-coredns-addon" in waits_for(plan, "dev-windows-group")


def test_a_self_managed_cni_brings_dns_and_proxy_itself(plan_of: Any) -> None:
    plan = plan_of({"winkube:cluster.windowsIpam": {"mode": "config_map"}})
    assert the(plan, "dev-cluster").inputs["bootstrapSelfManagedAddons"] is True
    assert names(plan, "eks/addon:Addon") == set()
    assert names(plan, "ConfigMapPatch") == {"dev-ipam-config-map"}


def test_a_cni_with_a_role_of_its_own_needs_nothing_of_the_nodes(plan_of: Any) -> None:
    role = "arn:aws:iam::111122223333:role/cni"
    plan = plan_of({"winkube:cluster.windowsIpam": {"serviceAccountRoleArn": role}})
    assert the(plan, "dev-ipam-vpc-cni").inputs["serviceAccountRoleArn"] == role
    assert "dev-system-nodes-AmazonEKS_CNI_Policy" not in names(plan, "RolePolicyAttachment")
    assert "dev-system-nodes-AmazonEKSWorkerNodePolicy" in names(plan, "RolePolicyAttachment")


def test_karpenter_comes_only_where_it_is_asked_for(plan_of: Any, waits_for: WaitsFor) -> None:
    """Its role before the add-on, which may pass it; its pools after the add-on, which brings their kinds."""
    assert not names(plan_of({}), "KarpenterWindowsRole")
    pools = [{"poolName": "windows2025", "windows": "2025"}]
    plan = plan_of({
        "winkube:instanceGroups": [LINUX],
        "winkube:addons": [{"name": "karpenter"}],
        "winkube:karpenter": {"windowsPools": pools},
    })  # fmt: skip
    assert "dev-karpenter-nodes-role" in waits_for(plan, "dev-addons-karpenter")
    assert "dev-addons-karpenter" in waits_for(plan, "dev-windows2025-pool")
    assert names(plan, "node.k8s.io/v1:RuntimeClass") == {"dev-runtime-classes-windows-2025"}
    assert '"enableWindowsIpam": "true"' in the(plan, "dev-ipam-vpc-cni").inputs["configurationValues"]


def test_roles_of_windows_nodes_carry_what_their_agents_need(plan_of: Any) -> None:
    """Pods of agents on Windows nodes take the credentials of the node; Linux nodes get nothing of it."""
    credential = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:gmsa-AbCdEf"
    plan = plan_of({
        **FULL,
        "winkube:cluster.securityGroups": None,
        "winkube:gmsaCredentialSpecs[0].credentialArn": credential,
    }, preview=False)  # fmt: skip
    for role in ("windows", "karpenter"):
        policies = {
            use: json.loads(the(plan, f"dev-{role}-{use}").inputs["policy"]) for use in ("logs", "gmsa-web-app")
        }
        assert credential in json.dumps(policies["gmsa-web-app"])
        assert "logs:PutLogEvents" in json.dumps(policies["logs"])
    assert not [name for name in names(plan, "iam/rolePolicy:RolePolicy") if name.startswith("dev-system")]


def test_a_policy_that_is_named_and_needed_is_attached_once(plan_of: Any) -> None:
    policy = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
    plan = plan_of({
        "winkube:addons": [{"name": "amazon-cloudwatch-observability"}],
        "winkube:instanceGroups[1].externalPolicies": [policy],
    })  # fmt: skip
    attached = [it for it in plan.resources if it.inputs.get("policyArn") == policy and "windows-nodes" in it.name]
    assert len(attached) == 1


def test_roles_of_addons_are_bounded_like_the_clusters(plan_of: Any) -> None:
    boundary = "arn:aws:iam::111122223333:policy/boundary"
    plan = plan_of({
        "winkube:addons": [{"name": "aws-ebs-csi-driver"}],
        "winkube:cluster.permissionsBoundary": boundary,
        "winkube:cluster.rolePath": "/clusters/",
    })  # fmt: skip
    for name in ("dev-cluster-role", "dev-addons-aws-ebs-csi-driver-role"):
        role = the(plan, name).inputs
        assert (role["permissionsBoundary"], role["path"]) == (boundary, "/clusters/")
