"""Security groups, Fargate profiles and private clusters."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from winkube.core.errors import WinkubeError
from winkube.eks.fargate import COREDNS_ON_FARGATE, EksFargateProfile, EksFargateProfileArgs, FargateSelector
from winkube.eks.group_options import check_group_options
from winkube.eks.node_groups import EksWindowsNodeGroup, EksWindowsNodeGroupArgs
from winkube.eks.port_rules import PodPort
from winkube.eks.private_cluster import check_private_endpoints, private_endpoints
from winkube.eks.security_groups import EksSecurityGroups, EksSecurityGroupsArgs
from winkube.eks.target import EksTarget
from winkube.network.ports import EKS_RULES
from winkube.preview.model import Plan

TARGET = EksTarget(name="dev", kubernetes_version="1.36")
PROFILE = EksFargateProfileArgs(cluster=TARGET, subnet_ids=["subnet-1"])
Record = Callable[..., Plan]


def of(plan: Plan, kind: str):
    """The resources of a kind."""
    return [resource for resource in plan.resources if resource.type == kind]


def mistakes(build: Callable[[], Any], record: Record):
    """The mistakes with which a component is refused."""
    with pytest.raises(WinkubeError) as caught:
        record(build)
    return caught.value.mistakes


def test_one_rule_for_each_row_of_the_matrix(record: Record):
    """Each row becomes one rule between two of the groups; nothing from outside is let in."""
    plan = record(lambda: EksSecurityGroups("dev", EksSecurityGroupsArgs(vpc_id="vpc-1")), preview=False)
    rules = of(plan, "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    assert len(rules) == len(EKS_RULES)
    groups = {f"dev-{word}-id" for word in ("control-plane", "linux", "windows")}
    for rule in rules:
        assert "cidrIpv4" not in rule.inputs
        assert {rule.inputs["securityGroupId"], rule.inputs["referencedSecurityGroupId"]} <= groups
    kubelet = next(r for r in rules if r.name == "dev-control-plane-to-windows-tcp-10250")
    assert (kubelet.inputs["fromPort"], kubelet.inputs["toPort"]) == (10250, 10250)


def test_ports_of_pods_are_opened_among_all_nodes(record: Record):
    """A range is opened in all four directions between Linux and Windows."""
    args = EksSecurityGroupsArgs(vpc_id="vpc-1", pod_ports=[PodPort(first=8080, last=8090, purpose="Web")])
    plan = record(lambda: EksSecurityGroups("dev", args))
    names = {
        r.name for r in of(plan, "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule") if "8080-8090" in r.name
    }
    assert names == {
        f"dev-{source}-to-{target}-tcp-8080-8090" for source in ("linux", "windows") for target in ("linux", "windows")
    }


def test_wrong_ports_and_networks(record: Record):
    """WK-EKS-084 at each port, protocol and network."""
    args = EksSecurityGroupsArgs(
        vpc_id="vpc-1",
        pod_ports=[PodPort(first=9, last=1), PodPort(first=1, protocol="TCP")],
        egress_cidrs=["10.0.0.1/8"],
    )
    found = mistakes(lambda: EksSecurityGroups("dev", args), record)
    assert [(m.rule.code, m.path) for m in found] == [
        ("WK-EKS-084", ("pod_ports", 0)),
        ("WK-EKS-084", ("pod_ports", 1, "protocol")),
        ("WK-EKS-084", ("egress_cidrs", 0)),
    ]
    assert found[1].remedy == 'write "tcp"'


def test_nodes_can_leave_the_cluster_s_security_group(record: Record):
    """With groups of their own, and not without any."""
    group = EksWindowsNodeGroupArgs(
        name="windows", cluster=TARGET, subnet_ids=["subnet-1"], cluster_security_group=False
    )
    (mistake,) = check_group_options(group, TARGET)
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-086", ("security_group_ids",))
    plan = record(lambda: EksWindowsNodeGroup("win", replace(group, security_group_ids=["sg-9"])))
    (template,) = of(plan, "aws:ec2/launchTemplate:LaunchTemplate")
    assert template.inputs["vpcSecurityGroupIds"] == ["sg-9"]


def test_coredns_on_fargate(record: Record):
    """A role that Fargate may take, with its policy, before a profile that claims CoreDNS alone."""
    plan = record(lambda: EksFargateProfile("dns", PROFILE))
    (profile,) = of(plan, "aws:eks/fargateProfile:FargateProfile")
    (role,) = of(plan, "aws:iam/role:Role")
    (attachment,) = of(plan, "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    assert profile.inputs["selectors"] == [{"namespace": "kube-system", "labels": {"k8s-app": "kube-dns"}}]
    assert "eks-fargate-pods.amazonaws.com" in role.inputs["assumeRolePolicy"]
    assert attachment.urn in profile.options.dependencies
    assert COREDNS_ON_FARGATE == {"computeType": "Fargate"}


def test_selectors_of_a_profile(record: Record):
    """WK-EKS-038 for number, namespace and labels; WK-K8S-020 for a namespace of Windows workloads."""
    many = {f"k{number}": "v" for number in range(6)}
    selectors = [
        FargateSelector(namespace="A_b"),
        FargateSelector(namespace="x", labels=many),
        FargateSelector(namespace="web"),
    ]
    args = replace(PROFILE, selectors=selectors, windows_namespaces=["web"])
    found = mistakes(lambda: EksFargateProfile("dns", args), record)
    assert [(m.rule.code, m.path) for m in found] == [
        ("WK-EKS-038", ("selectors", 0, "namespace")),
        ("WK-EKS-038", ("selectors", 1, "labels")),
        ("WK-K8S-020", ("selectors", 2, "namespace")),
    ]
    (mistake,) = mistakes(lambda: EksFargateProfile("dns", replace(PROFILE, selectors=[])), record)
    assert (mistake.rule.code, mistake.got) == ("WK-EKS-038", 0)


def test_a_private_cluster_has_endpoints_for_everything():
    """WK-EKS-085 names exactly what is missing."""
    have = [name for name in private_endpoints() if name not in ("sts", "ecr.dkr")]
    interface, gateway = check_private_endpoints(have, [])
    assert (interface.rule.code, interface.path) == ("WK-EKS-085", ("interface_endpoints",))
    assert "ecr.dkr, sts" in interface.message
    assert gateway.path == ("gateway_endpoints",)
    assert not check_private_endpoints(private_endpoints(), ["s3"])
    assert not check_private_endpoints([*private_endpoints(), "s3"], [])


def test_what_a_private_cluster_needs_depends_on_what_it_runs():
    """Groups that start themselves do not ask EKS; autoscaler and balancers ask for more."""
    assert "eks" not in private_endpoints(managed=False)
    assert {"autoscaling", "elasticloadbalancing"} <= set(private_endpoints(autoscaler=True, load_balancers=True))
