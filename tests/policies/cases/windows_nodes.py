"""Cases of the rules about Windows nodes."""

import json
from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    ACCESS_ENTRY,
    ADDON,
    CONFIG_MAP,
    FARGATE_PROFILE,
    INSTANCE_PROFILE,
    LAUNCH_TEMPLATE,
    NODE_GROUP,
    ROLE,
)

from .base import (
    BOOTSTRAP,
    GOOD_BOOTSTRAP,
    MAIN,
    PROVIDER,
    Case,
    attachment,
    cluster,
    group,
    in_cluster,
    one,
    planned,
    powershell,
    urn,
    windows_group,
)

WINDOWS = "WINDOWS_CORE_2022_x86_64"
ROLES = [planned(ROLE, {}, "w"), planned(ROLE, {}, "l"), planned(ROLE, {}, "control")]


def addon(values: Any, name: str = "vpc-cni") -> Any:
    text = values if values is UNKNOWN or isinstance(values, str) else json.dumps(values)
    props = {"addonName": name, "configurationValues": text, "clusterName": UNKNOWN}
    return planned(ADDON, props, name, clusterName=MAIN)


def config_map(**data: Any) -> Any:
    metadata = {"name": "amazon-vpc-cni", "namespace": "kube-system"}
    return in_cluster(CONFIG_MAP, {"metadata": metadata, "data": data}, "map")


def entry(kind: Any, role: str = "w") -> Any:
    return planned(
        ACCESS_ENTRY,
        {"type": kind, "clusterName": UNKNOWN},
        f"entry-{role}",
        clusterName=MAIN,
        principalArn=urn(ROLE, role),
    )


def template(**props: Any) -> Any:
    return planned(LAUNCH_TEMPLATE, props, "w", iamInstanceProfile=urn(INSTANCE_PROFILE, "w"))


def volume(size: Any, device: str = "/dev/sda1") -> dict[str, Any]:
    return {"blockDeviceMappings": [{"deviceName": device, "ebs": {"volumeSize": size, "encrypted": "true"}}]}


IN_TEMPLATE = {"launchTemplate": {"id": UNKNOWN, "version": "1"}}
ON, OFF = addon({"enableWindowsIpam": "true"}), addon({"enableWindowsIpam": "false"})
NODES = [cluster(), windows_group(), PROVIDER]
OWN = [cluster(), planned(INSTANCE_PROFILE, {"role": UNKNOWN}, "w", role=urn(ROLE, "w")), planned(ROLE, {}, "w")]
OWN_NODES = template(userData=powershell(GOOD_BOOTSTRAP), iamInstanceProfile={"arn": UNKNOWN})


def user_data(good: list[str], bad: list[str], says: str, **more: Any) -> Case:
    return one(
        LAUNCH_TEMPLATE,
        [{}, *({"userData": powershell(text)} for text in good)],
        [{"userData": powershell(text)} for text in bad],
        [{"userData": UNKNOWN}],
        says,
        **more,
    )


