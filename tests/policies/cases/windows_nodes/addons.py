"""Cases of the rules in ``rules/windows_nodes/addons.py``."""

from winkube.policies.model import UNKNOWN

from ..base import Case, cluster, group
from .common import NODES, ON, addon

CASES = {
    "windows-no-custom-networking": Case(
        [[*NODES, ON], [cluster(), group("l"), addon({"env": {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}})]],
        [[*NODES, addon({"env": {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}})]],
        [[*NODES, addon(UNKNOWN)]],
        "does not affect Windows pods",
    ),
    "addon-keeps-to-linux": Case(
        [
            [*NODES, addon({"controller": {"replicaCount": 2}}, "aws-ebs-csi-driver")],
            [
                cluster(),
                group("l"),
                addon({"controller": {"nodeSelector": {"kubernetes.io/os": "windows"}}}, "aws-ebs-csi-driver"),
            ],
        ],
        [[*NODES, addon({"controller": {"nodeSelector": {"kubernetes.io/os": "windows"}}}, "aws-ebs-csi-driver")]],
        [[*NODES, addon(UNKNOWN, "aws-ebs-csi-driver")]],
        "controller.nodeSelector",
    ),
}
