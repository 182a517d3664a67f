"""The node document of a Windows group: everything that differs between groups, as one JSON object.

Rendered at deployment by pure functions, read on the node by the scripts of the bundle. Its keys are written here and
nowhere else; the tests hold them against what the scripts read. It has no secret in it: the join token comes from the
Parameter Store when a node needs it. What only a node knows stays a placeholder (:data:`PLACEHOLDERS`).
"""

import json
from collections.abc import Sequence
from typing import Any

from ..core.mistakes import Mistakes, Path, Rule
from ..ec2.proxy import DIRECT
from ..pod_network.flannel_config import POD_NETWORK_NAME
from ..tables.artefacts import Artefact, artefacts_for
from ..tables.releases import release
from ..tables.windows import WINDOWS_RELEASES
from . import host, paths
from .containerd import containerd_configuration, hosts_files, pause_image
from .kubelet import RUNNER_ARGUMENTS, bootstrap_kubeconfig, kubelet_arguments, kubelet_files
from .node import WindowsNode

__all__ = ["WindowsNode", "check_windows_boot", "node_artefacts", "node_document", "node_files", "optional_artefacts"]

DRIVE_LETTER = Rule("WK-WIN-002", "The volume for container images needs a drive letter of its own.")
DEADLINES = Rule(
    "WK-WIN-003",
    "A Windows node has 10 minutes to 2 hours to boot, and up to 1 hour to drain.",
    "https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks-overview.html",
)
PAGE_FILE = Rule(
    "WK-WIN-004",
    "A Windows node needs a page file, because Windows has no OOM killer.",
    "https://kubernetes.io/docs/concepts/configuration/windows-resource-management/",
)

PLACEHOLDERS = ("${INSTANCE_ID}", "${ZONE}", "${PRIVATE_IP}", "${PROVIDER_ID}", "${JOIN_TOKEN}")
"""Filled in on the node, in the texts of files and in the arguments of the kubelet; nothing else is."""


