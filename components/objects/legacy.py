"""Left-overs of the old Windows support of EKS, whose controller and webhook ran on the cluster's own nodes. Pure.

The controller of today waits until the old Deployment is gone, and the old webhook's certificate ends after a year:
then Windows pods stay in ``ContainerCreating``. Source: EKS user guide, "Deploy Windows nodes", in its editions until
2024; amazon-vpc-resource-controller-k8s ``pkg/condition``.
"""

from collections.abc import Mapping
from typing import Any, cast

from ..core.mistakes import Mistakes, Rule

LEFT_OVER = Rule("WK-K8S-021", "The controller and webhook of the old Windows support are removed.",
                 "https://github.com/aws/amazon-vpc-resource-controller-k8s")  # fmt: skip

LEGACY_OBJECTS: Mapping[str, tuple[str, ...]] = {
    "Deployment": ("vpc-resource-controller", "vpc-admission-webhook", "vpc-admission-webhook-deployment"),
    "Service": ("vpc-admission-webhook", "vpc-admission-webhook-svc"),
    "Secret": ("vpc-admission-webhook-certs",),
    "ServiceAccount": ("vpc-resource-controller",),
    "ClusterRole": ("vpc-resource-controller",),
    "ClusterRoleBinding": ("vpc-resource-controller",),
    "MutatingWebhookConfiguration": ("vpc-admission-webhook-cfg",),
    "CertificateSigningRequest": ("vpc-admission-webhook.kube-system",),
}
"""Kind to the names of what the old way installed. The ClusterRoleBinding ``eks:kube-proxy-windows`` is not among them:
the way of today needs it, and EKS keeps it."""


def check_legacy_object(manifest: Mapping[str, Any]) -> Mistakes:
    """Whether a manifest is a left-over of the old Windows support."""
    found = Mistakes()
    kind = str(manifest.get("kind"))
    metadata = cast("Mapping[str, Any]", manifest.get("metadata") or {})
    name = str(metadata.get("name"))
    if name in LEGACY_OBJECTS.get(kind, ()):
        found.add(LEFT_OVER, ("metadata", "name"), f"this {kind} belongs to the Windows support of before 2022",
                  "remove it, and switch on Windows IPAM instead", name)  # fmt: skip
    return found
