"""Cases of the rules in ``rules/instances/network_interfaces.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import INSTANCE, LAUNCH_CONFIGURATION, LAUNCH_TEMPLATE

from ..base import Case, one, planned

CASES = {
    "no-public-address": Case(
        [
            [planned(INSTANCE, {})],
            [planned(LAUNCH_TEMPLATE, {"networkInterfaces": [{}]})],
            [planned(LAUNCH_CONFIGURATION, {"associatePublicIpAddress": False})],
        ],
        [
            [planned(INSTANCE, {"associatePublicIpAddress": True})],
            [planned(LAUNCH_TEMPLATE, {"networkInterfaces": [{"associatePublicIpAddress": "true"}]})],
        ],
        [
            [planned(INSTANCE, {"associatePublicIpAddress": UNKNOWN})],
            [planned(LAUNCH_TEMPLATE, {"networkInterfaces": UNKNOWN})],
        ],
        "gives the instances public addresses",
    ),
    "source-destination-check": one(
        INSTANCE,
        [{}, {"sourceDestCheck": True}],
        [{"sourceDestCheck": False}],
        [{"sourceDestCheck": UNKNOWN}],
        "can handle traffic that is not its own",
    ),
}
