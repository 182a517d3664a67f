"""Cases of the rules in ``rules/storage/logs.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import LOG_GROUP

from ..base import one

CASES = {
    "log-retention": one(
        LOG_GROUP,
        [{"retentionInDays": 90, "name": "/aws/eks/main/cluster"}, {"retentionInDays": 7, "name": "/app"}],
        [{}, {"retentionInDays": 0}, {"retentionInDays": 30, "name": "/aws/eks/main/cluster"}],
        [{"retentionInDays": UNKNOWN}],
        "for",
    ),
}
