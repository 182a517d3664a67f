"""Logs of Windows nodes and their pods, for clusters that do not run CloudWatch's own add-on.

- a log group with retention;
- Fluent Bit as a HostProcess DaemonSet on Windows nodes: logs of containers, and the event log of EKS (channel
  ``EKS``) that the kubelet and kube-proxy write to.

It takes the rights of the node's role, through the instance metadata: ``node_policy`` says which. Sources:
aws-samples/amazon-cloudwatch-container-insights ``fluent-bit-windows.yaml``, aws-observability/helm-charts 6.4.0
(image); EKS user guide, "Deploy Windows nodes on EKS clusters" (event log).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes, one_of
from ..core.tags import check_tags, named
from ..kubernetes.resource import kubernetes_object
from ..roles.policy_documents import rendered
from ..tables.log_retention import LOG_RETENTION, RETENTION_DAYS
from .addon_policies import log_writer
from .addon_table import OS_LABEL, TOLERATE_ALL
from .identity import check_subject

IMAGE = "public.ecr.aws/aws-observability/aws-for-fluent-bit:2.31.12-windowsservercore"
"""The last Windows image that CloudWatch's chart names; built for Server 2019 and 2022."""
APP = "fluent-bit-windows"
STATE = r"C:\\var\\fluent-bit\\state"
MEMORY = "600Mi"
"""Windows kills nothing for want of memory, so there is a limit; a request below it would only overfill the node."""
EKS_CHANNELS = ("EKS", "System")
"""Event logs of the nodes of EKS: the first is that of the kubelet and kube-proxy, and of no other node."""

_CONFIGURATION = rf"""[SERVICE]
    Flush                       5
    Log_Level                   error
    Daemon                      off
    net.dns.resolver            LEGACY

[INPUT]
    Name                tail
    Tag                 application.*
    Path                C:\\var\\log\\containers\\*.log
    Exclude_Path        C:\\var\\log\\containers\\{APP}*
    multiline.parser    cri
    DB                  {STATE}\\containers.db
    Mem_Buf_Limit       50MB
    Skip_Long_Lines     On
    Rotate_Wait         30
    Refresh_Interval    10

[INPUT]
    Name                winlog
    Tag                 host.events
    Channels            @CHANNELS@
    DB                  {STATE}\\events.db
    Interval_Sec        60

[OUTPUT]
    Name                cloudwatch_logs
    Match               *
    region              ${{AWS_REGION}}
    log_group_name      ${{LOG_GROUP}}
    log_stream_prefix   ${{HOST_NAME}}.
    auto_create_group   false
"""


@dataclass(frozen=True, kw_only=True)
class FluentBitWindowsArgs:
    """Where the logs of Windows nodes go."""

    cluster_name: pulumi.Input[str]
    """The cluster's name, which becomes part of the log group's name."""
    region: str
    """The Region of the cluster."""
    namespace: str = "kube-system"
    """Namespace of the DaemonSet; it must allow HostProcess pods."""
    log_retention_days: int = 90
    """How long CloudWatch keeps the logs, in days."""
    log_kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of the log group; CloudWatch's own key by default. Its policy must allow CloudWatch Logs."""
    image: str = IMAGE
    """The Fluent Bit image. It must match the Windows build of the nodes; set another image for Windows Server 2025."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the log group."""


