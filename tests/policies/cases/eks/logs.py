"""Cases of the rules in ``rules/eks/logs.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CLUSTER, LOG_GROUP

from ..base import Case, cluster, one, planned

LOGS = {"enabledClusterLogTypes": ["audit"]}

CASES = {
    "cluster-audit-logs": one(
        CLUSTER,
        [{"enabledClusterLogTypes": ["api", "audit"]}],
        [{}, {"enabledClusterLogTypes": ["api"]}],
        [{"enabledClusterLogTypes": UNKNOWN}],
        "does not write: audit",
    ),
    "cluster-log-group": Case(
        [[cluster(**LOGS), planned(LOG_GROUP, {"name": "/aws/eks/prod/cluster"})], [cluster()]],
        [
            [cluster(**LOGS)],
            [cluster(**LOGS), planned(LOG_GROUP, {"name": "/aws/eks/other/cluster"})],
            [planned(CLUSTER, LOGS)],
        ],
        [[cluster(**LOGS), planned(LOG_GROUP, {"name": UNKNOWN})]],
        "EKS creates the log group itself",
    ),
}
