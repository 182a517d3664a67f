"""Clusters as such: secrets, tags, deletion."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from ...frameworks import cis_eks, controls_page, eks_guide, fsbp
from ...model import TEXTS, WHEN_OPTIONS, Option, Planned, Settings, applies, resource_rule, texts
from ...resource_types import CLUSTER, IDENTITY_PROVIDER_CONFIG, NODE_GROUP


@resource_rule(
    "cluster-secrets-encrypted",
    "Kubernetes secrets are encrypted with a customer-managed key",
    types=[CLUSTER],
    references=[fsbp("EKS.3"), cis_eks("5.3.1")],
    steps='set encryption_config with the ARN of a KMS key and resources ["secrets"]',
    url="https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html",
)
def cluster_secrets_encrypted(resource: Planned, settings: Settings) -> Iterator[str]:
    """Since Kubernetes 1.28, EKS encrypts everything with an AWS-owned key; you cannot control who may use that key."""
    config = resource["encryptionConfig"]
    config.known()
    if not config.given or "secrets" not in texts(config["resources"]):
        yield "secrets are not encrypted with a customer-managed key"


@resource_rule(
    "eks-tagged",
    "Clusters, node groups and identity providers are tagged",
    types=[CLUSTER, NODE_GROUP, IDENTITY_PROVIDER_CONFIG],
    severity="low",
    references=[fsbp("EKS.6"), fsbp("EKS.7")],
    steps="set tags that name the owner and the purpose; the rule does not see default tags of the provider",
    url=controls_page("eks"),
    options={"keys": Option([], "required tag keys; if empty, any one tag is enough", TEXTS)},
)
def eks_tagged(resource: Planned, settings: Settings) -> Iterator[str]:
    """Tags separate costs and permissions."""
    tags: Any = resource["tags"].known()
    keys = set(cast(Mapping[str, Any], tags or {}))
    if not keys:
        yield "the resource has no tag"
    elif missing := [key for key in settings["keys"] if key not in keys]:
        yield f"tags lack {', '.join(missing)}"


@resource_rule(
    "cluster-deletion-protection",
    "Clusters are protected from deletion",
    types=[CLUSTER],
    severity="high",
    references=[eks_guide("Protect EKS clusters from accidental deletion")],
    steps="set deletion_protection to true",
    url="https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html",
    options=WHEN_OPTIONS,
)
def cluster_deletion_protection(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, applies in production only."""
    if applies(resource, settings) and not resource["deletionProtection"].flag:
        yield "the cluster can be deleted in one step"
