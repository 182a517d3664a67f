"""Windows nodes by Karpenter.

- ``KarpenterWindowsRole``: a node role of its own with its access entry of the type ``EC2_WINDOWS``;
- ``KarpenterWindowsNodes``: an ``EC2NodeClass`` of a Windows release and the ``NodePool`` that uses it.

Two components, for the add-on ``karpenter`` stands between them: it may pass the role, and brings the kinds. Sources:
karpenter-provider-aws 1.14 ``examples/v1/windows-*.yaml``, ``pkg/apis/crds``, ``concepts/nodeclasses.md``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..addons.addon_table import OS_LABEL
from ..addons.storage_rules import NAME_FORM
from ..core.component import Component
from ..core.mistakes import Mistakes, nearest, one_of
from ..core.tags import named
from ..ec2.instance_rules import MINIMUM_WINDOWS_MIB
from ..kubernetes.resource import kubernetes_object
from ..roles.role import NodeRole, NodeRoleArgs, check_node_role
from ..roles.validation import PolicySource
from ..scheduling.labels import WINDOWS_TAINT, Taint, check_labels, check_taints
from ..tables.windows import BUILD_LABEL, WINDOWS_RELEASES, WINDOWS_ROOT_DEVICE
from .access import API_MODES
from .node_classes import (
    CAPACITY,
    CAPACITY_TYPES,
    ENTRY_MODE,
    OWN_ROLE,
    POOL_NAME,
    SELECTORS,
    WINDOWS_VOLUME,
    check_node_tags,
    check_release,
    user_data,
)
from .node_group_rules import WINDOWS_MINIMUM_ROOT_GIB
from .target import EksTarget, check_target

CATEGORIES = ("c", "m", "r")


@dataclass(frozen=True, kw_only=True)
class KarpenterWindowsRoleArgs:
    """The arguments of the role of Windows nodes that Karpenter starts."""

    cluster: EksTarget
    """The cluster."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies: documents, single statements or lists of statements, as mappings or as JSON."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach."""
    permissions_boundary: str | None = None
    """ARN of the role's permissions boundary; none by default."""
    path: str = "/"
    """Path of the role. Karpenter finds it by its name."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of role and access entry."""


@dataclass(frozen=True, kw_only=True)
class KarpenterWindowsNodesArgs:
    """The arguments of a Karpenter node pool for Windows."""

    cluster: EksTarget
    """The cluster."""
    pool_name: str
    """Name of the node class and of its pool, such as ``windows2022``."""
    windows: str = "2022"
    """Windows Server release: ``2019``, ``2022`` (default) or ``2025``; Karpenter uses the Core edition."""
    role_name: pulumi.Input[str]
    """Name of the node role: ``KarpenterWindowsRole.role_name``."""
    linux_role_names: Sequence[pulumi.Input[str]] = ()
    """Names of the Linux node roles, to check that Windows nodes use another role."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets of the nodes."""
    security_group_ids: Sequence[pulumi.Input[str]]
    """Security groups of the nodes, including the cluster security group."""
    instance_categories: Sequence[str] = CATEGORIES
    """Categories of instance types: ``c``, ``m`` and ``r`` by default. Of x86_64, with 4 GiB of memory or more."""
    capacity_types: Sequence[str] = ("on-demand",)
    """``on-demand`` (default), ``spot`` or both. Both include the cost of the Windows licence."""
    cpu_limit: int = 100
    """Maximum number of vCPUs of the pool; Windows licences are charged per vCPU hour."""
    expire_after: str = "720h"
    """Maximum lifetime of a node; 30 days by default, because Windows nodes are patched by replacement."""
    root_volume_size_gib: int = 80
    """Size of the root volume in GiB, at least 50."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the nodes."""
    taints: Sequence[Taint] = (WINDOWS_TAINT,)
    """Taints of the nodes: ``os=windows:NoSchedule`` by default."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the instances."""


