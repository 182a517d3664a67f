"""User data by which nodes join an EKS cluster, for groups that start the bootstrap themselves.

Managed groups of an EKS image get theirs from EKS; only commands in front of it can be added. Groups with an own image
and self-managed groups bring all of it: PowerShell for Windows, a ``NodeConfig`` for Amazon Linux 2023, settings for
Bottlerocket. Sources: EKS user guide, "Create nodes with optimized Windows AMIs" (bootstrap parameters) and "Customize
managed nodes with launch templates"; EC2 user guide, "Run commands when you launch an EC2 Windows instance".
"""

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.mistakes import Mistakes, Path, Rule
from ..ec2.proxy import Proxy, powershell_quoted, proxy_commands, proxy_script
from ..scheduling.labels import TaintLike, kubelet_flags

LAUNCH_TEMPLATES_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"
BOOTSTRAP_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html"

USER_DATA_SIZE = Rule(
    "WK-EKS-070",
    "User data can have at most 16384 bytes before encoding.",
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html",
)
KUBELET_ARGUMENT = Rule(
    "WK-EKS-071", "A kubelet argument is a flag without dashes, and its value has no spaces or quotes.", BOOTSTRAP_PAGE
)
COMMAND = Rule(
    "WK-EKS-072", "Commands must not contain user data tags or call the bootstrap script.", LAUNCH_TEMPLATES_PAGE
)
OWNED_ARGUMENT = Rule(
    "WK-EKS-073", "Kubelet flags that winkube derives from other arguments cannot be set directly.", BOOTSTRAP_PAGE
)
HYPER_V_GATE = Rule(
    "WK-EKS-087",
    "The kubelet has no feature gate for Hyper-V isolation.",
    "https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates-removed/",
)

USER_DATA_LIMIT = 16384
OWNED_FLAGS: Mapping[str, str] = {
    "node-labels": "labels",
    "register-with-taints": "taints",
    "max-pods": "max_pods",
}
"""Kubelet flags that a group writes itself, with the field they come from."""

PRIORITY_FLAG = {"windows-priorityclass": "ABOVE_NORMAL_PRIORITY_CLASS"}
"""Keeps the kubelet answering while pods use all of the CPU (Kubernetes, "Resource management for Windows nodes")."""

_FLAG = re.compile(r"[a-z][a-z0-9-]*")
_BAD_VALUE = re.compile(r"[\s\"'`‘’‚‛“”„]")


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """What a node needs to know to join; plain, so that its text can be tested."""

    cluster_name: str
    endpoint: str
    certificate_authority: str
    service_cidr: str
    dns_cluster_ip: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    taints: Sequence[TaintLike] = ()
    kubelet_arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Flags without dashes; the later win over reservations and the like."""
    max_pods: int | None = None
    excluded_snat_cidrs: Sequence[str] = ()
    proxy: Proxy | None = None
    before: Sequence[str] = ()
    """Commands in front of the bootstrap."""
    after: Sequence[str] = ()
    """Commands behind it."""


def kubelet_arguments(node: Bootstrap, defaults: Mapping[str, str]) -> str:
    """All kubelet flags as one text, sorted: defaults, then the group's own, then labels, taints and pods."""
    flags = {**defaults, **node.kubelet_arguments, **kubelet_flags(node.labels, node.taints)}
    if node.max_pods is not None:
        flags["max-pods"] = str(node.max_pods)
    return " ".join(f"--{flag}={value}" for flag, value in sorted(flags.items()))


def windows_user_data(node: Bootstrap, defaults: Mapping[str, str]) -> str:
    """Complete user data of a Windows node: what comes before, one call of the bootstrap script, what comes after.

    The service CIDR and the DNS address are always passed: the script's own guess is right for two CIDRs only, and a
    wrong one shows as names that do not resolve in pods.
    """
    arguments = {
        "EKSClusterName": node.cluster_name,
        "APIServerEndpoint": node.endpoint,
        "Base64ClusterCA": node.certificate_authority,
        "ServiceCIDR": node.service_cidr,
        "DNSClusterIP": node.dns_cluster_ip,
        "KubeletExtraArgs": kubelet_arguments(node, defaults),
    }
    if node.excluded_snat_cidrs:
        arguments["ExcludedSnatCIDRs"] = ",".join(node.excluded_snat_cidrs)
    call = " `\n  ".join(f"-{name} {powershell_quoted(value)}" for name, value in arguments.items())
    return windows_commands([
        *(proxy_commands(node.proxy, node.service_cidr) if node.proxy else ()),
        *node.before,
        '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
        f"& $EKSBootstrapScriptFile `\n  {call} 3>&1 4>&1 5>&1 6>&1",
        *node.after,
    ])  # fmt: skip


def windows_commands(commands: Sequence[str]) -> str:
    """PowerShell user data. EKS puts its own part behind it where a managed group has an EKS image."""
    return "\n".join(["<powershell>", *commands, "</powershell>", ""]) if commands else ""


def al2023_user_data(node: Bootstrap, defaults: Mapping[str, str]) -> str:
    """User data of an Amazon Linux 2023 node: commands as shell parts around a ``NodeConfig`` for nodeadm."""
    config = {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {
            "cluster": {
                "name": node.cluster_name,
                "apiServerEndpoint": node.endpoint,
                "certificateAuthority": node.certificate_authority,
                "cidr": node.service_cidr,
            },
            "kubelet": {"flags": kubelet_arguments(node, defaults).split()},
        },
    }
    parts = [("application/node.eks.aws", json.dumps(config, indent=2))]
    # nodeadm joins the node after all of user data has run: there is no "behind it" here.
    script = shell_part([*node.before, *node.after], node.proxy, node.service_cidr)
    return multipart([*([script] if script else []), *parts])