CASES = {
    "windows-node-role-not-shared": Case(
        [
            [*ROLES, windows_group(), group("l")],
            [*ROLES, group("l"), group("m", role="l")],
            [*ROLES, entry("EC2_WINDOWS"), windows_group()],
        ],
        [[*ROLES, windows_group(role="l"), group("l")], [*ROLES, entry("EC2_WINDOWS", "l"), group("l")]],
        [
            [
                *ROLES,
                windows_group(),
                planned(NODE_GROUP, {"amiType": "AL2023_x86_64_STANDARD", "nodeRoleArn": UNKNOWN}, "l"),
            ]
        ],
        'the node role "l" is shared by',
    ),
    "windows-cluster-role": Case(
        [
            [cluster(), *ROLES, windows_group(), attachment("control", "AmazonEKSVPCResourceController")],
            [cluster(), *ROLES, group("l")],
            [cluster(), windows_group()],
        ],
        [
            [cluster(), *ROLES, windows_group(), attachment("control", "AmazonEKSClusterPolicy")],
            [cluster(), *ROLES, windows_group(), attachment("l", "AmazonEKSVPCResourceController")],
        ],
        [[cluster(), *ROLES, windows_group(), attachment("control", UNKNOWN)]],
        "lacks AmazonEKSVPCResourceController",
    ),
    "windows-access-entry": Case(
        [
            [*OWN, OWN_NODES, entry("EC2_WINDOWS")],
            [cluster(), *ROLES, windows_group()],
            [
                cluster(),
                *ROLES,
                group("w", "CUSTOM", **IN_TEMPLATE),
                template(userData=powershell("x")),
                entry("EC2_WINDOWS"),
            ],
        ],
        [
            [*OWN, OWN_NODES],
            [*OWN, OWN_NODES, entry("EC2_LINUX")],
            [cluster(), *ROLES, group("w", "CUSTOM", **IN_TEMPLATE), template(userData=powershell("x"))],
        ],
        [[*OWN, OWN_NODES, entry(UNKNOWN)]],
        'role "w" has no access entry of the type EC2_WINDOWS',
    ),
    "windows-ipam-once": Case(
        [[*NODES, ON], [*NODES, config_map(**{"enable-windows-ipam": "true"})], [cluster(), group("l")]],
        [
            NODES,
            [*NODES, OFF],
            [*NODES, ON, config_map(**{"enable-windows-ipam": "true"})],
            [*NODES, addon({}), config_map(**{"enable-windows-ipam": "true"})],
        ],
        [[*NODES, addon(UNKNOWN)], [*NODES, config_map(**{"enable-windows-ipam": UNKNOWN})]],
        'cluster "main"',
    ),
    "windows-ipam-settings": Case(
        [
            [ON],
            [addon({})],
            [addon({"enableWindowsIpam": "true", "warmWindowsIPTarget": 2})],
            [addon({"warmWindowsIPTarget": -1}, "coredns")],
        ],
        [
            [addon({"enableWindowsIpam": "true", "warmWindowsPrefixTarget": 1})],
            [addon({"enableWindowsIpam": "true", "warmWindowsIPTarget": -1})],
            [config_map(**{"enable-windows-ipam": "true", "minimum-ip-target": "-2"})],
        ],
        [[addon(UNKNOWN)], [config_map(**{"enable-windows-ipam": UNKNOWN})]],
        "; ",
    ),
    "windows-prefixes-need-nitro": Case(
        [
            [*NODES, addon({"enableWindowsPrefixDelegation": "true"})],
            [cluster(), windows_group(instanceTypes=["m4.large"]), ON],
        ],
        [[cluster(), windows_group(instanceTypes=["m4.large"]), addon({"enableWindowsPrefixDelegation": "true"})]],
        [
            [cluster(), windows_group(instanceTypes=UNKNOWN), addon({"enableWindowsPrefixDelegation": "true"})],
            [*NODES, addon(UNKNOWN)],
        ],
        "is not Nitro",
    ),
    "windows-no-custom-networking": Case(
        [[*NODES, ON], [cluster(), group("l"), addon({"env": {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}})]],
        [[*NODES, addon({"env": {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}})]],
        [[*NODES, addon(UNKNOWN)]],
        "does not reach Windows pods",
    ),
    "windows-needs-linux-nodes": Case(
        [
            [*NODES, group("l")],
            [cluster(), group("l")],
            [*NODES, planned(FARGATE_PROFILE, {"clusterName": UNKNOWN}, clusterName=MAIN)],
        ],
        [
            NODES,
            [*NODES, group("l", taints=[{"key": "a", "effect": "NO_SCHEDULE"}])],
            [*NODES, group("l", scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 4})],
        ],
        [
            [*NODES, group("l", scalingConfig={"minSize": UNKNOWN, "desiredSize": UNKNOWN, "maxSize": 4})],
            [*NODES, group("l", UNKNOWN)],
        ],
        "no Linux node for CoreDNS",
    ),
    "windows-two-linux-nodes": Case(
        [[*NODES, group("l")], NODES, [cluster(), group("l", scalingConfig={"minSize": 1, "maxSize": 1})]],
        [[*NODES, group("l", scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 4})]],
        [[*NODES, group("l", scalingConfig={"minSize": 1, "desiredSize": UNKNOWN, "maxSize": 4})]],
        "one Linux node only",
    ),
    "windows-needs-ipv4": Case(
        [NODES, [cluster(kubernetesNetworkConfig={"ipFamily": "ipv6"}), group("l")]],
        [[cluster(kubernetesNetworkConfig={"ipFamily": "ipv6"}), windows_group()]],
        [[cluster(kubernetesNetworkConfig={"ipFamily": UNKNOWN}), windows_group()]],
        "ipFamily is ipv6",
    ),
    "windows-release-runs": Case(
        [
            NODES,
            [cluster(version="1.35"), windows_group(ami="WINDOWS_FULL_2025_x86_64")],
            [windows_group(ami="WINDOWS_FULL_2025_x86_64", version="1.36")],
        ],
        [
            [cluster(version="1.34"), windows_group(ami="WINDOWS_FULL_2025_x86_64")],
            [cluster(), windows_group(ami="WINDOWS_CORE_2025_x86_64", version="1.34")],
        ],
        [[cluster(version=UNKNOWN), windows_group(ami="WINDOWS_FULL_2025_x86_64")]],
        "needs Kubernetes 1.35 or newer, got 1.34",
    ),
    "windows-release-current": one(
        NODE_GROUP,
        [{"amiType": WINDOWS}, {}],
        [{"amiType": "WINDOWS_CORE_2019_x86_64"}],
        [{"amiType": UNKNOWN}],
        "left mainstream support",
    ),
    "windows-instance-types": one(
        NODE_GROUP,
        [{"amiType": WINDOWS, "instanceTypes": ["m6i.large"]}, {"instanceTypes": ["m7g.large"]}],
        [{"amiType": WINDOWS, "instanceTypes": [name]} for name in ("m7g.large", "g4dn.xlarge", "t3.micro")],
        [{"amiType": WINDOWS, "instanceTypes": UNKNOWN}, {"amiType": UNKNOWN}],
        "",
    ),
    "windows-instance-types-tested": one(
        NODE_GROUP,
        [{"amiType": WINDOWS, "instanceTypes": ["m6i.large", "m4.16xlarge"]}, {"instanceTypes": ["m4.large"]}],
        [{"amiType": WINDOWS, "instanceTypes": ["m4.large"]}],
        [{"amiType": WINDOWS, "instanceTypes": UNKNOWN}],
        "named as unfit for Windows nodes",
    ),
    "windows-nodes-tainted": one(
        NODE_GROUP,
        [{"amiType": WINDOWS, "taints": [{"key": "os", "value": "windows", "effect": "NO_SCHEDULE"}]}, {}],
        [{"amiType": WINDOWS}, {"amiType": WINDOWS, "taints": [{"key": "os", "effect": "PREFER_NO_SCHEDULE"}]}],
        [{"amiType": WINDOWS, "taints": UNKNOWN}],
        "has no NO_SCHEDULE taint",
    ),
    "windows-no-node-repair": one(
        NODE_GROUP,
        [{"amiType": WINDOWS}, {"nodeRepairConfig": {"enabled": True}}],
        [{"amiType": WINDOWS, "nodeRepairConfig": {"enabled": True}}],
        [{"amiType": WINDOWS, "nodeRepairConfig": UNKNOWN}],
        "Linux nodes only",
    ),
    "windows-release-pinned": one(
        NODE_GROUP,
        [
            {"amiType": WINDOWS},
            {"amiType": WINDOWS, "releaseVersion": "1.36-2026.10.14"},
            {"releaseVersion": "1.36-2024.01.01"},
        ],
        [{"amiType": WINDOWS, "releaseVersion": "1.36-2026.06.10"}],
        [{"amiType": WINDOWS, "releaseVersion": UNKNOWN}],
        "the image of 2026-06-10 is withdrawn",
    ),
    "windows-root-volume": Case(
        [
            [windows_group(**IN_TEMPLATE), template(**volume(80))],
            [group("w", **IN_TEMPLATE), template(**volume(20))],
            [windows_group(diskSize=50)],
            [template(userData=powershell(BOOTSTRAP))],
        ],
        [
            [windows_group(**IN_TEMPLATE), template(**volume(30))],
            [windows_group(diskSize=20)],
            [windows_group(**IN_TEMPLATE), template(**volume(80, "/dev/xvda"))],
        ],
        [
            [windows_group(**IN_TEMPLATE), template(**volume(UNKNOWN))],
            [windows_group(**IN_TEMPLATE), template(blockDeviceMappings=UNKNOWN)],
        ],
        "",
    ),
    "windows-bootstrap-addresses": user_data(
        [GOOD_BOOTSTRAP, "exit", f"$env:SERVICE_IPV4_CIDR = '10.100.0.0/16'\n{BOOTSTRAP}"],
        [BOOTSTRAP, f'{BOOTSTRAP} -DNSClusterIP "172.20.0.10"'],
        "it guesses",
    ),
    "windows-memory-reserved": user_data(
        [GOOD_BOOTSTRAP, "exit", f'{BOOTSTRAP} -KubeletExtraArgs "--system-reserved=memory=2Gi,ephemeral-storage=1Gi"'],
        [BOOTSTRAP, f'{BOOTSTRAP} -KubeletExtraArgs "--kube-reserved=memory=512Mi"'],
        "are held back for Windows",
    ),
    "kubelet-arguments-safe": user_data(
        [GOOD_BOOTSTRAP],
        [
            f'{BOOTSTRAP} -KubeletExtraArgs "--anonymous-auth=true"',
            f'{BOOTSTRAP} -KubeletExtraArgs "--read-only-port=10255"',
        ],
        "in user data",
    ),
    "kubelet-arguments-known": user_data(
        [GOOD_BOOTSTRAP],
        [
            f'{BOOTSTRAP} -KubeletExtraArgs "--pod-infra-container-image=pause"',
            f'{BOOTSTRAP} -ContainerRuntime "docker"',
        ],
        "in user data",
    ),
    "windows-managed-group-bootstrap": Case(
        [
            [windows_group(**IN_TEMPLATE), template(userData=powershell("Set-TimeZone UTC"))],
            [group("w", "CUSTOM", **IN_TEMPLATE), template(userData=powershell(GOOD_BOOTSTRAP), imageId="ami-1")],
        ],
        [[windows_group(**IN_TEMPLATE), template(userData=powershell(GOOD_BOOTSTRAP))]],
        [[windows_group(**IN_TEMPLATE), template(userData=UNKNOWN)]],
        "the user data calls it once more",
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
