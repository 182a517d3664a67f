"""Cases of the rules in ``rules/windows_workloads/pod_network.py``."""

import json
from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CONFIG_MAP, DEPLOYMENT, NETWORK_POLICY, POD

from ..base import Case, linux, one, planned, windows, windows_case, windows_group
from .common import LINUX_SHOP, SHOP, host_process, selecting


def flannel(text: Any) -> Any:
    conf = text if text is UNKNOWN or isinstance(text, str) else json.dumps(text)
    return planned(CONFIG_MAP, {"metadata": {"name": "kube-flannel-cfg"}, "data": {"net-conf.json": conf}})


VXLAN = {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan", "VNI": 4096, "Port": 4789}}

CASES = {
    "windows-dns-policy": windows_case(
        [windows({"dnsPolicy": "ClusterFirst"})],
        [windows({"dnsPolicy": "ClusterFirstWithHostNet"}), host_process(dnsPolicy="ClusterFirstWithHostNet")],
        [windows({"dnsPolicy": UNKNOWN})],
        "Windows does not support",
    ),
    "windows-network-policy": Case(
        [
            [selecting(NETWORK_POLICY, {"app": "shop"}), LINUX_SHOP],
            [selecting(NETWORK_POLICY, {"app": "shop"}), SHOP, planned("kubernetes:helm.sh/v3:Release", {}, "calico")],
        ],
        [[selecting(NETWORK_POLICY, {"app": "shop"}), SHOP]],
        [[selecting(NETWORK_POLICY, UNKNOWN), SHOP]],
        "nothing enforces the policy there",
    ),
    "flannel-fits-windows": Case(
        [
            [SHOP, flannel(VXLAN)],
            [flannel({"Backend": {"Type": "host-gw"}})],
            [SHOP, planned(CONFIG_MAP, {"metadata": {"name": "a"}, "data": {"a": "b"}})],
        ],
        [
            [SHOP, flannel({"Backend": {"Type": "vxlan"}})],
            [SHOP, flannel({"Backend": {"Type": "host-gw"}})],
            [windows_group(), flannel("{")],
        ],
        [[SHOP, flannel(UNKNOWN)]],
        "",
    ),
    "windows-no-legacy-controller": one(
        DEPLOYMENT,
        [{"metadata": {"name": "vpc-resource-controller", "namespace": "shop"}}, {"metadata": {"name": "app"}}],
        [
            {"metadata": {"name": "vpc-resource-controller", "namespace": "kube-system"}},
            {"metadata": {"name": "vpc-admission-webhook-deployment", "namespace": "kube-system"}},
        ],
        [{"metadata": {"name": UNKNOWN, "namespace": "kube-system"}}],
        "remains from the legacy Windows support",
    ),
    "pod-network-maintained": one(
        POD,
        [linux()],
        [linux(image="docker.io/weaveworks/weave-kube:2.8.1")],
        [linux(image=UNKNOWN)],
        "Weave Net",
    ),
}
