"""Cases of the rules in ``rules/eks/versions.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CLUSTER

from ..base import Case, cluster, group, one

CASES = {
    "cluster-version-exists": one(
        CLUSTER,
        [{"version": "1.36"}, {"version": "1.40"}, {}],
        [{"version": "1.29"}],
        [{"version": UNKNOWN}],
        "EKS no longer runs Kubernetes 1.29",
    ),
    "cluster-version-supported": one(
        CLUSTER,
        [{"version": "1.36"}, {"version": "1.29"}, {}],
        [{"version": "1.33"}],
        [{"version": UNKNOWN}],
        "standard support of Kubernetes 1.33 ended on",
    ),
    "node-version-skew": Case(
        [
            [cluster(version="1.36"), group("l", version="1.36")],
            [cluster(version="1.36"), group("l", version="1.33")],
            [cluster(), group("l")],
        ],
        [[cluster(version="1.35"), group("l", version="1.36")], [cluster(version="1.36"), group("l", version="1.32")]],
        [[cluster(), group("l", version=UNKNOWN)]],
        "than their cluster's",
    ),
}
