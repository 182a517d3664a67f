"""A Fargate profile: Linux pods of some namespaces without nodes, for example CoreDNS beside Windows nodes.

- the pod execution role;
- the profile.

CoreDNS runs there with the add-on's configuration value ``{"computeType": "Fargate"}``. Windows pods never do.
Source: EKS user guide, "Define which pods use Fargate when launched".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.order import ordered_after
from ..core.tags import check_tags, named
from ..kubernetes.windows_pods import check_fargate_selectors
from ..roles.policy_documents import managed_policy_arn, rendered, trust
from ..roles.role_rules import check_boundary, check_path
from .fargate_rules import check_selectors
from .target import EksTarget, check_target

COREDNS_ON_FARGATE: Mapping[str, Any] = {"computeType": "Fargate"}
"""Configuration values of the CoreDNS add-on for clusters whose Linux pods run on Fargate."""


@dataclass(frozen=True, kw_only=True)
class FargateSelector:
    """A selector of the pods that run on Fargate."""

    namespace: str
    """The namespace; ``*`` stands for any text."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the pods; any by default."""


COREDNS_SELECTOR = FargateSelector(namespace="kube-system", labels={"k8s-app": "kube-dns"})
"""The pods of CoreDNS, and no others of its namespace."""


@dataclass(frozen=True, kw_only=True)
class EksFargateProfileArgs:
    """The arguments of a Fargate profile."""

    cluster: EksTarget
    """The cluster."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Private subnets of the pods."""
    selectors: Sequence[FargateSelector] = (COREDNS_SELECTOR,)
    """The pods that run on Fargate, one to five selectors; CoreDNS by default."""
    windows_namespaces: Sequence[str] = ()
    """Namespaces with Windows workloads; no selector may match them."""
    permissions_boundary: str | None = None
    """ARN of the pod execution role's permissions boundary; none by default."""
    role_path: str = "/"
    """Path of the pod execution role."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of profile and role."""


def check_fargate_profile(args: EksFargateProfileArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = Mistakes()
    found.take(check_target(args.cluster), "cluster")
    plain = [{"namespace": selector.namespace, "labels": selector.labels} for selector in args.selectors]
    found.take(check_selectors(plain))
    found.take(check_fargate_selectors(plain, args.windows_namespaces))
    found.take(check_boundary(args.permissions_boundary))
    found.take(check_path(args.role_path, ("role_path",)))
    found.take(check_tags(args.tags))
    return found


class EksFargateProfile(Component):
    """A Fargate profile with its role.

    :raises WinkubeError: ``WK-EKS-038``, ``WK-K8S-020``, ``WK-IAM``, ``WK-TAG``, and the target's codes.
    """

    profile_name: pulumi.Output[str]
    """The profile's name."""
    role_arn: pulumi.Output[str]
    """ARN of the pod execution role."""

    def __init__(self, name: str, args: EksFargateProfileArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_fargate_profile(args))
        role = aws.iam.Role(
            f"{name}-role",
            description="Pods on Fargate",
            path=args.role_path,
            permissions_boundary=args.permissions_boundary,
            assume_role_policy=rendered(trust("eks-fargate-pods", args.cluster.partition)),
            tags=named(args.tags, f"{name}-role"),
            opts=self.child(),
        )
        attachment = aws.iam.RolePolicyAttachment(
            f"{name}-execution",
            role=role.name,
            policy_arn=managed_policy_arn("AmazonEKSFargatePodExecutionRolePolicy", args.cluster.partition),
            opts=self.child(),
        )
        profile = aws.eks.FargateProfile(
            f"{name}-profile",
            cluster_name=args.cluster.name,
            pod_execution_role_arn=role.arn,
            subnet_ids=list(args.subnet_ids),
            selectors=[_selector(selector) for selector in args.selectors],
            tags=named(args.tags, name),
            opts=self.child(depends_on=ordered_after(opts, attachment)),
        )
        self.profile_name, self.role_arn = profile.fargate_profile_name, role.arn
        self.register_outputs({"profileName": self.profile_name, "roleArn": self.role_arn})


def _selector(selector: FargateSelector) -> Any:
    labels = {"labels": dict(selector.labels)} if selector.labels else {}
    return {"namespace": selector.namespace, **labels}
