"""Flags that user data gives the kubelet, on Linux and Windows nodes alike."""

import re
from collections.abc import Iterator

from ...frameworks import cis_eks, eks_guide
from ...model import Planned, Settings, resource_rule
from ...resource_types import LAUNCHED
from ...user_data import known_user_data

KUBELET_FLAGS: tuple[tuple[str, str], ...] = (
    (r"--anonymous-auth[= ]true", "allows anonymous requests to the kubelet"),
    (r"--authorization-mode[= ]AlwaysAllow", "authorizes every request to the kubelet"),
    (r"--read-only-port[= ](?!0\b)\d+", "opens an unauthenticated port of the kubelet"),
    (r"--rotate-certificates[= ]false", "stops the rotation of the kubelet's certificate"),
    (r"--rotate-server-certificates[= ]false", "stops the rotation of the kubelet's server certificate"),
    (r"--streaming-connection-idle-timeout[= ]0\b", "never ends idle connections to containers"),
)
REMOVED_FLAGS: tuple[tuple[str, str], ...] = (
    (r"--pod-infra-container-image\b", "kubelets from Kubernetes 1.35 on do not know it and fail to start"),
    (r"--network-plugin\b", "kubelets from Kubernetes 1.24 on do not know it and fail to start"),
    (
        r"--container-runtime[= ]docker|-ContainerRuntime\s+[\"']?docker",
        "Kubernetes dropped Docker in 1.24",
    ),
    (r"--cni-(?:bin|conf)-dir\b", "kubelets from Kubernetes 1.24 on do not know it and fail to start"),
)


@resource_rule(
    "kubelet-arguments-safe",
    "User data does not weaken the kubelet",
    types=LAUNCHED,
    severity="high",
    references=[cis_eks("3.2.1"), cis_eks("3.2.2"), cis_eks("3.2.4"), cis_eks("3.2.5")],
    steps="remove the flag: the image's own setting is safe",
    url="https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/",
    late=True,
)
def kubelet_arguments_safe(resource: Planned, settings: Settings) -> Iterator[str]:
    """Applies to Linux and Windows nodes."""
    yield from _flags(resource, KUBELET_FLAGS)


@resource_rule(
    "kubelet-arguments-known",
    "User data passes no removed flags to the kubelet",
    types=LAUNCHED,
    severity="high",
    level="mandatory",
    references=[eks_guide("Kubernetes versions")],
    steps="remove the flag",
    url="https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/",
    late=True,
)
def kubelet_arguments_known(resource: Planned, settings: Settings) -> Iterator[str]:
    """Custom bootstrap scripts often keep old flags."""
    yield from _flags(resource, REMOVED_FLAGS)


def _flags(resource: Planned, rows: tuple[tuple[str, str], ...]) -> Iterator[str]:
    text = known_user_data(resource) or ""
    for pattern, why in rows:
        found = re.search(pattern, text)
        if found:
            yield f"{found[0]} in user data: {why}"