def shell_part(commands: Sequence[str], proxy: Proxy | None, service_cidr: str) -> tuple[str, str] | None:
    """Commands as a part of a MIME text, behind those that set the proxy; None where there are none at all."""
    lines = [*(proxy_script(proxy, service_cidr) if proxy else ()), *commands]
    return ("text/x-shellscript", "\n".join(["#!/bin/bash", "set -euo pipefail", *lines])) if lines else None


def multipart(parts: Sequence[tuple[str, str]], boundary: str = "==BOUNDARY==") -> str:
    """A MIME multipart text, the form in which Amazon Linux takes several parts."""
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{boundary}"', ""]
    for kind, text in parts:
        lines += [f"--{boundary}", f"Content-Type: {kind}", "", text, ""]
    return "\n".join([*lines, f"--{boundary}--", ""])


def bottlerocket_user_data(node: Bootstrap, defaults: Mapping[str, str]) -> str:
    """User data of a Bottlerocket node: settings in TOML. It has no shell, so there are no commands."""
    settings: dict[str, Any] = {
        "cluster-name": node.cluster_name,
        "api-server": node.endpoint,
        "cluster-certificate": node.certificate_authority,
        "cluster-dns-ip": node.dns_cluster_ip,
    }
    if node.max_pods is not None:
        settings["max-pods"] = node.max_pods
    lines = ["[settings.kubernetes]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
    if node.labels:
        lines += ["", "[settings.kubernetes.node-labels]"]
        lines += [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in sorted(node.labels.items())]
    if node.taints:
        by_key: dict[str, list[str]] = {}
        for taint in node.taints:
            by_key.setdefault(taint.key, []).append(f"{taint.value}:{taint.effect}")
        lines += ["", "[settings.kubernetes.node-taints]"]
        lines += [f"{json.dumps(key)} = {json.dumps(values)}" for key, values in sorted(by_key.items())]
    return "\n".join([*lines, ""])


USER_DATA: Mapping[str, Callable[[Bootstrap, Mapping[str, str]], str]] = {
    "windows": windows_user_data,
    "al2023": al2023_user_data,
    "bottlerocket": bottlerocket_user_data,
}
"""Image to the writer of its user data."""


def encoded(text: str) -> str:
    """User data as a launch template takes it.

    :raises ValueError: when it is too long, which ``check_user_data`` says in better words beforehand.
    """
    data = text.encode()
    if len(data) > USER_DATA_LIMIT:
        raise ValueError(f"user data has {len(data)} bytes, and EC2 takes {USER_DATA_LIMIT}")
    return base64.b64encode(data).decode()


# Placeholders as long as the real values get: EKS' CA has some 1,450 characters, its endpoint some 90.
PLACEHOLDERS = {"cluster_name": "n" * 100, "endpoint": "e" * 128, "certificate_authority": "c" * 1600}


def check_user_data(text: str, path: Path) -> Mistakes:
    """Whether a text with placeholders for what is not known yet fits into user data."""
    found = Mistakes()
    size = len(text.encode())
    if size > USER_DATA_LIMIT:
        found.add(
            USER_DATA_SIZE,
            path,
            f"user data can have at most {USER_DATA_LIMIT} bytes, and has {size} with these commands",
            "move them into a script that the node downloads, or into a custom image",
            size,
        )
    return found


def check_commands(commands: Sequence[str], path: Path) -> Mistakes:
    """Whether commands can stand between the tags of Windows user data."""
    found = Mistakes()
    for index, command in enumerate(commands):
        if re.search(r"</?(powershell|script|persist)>", command, re.IGNORECASE):
            found.add(COMMAND, (*path, index), "winkube writes the user data tags around all commands",
                      "write the command without tags", command)  # fmt: skip
        if "Start-EKSBootstrap" in command:
            found.add(COMMAND, (*path, index), "winkube calls the bootstrap script itself, and only once",
                      "remove the call; set its parameters in the group", command)  # fmt: skip
    return found


def check_kubelet_arguments(arguments: Mapping[str, str], path: Path = ("kubelet_arguments",)) -> Mistakes:
    """Whether flags and values survive the way through the bootstrap script, and do not contradict the group."""
    found = Mistakes()
    for flag, value in arguments.items():
        if not _FLAG.fullmatch(flag):
            found.add(KUBELET_ARGUMENT, (*path, flag), "a flag is written without dashes, in lower case",
                      f'write "{flag.lstrip("-").lower()}"', flag)  # fmt: skip
        elif flag in OWNED_FLAGS:
            found.add(OWNED_ARGUMENT, (*path, flag), f"winkube sets --{flag} from {OWNED_FLAGS[flag]}",
                      f"set {OWNED_FLAGS[flag]} instead", value)  # fmt: skip
        if flag == "feature-gates" and any(gate.partition("=")[0] == "HyperVContainer" for gate in value.split(",")):
            found.add(HYPER_V_GATE, (*path, flag), "Kubernetes 1.21 removed HyperVContainer, and a kubelet with "
                      "this gate does not start", "remove HyperVContainer; Windows containers use process "
                      "isolation", value)  # fmt: skip
        if not value or _BAD_VALUE.search(value):
            found.add(KUBELET_ARGUMENT, (*path, flag), "a value must not be empty or contain spaces or quotes",
                      "remove them", value)  # fmt: skip
    return found
