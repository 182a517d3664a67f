"""What must hold for the kubelets of a group: what they are told, how many pods they hold, what they pull. Pure."""

import re
from collections.abc import Mapping
from ipaddress import IPv4Network

from ..core.mistakes import Mistakes, Path, Rule
from ..kubeadm.config import KubeletSettings
from ..kubeadm.configuration_rules import check_kubelet_settings
from ..kubernetes.windows_pods import image_build
from ..tables.releases import PAUSE_MINIMUM_SERVER_2025
from ..tables.windows import WINDOWS_RELEASES
from .rule_protocols import InstanceGroupLike, TargetLike
from .spec import DEFAULT_MAX_PODS

OWNED_FLAG = Rule(
    "WK-IG-027",
    "Flags and fields that the group's arguments decide cannot be set directly.",
    "https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/",
)
MAX_PODS = Rule(
    "WK-IG-028",
    "A node's subnet of the pod CIDR needs an address for every pod.",
    "https://kubernetes.io/docs/setup/best-practices/cluster-large/",
)
CONTAINER_IMAGE = Rule(
    "WK-IG-032",
    "A container image needs its full name and must match the node's Windows build.",
    "https://learn.microsoft.com/virtualization/windowscontainers/",
)
PAUSE_IMAGE = Rule("WK-IG-033", f"Windows nodes need pause image {PAUSE_MINIMUM_SERVER_2025} or newer.",
                   "https://github.com/kubernetes/kubernetes/blob/master/build/pause/CHANGELOG.md")  # fmt: skip

ADDRESSES_KEPT: Mapping[str, int] = {"linux": 3, "windows": 5}
"""Addresses of a node's network that are no pod's: network, gateway, broadcast; on Windows also the host's endpoint and
the source address of kube-proxy."""
OWNED_FLAGS: Mapping[str, str] = {
    "node-labels": "labels",
    "register-with-taints": "taints",
    "max-pods": "kubelet.max_pods",
    "system-reserved": "kubelet.system_reserved",
    "kube-reserved": "kubelet.kube_reserved",
    "eviction-hard": "kubelet.eviction_hard",
    "cloud-provider": "target.cloud_provider",
    "cluster-dns": "target.service_cidr",
    "cluster-domain": "target.cluster_domain",
    "pod-infra-container-image": "target.image_repository",
    **dict.fromkeys(
        ("hostname-override", "node-ip", "provider-id", "config", "kubeconfig", "bootstrap-kubeconfig", "cert-dir",
         "root-dir", "windows-service", "image-credential-provider-config", "image-credential-provider-bin-dir"), "",
    ),
}  # fmt: skip
"""Flags of the kubelet that are rendered from other fields, and from which; empty: from the node itself."""
OWNED_FIELDS: Mapping[str, str] = {
    "maxPods": "kubelet.max_pods",
    "systemReserved": "kubelet.system_reserved",
    "kubeReserved": "kubelet.kube_reserved",
    "evictionHard": "kubelet.eviction_hard",
    "registerWithTaints": "taints",
    "clusterDNS": "target.service_cidr",
    "clusterDomain": "target.cluster_domain",
    **dict.fromkeys(("providerID", "authentication", "authorization", "containerRuntimeEndpoint", "apiVersion",
                     "kind"), ""),
}  # fmt: skip
"""Fields of the KubeletConfiguration that are rendered from other fields."""

_IMAGE = re.compile(r"[a-z0-9.-]+(:\d+)?/[a-z0-9._/-]+(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})")
_PAUSE = re.compile(r"(?:^|/)pause:(?P<version>\d+(\.\d+)*)")


def check_kubelet(group: InstanceGroupLike, target: TargetLike) -> Mistakes:
    """Every mistake in what the kubelets of a group are told, paths relative to the group."""
    found = _check_owned(group.kubelet)
    found.take(_check_max_pods(group, target))
    said = {mistake.path for mistake in found}
    # Flags of the minor, quantities, ranges: as for every kubelet of winkube.
    every = check_kubelet_settings(group.kubelet, target.kubernetes_version, windows=group.windows is not None)
    found.extend(mistake for it in every if (mistake := it.under("kubelet")).path not in said)
    found.take(_check_images(group))
    return found


