"""Cases of the rules in ``rules/eks/addons.py``."""

import json
from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ADDON, NETWORK_POLICY

from ..base import MAIN, PROVIDER, Case, cluster, in_cluster, one, planned

DENY_ALL = in_cluster(NETWORK_POLICY, {"metadata": {"namespace": "shop"}, "spec": {"podSelector": {}}})


def cni(values: Any) -> Any:
    text = values if values is UNKNOWN else json.dumps(values)
    props = {"addonName": "vpc-cni", "clusterName": UNKNOWN, "configurationValues": text}
    return planned(ADDON, props, "cni", clusterName=MAIN)


CASES = {
    "network-policies-enforced": Case(
        [
            [cluster(), PROVIDER, cni({"enableNetworkPolicy": "true"}), DENY_ALL],
            [DENY_ALL],
            [cni({}), DENY_ALL, planned("kubernetes:helm.sh/v3:Release", {"chart": "c"}, "calico")],
        ],
        [[cluster(), PROVIDER, cni({}), DENY_ALL], [cni({"enableNetworkPolicy": "false"}), DENY_ALL]],
        [[cni(UNKNOWN), DENY_ALL]],
        "1 network policies have no effect",
    ),
    "addon-conflicts": one(
        ADDON,
        [{"addonName": "coredns"}, {"configurationValues": "{}", "resolveConflictsOnUpdate": "OVERWRITE"}],
        [{"configurationValues": "{}"}, {"configurationValues": "{}", "resolveConflictsOnUpdate": "NONE"}],
        [{"configurationValues": "{}", "resolveConflictsOnUpdate": UNKNOWN}],
        "an update fails",
    ),
}