def check_fluent_bit_windows(args: FluentBitWindowsArgs) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-EKS-007``, ``WK-ADD-020``, ``WK-TAG``)."""
    found = Mistakes()
    found.take(check_subject(args.namespace, APP))
    if args.log_retention_days not in RETENTION_DAYS:
        meant = min(RETENTION_DAYS, key=lambda days: abs(days - args.log_retention_days))
        found.add(
            LOG_RETENTION,
            ("log_retention_days",),
            f"CloudWatch Logs keeps events for {one_of(RETENTION_DAYS)} days",
            f"set log_retention_days to {meant}",
            args.log_retention_days,
        )
    found.take(check_tags(args.tags))
    return found


def log_manifests(
    namespace: str, region: str, log_group: Any, image: str = IMAGE, channels: Sequence[str] = EKS_CHANNELS
) -> dict[str, dict[str, Any]]:
    """The manifests by part; ``channels`` are the event logs that are read beside the logs of containers."""
    text = _CONFIGURATION.replace("@CHANNELS@", ", ".join(channels))

    def named_so() -> dict[str, Any]:
        return {"name": APP, "namespace": namespace, "labels": {"app": APP}}

    return {
        "configuration": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": named_so(),
            "data": {"fluent-bit.conf": text},
        },
        # It calls neither AWS nor the API server.
        "account": {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": named_so(),
            "automountServiceAccountToken": False,
        },
        "agent": {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": named_so(),
            "spec": {
                "selector": {"matchLabels": {"app": APP}},
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
                "template": {
                    # A changed configuration is a changed pod, so it is rolled out.
                    "metadata": {
                        "labels": {"app": APP},
                        "annotations": {"checksum/configuration": sha256(text.encode()).hexdigest()},
                    },
                    "spec": _pod(region, log_group, image),
                },
            },
        },
    }


def _pod(region: str, log_group: Any, image: str) -> dict[str, Any]:
    """On Windows nodes only, whatever their taints."""
    start = (
        rf"New-Item -ItemType Directory -Force -Path {STATE} | Out-Null; "
        r"& $env:CONTAINER_SANDBOX_MOUNT_POINT\fluent-bit\bin\fluent-bit.exe "
        r"-c $env:CONTAINER_SANDBOX_MOUNT_POINT\fluent-bit\configuration\fluent-bit.conf"
    )
    return {
        "os": {"name": "windows"},
        "serviceAccountName": APP,
        "automountServiceAccountToken": False,
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
        "nodeSelector": {OS_LABEL: "windows"},
        "tolerations": [dict(it) for it in TOLERATE_ALL],
        "terminationGracePeriodSeconds": 10,
        "securityContext": {
            "windowsOptions": {"hostProcess": True, "runAsUserName": r"NT AUTHORITY\SYSTEM"},
        },
        "containers": [
            {
                "name": "fluent-bit",
                "image": image,
                "command": ["powershell.exe", "-NoProfile", "-Command", start],
                "env": [
                    {"name": "AWS_REGION", "value": region},
                    {"name": "LOG_GROUP", "value": log_group},
                    {"name": "HOST_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                ],
                "resources": {"requests": {"cpu": "100m", "memory": MEMORY}, "limits": {"memory": MEMORY}},
                # From the drive of the pod on; the program finds it below the pod's own folder too.
                "volumeMounts": [{"name": "configuration", "mountPath": "/fluent-bit/configuration"}],
            }
        ],
        "volumes": [{"name": "configuration", "configMap": {"name": APP}}],
    }


def log_group(
    name: str, folder: str, args: FluentBitWindowsArgs, opts: pulumi.ResourceOptions
) -> aws.cloudwatch.LogGroup:
    """The log group of the Windows nodes of a cluster, below ``folder``."""
    return aws.cloudwatch.LogGroup(
        name,
        name=pulumi.Output.concat(f"{folder}/", args.cluster_name, "/windows"),
        retention_in_days=args.log_retention_days,
        kms_key_id=args.log_kms_key_arn,
        tags=named(args.tags, name),
        opts=opts,
    )


class FluentBitWindows(Component):
    """Logs of Windows nodes in CloudWatch. Choose it or ``amazon-cloudwatch-observability``, not both.

    :raises WinkubeError: ``WK-EKS-007``, ``WK-ADD-020``, ``WK-TAG``.
    """

    log_group_name: pulumi.Output[str]
    """Name of the log group."""
    node_policy: pulumi.Output[str]
    """The inline policy that the role of the Windows nodes needs, as JSON."""

    def __init__(self, name: str, args: FluentBitWindowsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_fluent_bit_windows(args))
        group = log_group(f"{name}-logs", "/aws/eks", args, self.child())
        self._create_objects(name, args, group.name)
        self.log_group_name = group.name
        self.node_policy = group.arn.apply(lambda arn: rendered(log_writer(arn)))
        self.register_outputs({"logGroupName": self.log_group_name, "nodePolicy": self.node_policy})

    def _create_objects(self, name: str, args: FluentBitWindowsArgs, log_group: pulumi.Output[str]) -> None:
        made = log_manifests(args.namespace, args.region, log_group, args.image)
        for part, manifest in made.items():
            kubernetes_object(f"{name}-{part}", manifest, self.child())