def check_karpenter_role(args: KarpenterWindowsRoleArgs) -> Mistakes:
    """Everything that is wrong with the role (``WK-ADD-042``, ``WK-IAM``, ``WK-TAG``)."""
    found = Mistakes()
    found.take(check_target(args.cluster), "cluster")
    if args.cluster.authentication_mode not in API_MODES:
        found.add(ENTRY_MODE, ("cluster", "authentication_mode"), "the role of Windows nodes needs an access entry, "
                  f"which needs the authentication mode {one_of(API_MODES)}", 'set authentication_mode to '
                  '"API_AND_CONFIG_MAP"', args.cluster.authentication_mode)  # fmt: skip
    found.take(check_node_role(_node_role(args)))
    return found


def check_karpenter_nodes(args: KarpenterWindowsNodesArgs) -> Mistakes:
    """Everything that is wrong with a kind of nodes (``WK-ADD-040``, ``041``, ``044`` to ``048``, ``WK-SCH``)."""
    found = Mistakes()
    found.take(check_target(args.cluster), "cluster")
    if not NAME_FORM.fullmatch(args.pool_name):
        found.add(POOL_NAME, ("pool_name",), "a name has lower-case letters, digits, hyphens and dots",
                  'write a name such as "windows2022"', args.pool_name)  # fmt: skip
    check_release(args.windows, args.cluster.kubernetes_version, found)
    for index, other in enumerate(args.linux_role_names):
        if isinstance(other, str) and other == args.role_name:
            found.add(
                OWN_ROLE,
                ("role_name",),
                f"linux_role_names[{index}] is the same role, and its access entry has "
                "the type EC2_LINUX: kube-proxy on Windows would have no permissions",
                "create a KarpenterWindowsRole",
                args.role_name,
            )
    for name in ("subnet_ids", "security_group_ids"):
        if not getattr(args, name):
            found.add(SELECTORS, (name,), "Karpenter needs them to start nodes", "add at least one")
    for index, capacity in enumerate(args.capacity_types):
        if capacity not in CAPACITY_TYPES:
            guess = nearest(capacity.replace("_", "-"), CAPACITY_TYPES)
            found.add(CAPACITY, ("capacity_types", index), f"the capacity type is {one_of(CAPACITY_TYPES)}",
                      f'write "{guess}"' if guess else "write one of these", capacity)  # fmt: skip
    if args.root_volume_size_gib < WINDOWS_MINIMUM_ROOT_GIB:
        found.add(WINDOWS_VOLUME, ("root_volume_size_gib",),
                  f"the root volume of a Windows node needs at least {WINDOWS_MINIMUM_ROOT_GIB} GiB",
                  f"set root_volume_size_gib to {WINDOWS_MINIMUM_ROOT_GIB} or more",
                  args.root_volume_size_gib)  # fmt: skip
    found.take(check_labels(args.labels, managed=False))
    found.take(check_taints(args.taints, managed=False))
    found.take(check_node_tags(args.tags))
    return found


def node_class(args: KarpenterWindowsNodesArgs) -> dict[str, Any]:
    """The manifest of the EC2NodeClass."""
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": args.pool_name},
        "spec": {
            "role": args.role_name,
            "amiSelectorTerms": [{"alias": f"windows{args.windows}@latest"}],
            "subnetSelectorTerms": [{"id": it} for it in args.subnet_ids],
            "securityGroupSelectorTerms": [{"id": it} for it in args.security_group_ids],
            "blockDeviceMappings": [
                {
                    "deviceName": WINDOWS_ROOT_DEVICE,
                    "rootVolume": True,
                    "ebs": {
                        "volumeSize": f"{args.root_volume_size_gib}Gi",
                        "volumeType": "gp3",
                        "encrypted": True,
                        "deleteOnTermination": True,
                    },
                }
            ],
            "metadataOptions": {
                "httpEndpoint": "enabled",
                "httpTokens": "required",
                "httpPutResponseHopLimit": 1,
                "httpProtocolIPv6": "disabled",
            },
            # Windows has no out-of-memory killer: what the system needs is kept back.
            "kubelet": {
                "kubeReserved": {"memory": "512Mi", "ephemeral-storage": "1Gi"},
                "systemReserved": {"memory": "1536Mi", "ephemeral-storage": "1Gi"},
                "evictionHard": {"memory.available": "200Mi", "nodefs.available": "10%"},
            },
            "userData": user_data(args.cluster.service_cidr),
            "tags": dict(args.tags),
        },
    }


