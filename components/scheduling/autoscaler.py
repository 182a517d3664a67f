"""Tags in which the cluster autoscaler reads what a group's nodes will be, before there is one.

Source: cluster-autoscaler ``cloudprovider/aws/README.md``.
"""

from collections.abc import Mapping, Sequence

from .labels import TaintLike

AUTOSCALER = "k8s.io/cluster-autoscaler"


def autoscaler_template_tags(
    labels: Mapping[str, str], taints: Sequence[TaintLike], resources: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Tags of an Auto Scaling group from which the autoscaler knows a node before there is one.

    Without them a group at zero is taken for a Linux one, without extended resources: a pod for Windows would stay
    pending for ever (kubernetes/autoscaler #2888, #7082).
    """
    tags = {f"{AUTOSCALER}/node-template/label/{key}": value for key, value in labels.items()}
    tags |= {f"{AUTOSCALER}/node-template/taint/{taint.key}": f"{taint.value}:{taint.effect}" for taint in taints}
    tags |= {f"{AUTOSCALER}/node-template/resources/{name}": amount for name, amount in (resources or {}).items()}
    return dict(sorted(tags.items()))


def autoscaler_discovery_tags(cluster_name: str) -> dict[str, str]:
    """Tags by which the autoscaler finds a group; EKS sets them itself on the groups that it manages."""
    return {f"{AUTOSCALER}/enabled": "true", f"{AUTOSCALER}/{cluster_name}": "owned"}
