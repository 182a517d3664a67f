"""Cases of the rules in ``rules/eks/clusters.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CLUSTER

from ..base import one

CASES = {
    "cluster-secrets-encrypted": one(
        CLUSTER,
        [{"encryptionConfig": {"provider": {"keyArn": UNKNOWN}, "resources": ["secrets"]}}],
        [{}, {"encryptionConfig": {"provider": {"keyArn": UNKNOWN}, "resources": []}}],
        [{"encryptionConfig": UNKNOWN}],
        "not encrypted with a customer-managed key",
    ),
    "eks-tagged": one(
        CLUSTER,
        [{"tags": {"team": UNKNOWN}}],
        [{}, {"tags": {}}],
        [{"tags": UNKNOWN}],
        "the resource has no tag",
    ),
    "cluster-deletion-protection": one(
        CLUSTER,
        [{"deletionProtection": True}, {"tags": {"stage": "test"}}],
        [{}, {"deletionProtection": False}],
        [{"deletionProtection": UNKNOWN}],
        "deleted in one step",
        stack="prod",
    ),
}
