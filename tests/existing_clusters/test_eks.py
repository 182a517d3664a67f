"""Clusters that others made: what their target holds, and that it is the cluster that was described."""

import sys
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_eks
import pytest
from winkube.core.errors import WinkubeError
from winkube.eks.node_groups import EksWindowsNodeGroup, EksWindowsNodeGroupArgs
from winkube.eks.target import EksTarget
from winkube.existing_clusters.eks import check_facts, cluster_role_name, target_of_aws_cluster, target_of_pulumi_eks
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.evaluation.invokes import Answers
from winkube.preview.model import UNKNOWN, Plan

Record = Callable[..., Plan]
SUBNETS = ["subnet-11111111", "subnet-22222222"]
FOUND = {
    "name": "shared",
    "version": "1.36",
    "endpoint": "https://shared",
    "roleArn": "arn:aws:iam::111122223333:role/clusters/shared",
    "certificateAuthorities": [{"data": "Q0E="}],
    "accessConfigs": [{"authenticationMode": "API"}],
    "kubernetesNetworkConfigs": [{"ipFamily": "ipv4", "serviceIpv4Cidr": "172.20.0.0/16"}],
    "vpcConfig": {"clusterSecurityGroupId": "sg-1"},
}


def made() -> aws.eks.Cluster:
    return aws.eks.Cluster(
        "made",
        name="made",
        role_arn="arn:aws:iam::111122223333:role/made",
        version="1.36",
        vpc_config={"subnet_ids": SUBNETS},
        access_config={"authentication_mode": "API"},
        kubernetes_network_config={"service_ipv4_cidr": "10.100.0.0/16"},
    )


def join(target: EksTarget) -> None:
    """A group that starts itself: it needs everything of a target."""
    args = EksWindowsNodeGroupArgs(name="w", cluster=target, subnet_ids=SUBNETS, management="self_managed")
    EksWindowsNodeGroup("w", args)


def entry_of(plan: Plan) -> Any:
    (entry,) = [resource for resource in plan.resources if resource.type.endswith("AccessEntry")]
    return entry.inputs["clusterName"]


def test_nodes_join_a_cluster_of_the_same_program(record: Record) -> None:
    """What the program says of the cluster is known at once; what AWS computes arrives later."""

    def build() -> None:
        join(target_of_aws_cluster(made(), kubernetes_version="1.36", service_cidr="10.100.0.0/16"))

    assert entry_of(record(build, preview=False)) == "made"
    preview = record(build)
    (template,) = [resource for resource in preview.resources if resource.type.endswith("LaunchTemplate")]
    assert template.inputs["userData"] is UNKNOWN


def test_nodes_join_a_cluster_that_was_looked_up() -> None:
    answers = Answers({"aws:eks/getCluster:getCluster": (({"name": "shared"}, FOUND),)})
    seen: dict[str, Any] = {}

    def build() -> None:
        cluster = aws.eks.get_cluster_output(name="shared")
        target = target_of_aws_cluster(cluster, kubernetes_version="1.36")
        for field in ("name", "endpoint", "certificate_authority", "security_group_id"):
            pulumi.Output.from_input(getattr(target, field)).apply(
                lambda value, field=field: seen.update({field: value})
            )
        cluster_role_name(cluster).apply(lambda value: seen.update(role=value))
        join(target)

    assert entry_of(evaluate_function(build, answers=answers)) == "shared"
    assert seen == {
        "name": "shared",
        "endpoint": "https://shared",
        "certificate_authority": "Q0E=",
        "security_group_id": "sg-1",
        "role": "shared",
    }


def test_nodes_join_a_cluster_that_was_read(record: Record) -> None:
    """What ``Cluster.get`` reads is unknown until then, and stand-ins of an offline update are not judged."""

    def build() -> None:
        join(target_of_aws_cluster(aws.eks.Cluster.get("read", "shared"), kubernetes_version="1.36"))

    assert entry_of(record(build)) is UNKNOWN
    assert entry_of(record(build, preview=False)) == "placeholder-read.name"


def test_nodes_join_a_cluster_of_pulumi_eks(record: Record) -> None:
    """A remote component: everything of it is unknown, and the plan says so instead of failing."""

    def build() -> None:
        cluster = pulumi_eks.Cluster("it", authentication_mode=pulumi_eks.AuthenticationMode.API)
        join(target_of_pulumi_eks(cluster, kubernetes_version="1.36", authentication_mode="API"))
        aws.iam.RolePolicyAttachment(
            "it-windows", role=cluster_role_name(cluster), policy_arn="arn:aws:iam::aws:policy/X"
        )

    plan = record(build)
    assert entry_of(plan) is UNKNOWN
    assert next(it for it in plan.resources if it.name == "it-windows").inputs["role"] is UNKNOWN


@pytest.mark.parametrize(
    ("field", "said", "actual"),
    [
        ("kubernetes_version", "1.35", "1.36"),
        ("service_cidr", "10.100.0.0/16", "172.20.0.0/16"),
        ("authentication_mode", "API_AND_CONFIG_MAP", "API"),
        ("ip_family", "ipv6", "ipv4"),
    ],
)
def test_a_cluster_that_is_not_as_described_stops_the_program(field: str, said: str, actual: str) -> None:
    """As soon as it is known, in a preview too: its nodes would start with a wrong image or a wrong DNS address."""
    answers = Answers({"aws:eks/getCluster:getCluster": (({}, FOUND),)})

    def build() -> None:
        cluster = aws.eks.get_cluster_output(name="shared")
        target = target_of_aws_cluster(cluster, **{"kubernetes_version": "1.36", field: said})
        pulumi.export("name", target.name)

    with pytest.raises(WinkubeError) as refused:
        evaluate_function(build, answers=answers)
    title, text = str(refused.value).split("\n  ")
    assert title == 'The cluster "shared" is not the one that was described:'
    assert text == f'{field}: the cluster has "{actual}", got "{said}"; set {field} to "{actual}" [WK-EKS-092]'


DESCRIBED = EksTarget(name="", kubernetes_version="1.36")


def test_several_differences_are_told_at_once() -> None:
    found = check_facts({"kubernetes_version": "1.35", "service_cidr": "10.100.0.0/16"}, DESCRIBED)
    assert [mistake.path for mistake in found] == [("kubernetes_version",), ("service_cidr",)]


@pytest.mark.parametrize("value", [None, "", "placeholder-x.version", "1.36.2"])
def test_what_is_no_version_cidr_or_mode_is_not_judged(value: Any) -> None:
    fields = ("kubernetes_version", "service_cidr", "authentication_mode", "ip_family")
    assert check_facts(dict.fromkeys(fields, value), DESCRIBED) == []


def test_something_else_than_a_cluster_is_refused() -> None:
    for helper in (target_of_aws_cluster, target_of_pulumi_eks):
        with pytest.raises(
            WinkubeError, match=r'cluster: an? .* is needed, got "str"; pass the resource .* \[WK-EKS-091\]'
        ):
            helper("shared", kubernetes_version="1.36")  # pyright: ignore[reportArgumentType]


def test_a_missing_extra_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pulumi_eks", None)
    with pytest.raises(WinkubeError, match=r'install "winkube\[eks\]".*\[WK-EKS-090\]'):
        target_of_pulumi_eks(object(), kubernetes_version="1.36")