def node_document(node: WindowsNode) -> str:
    """The document as canonical JSON: sorted, without spaces, the same text for the same node."""
    return json.dumps(_document(node), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def optional_artefacts(*, kubelet_log: bool = True, ecr_credentials: bool = False) -> tuple[str, ...]:
    """What a Windows node takes of the optional files of the table of artefacts; for ``check_artefacts`` as well."""
    runner = ["kube-log-runner"] if kubelet_log else []
    return ("kubectl", *runner, *(["ecr-credential-provider"] if ecr_credentials else []))


def node_artefacts(node: WindowsNode) -> Sequence[Artefact]:
    """Every file that the node downloads."""
    return artefacts_for(
        node.kubernetes_version,
        os="windows",
        optional=optional_artefacts(kubelet_log=node.kubelet_log, ecr_credentials=node.ecr_credentials),
        artefact_digests=node.artefact_digests,
        mirror=node.mirror,
    )


def node_files(node: WindowsNode) -> dict[str, str]:
    """Path to text of every file that is written as it stands, placeholders apart."""
    files = {
        **kubelet_files(node),
        paths.CONTAINERD_CONFIGURATION: containerd_configuration(_pause(node), _containerd_data(node)),
        paths.CRICTL_CONFIGURATION: f"runtime-endpoint: {paths.CONTAINERD_PIPE}\n"
        f"image-endpoint: {paths.CONTAINERD_PIPE}\ntimeout: 60\n",
        **hosts_files(node.registry_mirrors),
    }
    return dict(sorted(files.items()))


def check_windows_boot(node: WindowsNode) -> Mistakes:
    """What is wrong with the machine itself (``WK-WIN-002`` to ``-004``); the other fields have checks of their own."""
    found = Mistakes()
    letter = node.data_volume
    if letter is not None and not (len(letter) == 1 and "D" <= letter <= "Z"):
        found.add(DRIVE_LETTER, ("data_volume",), "a drive is one capital letter from D to Z; C is the system drive",
                  'write "D"', letter)  # fmt: skip
    _check_range(node.boot_seconds, 600, 7200, ("boot_seconds",), found)
    _check_range(node.drain_seconds, 0, 3600, ("drain_seconds",), found)
    if node.page_file_mib is not None and node.page_file_mib < 1024:
        found.add(PAGE_FILE, ("page_file_mib",), "a page file needs at least 1024 MiB",
                  "set page_file_mib to 1024, or leave it out to let Windows choose the size",
                  node.page_file_mib)  # fmt: skip
    return found


def _check_range(value: int, first: int, last: int, path: Path, found: Mistakes) -> None:
    if not first <= value <= last:
        nearest = first if value < first else last
        found.add(DEADLINES, path, f"must be {first} to {last} seconds", f"set {path[-1]} to {nearest}", value)


def _pause(node: WindowsNode) -> str:
    return pause_image(release(node.kubernetes_version).pause_image, node.image_repository)


def _document(node: WindowsNode) -> dict[str, Any]:
    return {
        "version": 1,
        "group": node.group,
        "region": node.region,
        "cluster": {"name": node.cluster_name, "kubernetesVersion": release(node.kubernetes_version).patch},
        "bucket": {"name": node.bucket, "statusPrefix": node.status_prefix},
        "token": {"parameter": node.token_parameter},
        "autoScaling": {
            "group": node.auto_scaling_group,
            "launchHook": node.launch_hook,
            "terminateHook": node.terminate_hook,
        },
        "proxy": _proxy(node),
        "windows": _windows(node),
        "network": {
            "configuration": paths.CNI_CONFIGURATION,
            # An overlay of an earlier life keeps the subnet of an old lease; that of another operator is its own.
            "stale": ["nat", "overlay"] if node.pod_network == POD_NETWORK_NAME else ["nat"],
        },
        "directories": {"own": list(paths.OWN_DIRECTORIES), "protected": list(paths.PROTECTED_DIRECTORIES)},
        "artefacts": [_artefact(one) for one in node_artefacts(node)],
        "files": [{"path": path, "content": content} for path, content in node_files(node).items()],
        "containerd": {
            "program": rf"{paths.CONTAINERD}\containerd.exe",
            "configuration": paths.CONTAINERD_CONFIGURATION,
            "log": paths.CONTAINERD_LOG,
            "crictl": rf"{paths.BINARIES}\crictl.exe",
            "crictlConfiguration": paths.CRICTL_CONFIGURATION,
            "images": [_pause(node), *node.images],
        },
        "kubelet": {
            "program": rf"{paths.BINARIES}\kubelet.exe",
            "arguments": kubelet_arguments(node),
            "runner": [rf"{paths.BINARIES}\kube-log-runner.exe", *RUNNER_ARGUMENTS] if node.kubelet_log else [],
            "kubectl": rf"{paths.BINARIES}\kubectl.exe",
            "kubeconfig": paths.KUBECONFIG,
            "bootstrapKubeconfig": {"path": paths.BOOTSTRAP_KUBECONFIG, "content": bootstrap_kubeconfig(node)},
        },
        "deadlines": {"bootSeconds": node.boot_seconds, "drainSeconds": node.drain_seconds},
    }


def _containerd_data(node: WindowsNode) -> str:
    return rf"{node.data_volume}:\containerd" if node.data_volume else paths.CONTAINERD_DATA


def _windows(node: WindowsNode) -> dict[str, Any]:
    first, count = host.DYNAMIC_PORTS
    # Images are unpacked to a volume of their own where there is one.
    excluded = dict.fromkeys([*host.DEFENDER_PATHS, _containerd_data(node)])
    return {
        "release": node.windows,
        "build": WINDOWS_RELEASES[node.windows].build.rpartition(".")[2],
        "features": [*host.FEATURES, *([host.BITLOCKER_FEATURE] if node.bitlocker else [])],
        "registry": [{"path": row.path, "name": row.name, "value": row.value} for row in host.REGISTRY[node.windows]],
        "firewall": [{"name": row.name, "protocol": row.protocol, "port": row.port} for row in host.FIREWALL],
        "dynamicPorts": {"first": first, "count": count},
        "defender": {"paths": list(excluded), "processes": list(host.DEFENDER_PROCESSES)},
        "pageFileMib": node.page_file_mib,
        "bitLocker": node.bitlocker,
        "dataVolume": node.data_volume,
    }


def _artefact(one: Artefact) -> dict[str, Any]:
    install = [{"member": file.member, "path": file.path} for file in one.install]
    return {"name": one.key, "url": one.url, "digest": one.digest, "kind": one.kind, "install": install}


def _proxy(node: WindowsNode) -> dict[str, Any] | None:
    if node.proxy is None:
        return None
    direct = [*DIRECT, node.endpoint.rpartition(":")[0], node.pod_cidr, node.service_cidr, *node.proxy.no_proxy]
    return {"http": node.proxy.http or node.proxy.https, "https": node.proxy.https, "direct": direct}