def node_pool(args: KarpenterWindowsNodesArgs) -> dict[str, Any]:
    """The manifest of the NodePool."""
    build = WINDOWS_RELEASES[args.windows].build
    wanted: tuple[tuple[str, str, list[str]], ...] = (
        (OS_LABEL, "In", ["windows"]),
        ("kubernetes.io/arch", "In", ["amd64"]),
        (BUILD_LABEL, "In", [build]),
        ("karpenter.sh/capacity-type", "In", sorted(args.capacity_types)),
        ("karpenter.k8s.aws/instance-category", "In", sorted(args.instance_categories)),
        ("karpenter.k8s.aws/instance-memory", "Gt", [str(MINIMUM_WINDOWS_MIB - 1)]),
    )
    template: dict[str, Any] = {
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": args.pool_name},
            "requirements": [{"key": key, "operator": operator, "values": it} for key, operator, it in wanted],
            "taints": [{"key": it.key, "value": it.value, "effect": it.effect} for it in args.taints],
            "expireAfter": args.expire_after,
        }
    }
    if args.labels:
        template["metadata"] = {"labels": dict(sorted(args.labels.items()))}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": args.pool_name},
        "spec": {
            "template": template,
            "limits": {"cpu": str(args.cpu_limit)},
            # Windows nodes take minutes to start: only empty ones are taken away.
            "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "10m"},
        },
    }


def _node_role(args: KarpenterWindowsRoleArgs) -> NodeRoleArgs:
    return NodeRoleArgs(
        kind="eks-windows",
        additional_policies=args.additional_policies,
        external_policies=args.external_policies,
        permissions_boundary=args.permissions_boundary,
        path=args.path,
        partition=args.cluster.partition,
        tags=args.tags,
    )


class KarpenterWindowsRole(Component):
    """The role of Windows nodes that Karpenter starts, and their way into the cluster.

    Karpenter's nodes belong to no node group, so nobody else makes the access entry.

    :raises WinkubeError: ``WK-ADD-042``, ``WK-IAM``, ``WK-TAG``, and the codes of the target.
    """

    role_arn: pulumi.Output[str]
    """ARN of the role, for ``karpenter_node_role_arns`` of the add-ons."""
    role_name: pulumi.Output[str]
    """Name of the role, for the node classes."""

    def __init__(self, name: str, args: KarpenterWindowsRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_karpenter_role(args))
        role = NodeRole(f"{name}-nodes", _node_role(args), self.child())
        aws.eks.AccessEntry(
            f"{name}-entry",
            cluster_name=args.cluster.name,
            principal_arn=role.role_arn,
            type="EC2_WINDOWS",
            tags=named(args.tags, f"{name}-entry"),
            opts=self.child(),
        )
        self.role_arn, self.role_name = role.role_arn, role.role_name
        self.register_outputs({"roleArn": self.role_arn, "roleName": self.role_name})


class KarpenterWindowsNodes(Component):
    """A node class and a node pool for one Windows release. Requires the add-on ``karpenter`` in ``depends_on``.

    :raises WinkubeError: ``WK-ADD-040``, ``WK-ADD-041``, ``WK-ADD-044`` to ``WK-ADD-048``, ``WK-SCH``, ``WK-TAG``.
    """

    pool_name: str
    """Name of the node class and of the pool."""
    windows_build: str
    """Windows build of the nodes; container images must match it."""

    def __init__(self, name: str, args: KarpenterWindowsNodesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_karpenter_nodes(args))
        made = kubernetes_object(f"{name}-class", node_class(args), self.child())
        # The pool goes before its class: Karpenter keeps a class that a pool still names.
        kubernetes_object(f"{name}-pool", node_pool(args), self.child(depends_on=[made]))
        self.pool_name = args.pool_name
        self.windows_build = WINDOWS_RELEASES[args.windows].build
        self.register_outputs({"poolName": self.pool_name, "windowsBuild": self.windows_build})