def _check_owned(kubelet: KubeletSettings) -> Mistakes:
    found = Mistakes()
    for field, given, owned in (("arguments", kubelet.arguments, OWNED_FLAGS),
                                ("configuration", kubelet.configuration, OWNED_FIELDS)):  # fmt: skip
        for key, value in given.items():
            name = key.lstrip("-")
            if name in owned:
                other = owned[name]
                found.add(OWNED_FLAG, ("kubelet", field, key),
                          f"is set by {other}" if other else "is set separately for each node",
                          f"set {other} instead" if other else "remove it", value)  # fmt: skip
            elif name != key:
                found.add(
                    OWNED_FLAG, ("kubelet", field, key), "flags are written without dashes", f'write "{name}"', key
                )
    return found


def pod_capacity(system: str, node_cidr_mask: int) -> int:
    """Pods for which a node's part of the pod network has addresses.

    >>> pod_capacity("linux", 24), pod_capacity("windows", 24)
    (253, 251)
    """
    return int(IPv4Network(f"0.0.0.0/{node_cidr_mask}").num_addresses) - ADDRESSES_KEPT[system]


def _check_max_pods(group: InstanceGroupLike, target: TargetLike) -> Mistakes:
    found = Mistakes()
    given = group.kubelet.max_pods
    system = "windows" if group.windows is not None else "linux"
    if given is not None and given < 1:
        found.add(MAX_PODS, ("kubelet", "max_pods"), "max_pods must be 1 or more", "set it to 1 or more", given)
    if not 1 <= target.node_cidr_mask <= 30:
        return found
    capacity = pod_capacity(system, target.node_cidr_mask)
    if (given or DEFAULT_MAX_PODS) > capacity:
        said = "" if given is not None else f", and a kubelet takes {DEFAULT_MAX_PODS} unless it is told otherwise"
        found.add(MAX_PODS, ("kubelet", "max_pods"), f"a /{target.node_cidr_mask} has addresses for {capacity} pods of "
                  f"a {system.title()} node{said}", f"set kubelet.max_pods to {capacity} or less, or make "
                  "node_cidr_mask of the cluster shorter", given)  # fmt: skip
    return found


def _check_images(group: InstanceGroupLike) -> Mistakes:
    found = Mistakes()
    release = WINDOWS_RELEASES.get(group.windows or "")
    for index, name in enumerate(group.container_images):
        where = ("container_images", index)
        build = image_build(name)
        if not _IMAGE.fullmatch(name):
            found.add(CONTAINER_IMAGE, where, "an image needs a registry and a tag or digest",
                      'write a name such as "mcr.microsoft.com/windows/servercore:ltsc2022"', name)  # fmt: skip
        elif release and build and build != release.build:
            found.add(CONTAINER_IMAGE, where, f"this image has build {build}, and Windows Server {group.windows} runs "
                      f"{release.build}", f'use the tag "{release.image_tag}"', name)  # fmt: skip
        if group.windows is not None:
            found.take(check_pause_image(name, where))
    return found


def check_pause_image(image: str, path: Path = ("pause_image",)) -> Mistakes:
    """Whether a pause image has entries for the Windows releases that nodes run (``WK-IG-033``)."""
    found = Mistakes()
    said = _PAUSE.search(image)
    if said and _numbers(said["version"]) < _numbers(PAUSE_MINIMUM_SERVER_2025):
        found.add(PAUSE_IMAGE, path, f"pause before {PAUSE_MINIMUM_SERVER_2025} has no image for Windows Server 2025: "
                  "pods do not start", f'use "{image[: said.start("version")]}{PAUSE_MINIMUM_SERVER_2025}"',
                  image)  # fmt: skip
    return found


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
