"""Logs of the Windows nodes of a self-managed cluster, and of their pods.

- a log group with retention;
- Fluent Bit as a HostProcess DaemonSet on Windows nodes: logs of containers, and the event logs of the system.

The pods run as the node, so they take the rights of its role: ``node_policy`` says which. The namespace must allow
HostProcess pods. Sources as of :class:`FluentBitWindows`, which does the same on EKS.
"""

from dataclasses import dataclass

import pulumi

from ..core.mistakes import Mistakes
from ..kubernetes.component import KubernetesComponent
from ..kubernetes.manifests import check_image
from ..roles.policy_documents import rendered
from .addon_policies import log_writer
from .fluent_bit import FluentBitWindowsArgs, check_fluent_bit_windows, log_group, log_manifests

CHANNELS = ("System", "Application")
"""Event logs that every Windows node has; the channel EKS is of its node images."""


@dataclass(frozen=True, kw_only=True)
class WindowsLogsArgs(FluentBitWindowsArgs):
    """Where the logs of Windows nodes go."""


def check_windows_logs(args: WindowsLogsArgs) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-EKS-007``, ``WK-ADD-020``, ``WK-K8S-029``, ``WK-TAG``)."""
    found = check_fluent_bit_windows(args)
    found.take(check_image(args.image))
    return found


class WindowsLogs(KubernetesComponent):
    """Logs of Windows nodes in CloudWatch.

    :raises WinkubeError: ``WK-EKS-007``, ``WK-ADD-020``, ``WK-K8S-029``, ``WK-TAG``.
    """

    log_group_name: pulumi.Output[str]
    """Name of the log group."""
    node_policy: pulumi.Output[str]
    """The inline policy that the role of the Windows nodes needs, as JSON."""

    def __init__(self, name: str, args: WindowsLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_windows_logs(args))
        group = log_group(f"{name}-logs", "/winkube", args, self.child())
        self.apply_manifests(name, log_manifests(args.namespace, args.region, group.name, args.image, CHANNELS))
        self.log_group_name = group.name
        self.node_policy = group.arn.apply(lambda arn: rendered(log_writer(arn)))
        self.register_outputs({"logGroupName": self.log_group_name, "nodePolicy": self.node_policy})
