"""How cases are written down: resources as rules see them."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from winkube.policies.model import UNKNOWN, Planned
from winkube.policies.resource_types import (
    CLUSTER,
    KUBERNETES_PROVIDER,
    LAUNCH_TEMPLATE,
    NODE_GROUP,
    POD,
    ROLE,
    ROLE_POLICY_ATTACHMENT,
)

Resources = Sequence[Planned]


@dataclass(frozen=True)
class Case:
    """One rule: plans that keep it, plans that break it, plans that cannot be decided."""

    good: Sequence[Resources]
    bad: Sequence[Resources]
    unknown: Sequence[Resources]
    says: str
    """What a violation says."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    count: int = 1
    """Violations of each broken plan."""


def urn(kind: str, name: str, stack: str = "dev") -> str:
    return f"urn:pulumi:{stack}::p::{kind}::{name}"


def planned(
    kind: str,
    props: Mapping[str, Any] | None = None,
    name: str = "x",
    provider: str = "",
    stack: str = "dev",
    **references: str | Sequence[str],
) -> Planned:
    """A resource; ``references`` maps properties to the URNs that their values come from."""
    sources = {key: [value] if isinstance(value, str) else list(value) for key, value in references.items()}
    return Planned(urn(kind, name, stack), kind, props or {}, sources, provider)


def one(
    kind: str,
    good: Sequence[Mapping[str, Any]],
    bad: Sequence[Mapping[str, Any]],
    unknown: Sequence[Mapping[str, Any]],
    says: str,
    settings: Mapping[str, Any] | None = None,
    *,
    stack: str = "dev",
    count: int = 1,
) -> Case:
    """The case of a rule about one resource of one type."""

    def plans(listed: Sequence[Mapping[str, Any]]) -> list[Resources]:
        return [[planned(kind, props, stack=stack)] for props in listed]

    return Case(plans(good), plans(bad), plans(unknown), says, settings or {}, count)


def pod(spec: Mapping[str, Any], **metadata: Any) -> dict[str, Any]:
    """The properties of a pod."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", **metadata}, "spec": dict(spec)}


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "app", "image": "registry.example.com/app:1.2", **fields}


def linux(spec: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A pod for Linux; ``fields`` are those of its container."""
    return pod({"containers": [container(**fields)], **(spec or {})}, namespace="shop")


def windows(spec: Mapping[str, Any] | None = None, metadata: Mapping[str, Any] | None = None, **fields: Any) -> Any:
    """A pod that selects Windows nodes; ``fields`` are those of its container."""
    limits = {"resources": {"limits": {"memory": "1Gi"}}}
    content = {"nodeSelector": {"kubernetes.io/os": "windows"}, "containers": [container(**{**limits, **fields})]}
    return pod({**content, **(spec or {})}, **{"namespace": "shop", **(metadata or {})})


def windows_case(
    good: Sequence[Mapping[str, Any]],
    bad: Sequence[Mapping[str, Any]],
    unknown: Sequence[Mapping[str, Any]],
    says: str,
    **more: Any,
) -> Case:
    """The case of a rule about pods for Windows; it never says anything of pods for Linux."""
    return one(POD, [*good, linux()], bad, unknown, says, **more)


def policy(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(action: Any, resource: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def powershell(*lines: str) -> str:
    return encoded("\n".join(["<powershell>", *lines, "</powershell>"]))


BOOTSTRAP = '& "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1" -EKSClusterName "main"'
RESERVED = "--kube-reserved=memory=512Mi --system-reserved=memory=1536Mi"
GOOD_BOOTSTRAP = f'{BOOTSTRAP} -ServiceCIDR "172.20.0.0/16" -KubeletExtraArgs "{RESERVED}"'


# -- a cluster with Windows nodes --------------------------------------------------------------------------------------

MAIN = urn(CLUSTER, "main")


def cluster(**props: Any) -> Planned:
    content = {"name": "prod", "version": "1.36", "accessConfig": {"authenticationMode": "API"}, **props}
    return planned(CLUSTER, content, "main", roleArn=urn(ROLE, "control"))


def group(name: str, ami: Any = "AL2023_x86_64_STANDARD", *, role: str = "", **props: Any) -> Planned:
    """A managed node group of the cluster ``main``."""
    content = {
        "amiType": ami,
        "clusterName": UNKNOWN,
        "nodeRoleArn": UNKNOWN,
        "scalingConfig": {"minSize": 2, "desiredSize": 2, "maxSize": 4},
        **props,
    }
    more = {"launchTemplate": urn(LAUNCH_TEMPLATE, name)} if "launchTemplate" in props else {}
    return planned(NODE_GROUP, content, name, clusterName=MAIN, nodeRoleArn=urn(ROLE, role or name), **more)


def windows_group(name: str = "w", ami: str = "WINDOWS_CORE_2022_x86_64", **props: Any) -> Planned:
    return group(name, ami, **props)


def attachment(role: str, policy_name: Any, **references: str) -> Planned:
    arn = f"arn:aws:iam::aws:policy/{policy_name}" if isinstance(policy_name, str) else policy_name
    name = f"{role}-{policy_name}"
    return planned(
        ROLE_POLICY_ATTACHMENT, {"role": UNKNOWN, "policyArn": arn}, name, role=urn(ROLE, role), **references
    )


def in_cluster(kind: str, props: Mapping[str, Any], name: str = "x", **references: str) -> Planned:
    """A Kubernetes object of the cluster ``main``."""
    return planned(kind, props, name, provider=urn(KUBERNETES_PROVIDER, "k8s"), **references)


PROVIDER = planned(KUBERNETES_PROVIDER, {"kubeconfig": UNKNOWN}, "k8s", kubeconfig=MAIN)
WINDOWS_CLUSTER = [cluster(), group("l"), windows_group(), PROVIDER]
