"""Cases of the rules in ``rules/instances/auto_scaling.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import AUTO_SCALING_GROUP, LAUNCH_CONFIGURATION, NODE_GROUP

from ..base import Case, one, planned

CASES = {
    "launch-templates-only": Case(
        [[planned(AUTO_SCALING_GROUP, {"launchTemplate": {"id": UNKNOWN}})]],
        [
            [planned(AUTO_SCALING_GROUP, {"launchConfiguration": "old"})],
            [planned(LAUNCH_CONFIGURATION, {"instanceType": "m5.large"})],
        ],
        [[planned(AUTO_SCALING_GROUP, {"launchConfiguration": UNKNOWN, "launchTemplate": {"id": UNKNOWN}})]],
        "launch configuration",
    ),
    "auto-scaling-zones": one(
        AUTO_SCALING_GROUP,
        [{"vpcZoneIdentifiers": ["a", UNKNOWN]}, {"availabilityZones": ["eu-central-1a", "eu-central-1b"]}],
        [{"vpcZoneIdentifiers": [UNKNOWN]}, {"availabilityZones": ["eu-central-1a"]}],
        [{"vpcZoneIdentifiers": UNKNOWN}],
        "one zone only",
    ),
    "auto-scaling-health": one(
        AUTO_SCALING_GROUP,
        [{}, {"targetGroupArns": [UNKNOWN], "healthCheckType": "ELB"}],
        [{"targetGroupArns": [UNKNOWN]}, {"loadBalancers": ["a"], "healthCheckType": "EC2"}],
        [{"targetGroupArns": ["a"], "healthCheckType": UNKNOWN}],
        "does not use its health checks",
    ),
    "spot-several-types": one(
        NODE_GROUP,
        [{"instanceTypes": ["m6i.large"]}, {"capacityType": "SPOT", "instanceTypes": ["m6i.large", "m6a.large"]}],
        [{"capacityType": "SPOT", "instanceTypes": ["m6i.large"]}],
        [{"capacityType": "SPOT", "instanceTypes": UNKNOWN}, {"capacityType": UNKNOWN, "instanceTypes": ["m6i.large"]}],
        "names 1 instance type",
    ),
}
