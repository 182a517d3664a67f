"""Cases of the rules in ``rules/windows_workloads/identity.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import EKS_POD_IDENTITY, POD, SECURITY_GROUP_POLICY

from ..base import Case, linux, planned, windows
from .common import LINUX_SHOP, SHOP, selecting

IDENTITY = {"namespace": "shop", "serviceAccount": "app", "clusterName": "c", "roleArn": "r"}

CASES = {
    "windows-no-pod-identity": Case(
        [
            [planned(EKS_POD_IDENTITY, IDENTITY), planned(POD, linux({"serviceAccountName": "app"}))],
            [
                planned(EKS_POD_IDENTITY, {**IDENTITY, "namespace": "other"}),
                planned(POD, windows({"serviceAccountName": "app"})),
            ],
        ],
        [[planned(EKS_POD_IDENTITY, IDENTITY), planned(POD, windows({"serviceAccountName": "app"}))]],
        [[planned(EKS_POD_IDENTITY, IDENTITY), planned(POD, windows({"serviceAccountName": UNKNOWN}))]],
        "where Pod Identity does not work",
    ),
    "windows-no-pod-security-groups": Case(
        [
            [selecting(SECURITY_GROUP_POLICY, {"app": "shop"}), LINUX_SHOP],
            [selecting(SECURITY_GROUP_POLICY, {"app": "x"}), SHOP],
        ],
        [[selecting(SECURITY_GROUP_POLICY, {"app": "shop"}), SHOP]],
        [[selecting(SECURITY_GROUP_POLICY, UNKNOWN), SHOP]],
        "no effect",
    ),
}
