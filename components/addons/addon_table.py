"""The add-ons that EksAddons installs, as one table: what runs where, with which rights, versions and values.

State of 2026-11-21, charts as published by August 2026. Sources beside each row: the chart's own ``values.yaml`` and
templates, or, for EKS add-ons (whose schema only an account shows), a public word of their maintainers. A value whose
key could not be confirmed is left out: the defaults of CloudWatch's, EFS', S3's and the agents' add-ons already hold
``kubernetes.io/os: linux`` for what runs on Linux only, as the charts that they are built from show.

CoreDNS, kube-proxy and vpc-cni are not here: ``EksAddon`` and ``WindowsIpam`` make them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Values = Mapping[str, Any]
Keys = tuple[str, ...]
"""Where a value stands in a chart's values: ``("controller", "nodeSelector")``."""

OS_LABEL = "kubernetes.io/os"
ON_LINUX: Values = {OS_LABEL: "linux"}
TOLERATE_ALL: tuple[Values, ...] = ({"operator": "Exists"},)
ROLE_ANNOTATION = "eks.amazonaws.com/role-arn"


class Slot(Enum):
    """A value that is known only of a given cluster. A slot that stays empty is left out."""

    CLUSTER_NAME = "the cluster's name"
    REGION = "its region"
    VPC_ID = "its VPC"
    AUTOSCALER_IMAGE = "the autoscaler's release for its Kubernetes minor"
    WINDOWS = "whether it has Windows nodes"
    NODE_ROLES = "the roles of the nodes that it starts"
    QUEUE = "the name of the queue with interruptions of its nodes"


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A Helm chart at a fixed version."""

    chart: str
    """Its name, or its address in an OCI registry."""
    repository: str | None = None
    """Its repository; None for OCI."""
    version: str
    """The version that the values were written for. Others of the same major are taken."""


@dataclass(frozen=True, kw_only=True)
class Addon:
    """One add-on. Without a chart it is an EKS add-on of its name."""

    name: str
    namespace: str = "kube-system"
    chart: Chart | None = None
    service_account: str | None = None
    """The service account that calls AWS; None where none does."""
    role_annotations: Keys = ()
    """Where the chart takes the annotations of that service account."""
    managed_policies: tuple[str, ...] = ()
    """AWS managed policies of its role."""
    document: str | None = None
    """The function of ``documents`` that writes the role's inline policy."""
    policy_for: str = ""
    """What the user has to allow, because nothing general can."""
    windows: bool = False
    """Whether a part of it runs on Windows nodes."""
    windows_needs_role: bool = False
    """Whether that part calls AWS."""
    windows_since: str = ""
    """The first version whose Windows part works as it is configured here."""
    releases_since: Mapping[str, str] = field(default_factory=dict[str, str])
    """The first version for a Windows release, where it is later."""
    windows_node_policies: tuple[str, ...] = ()
    """AWS managed policies that Windows node roles need for it: its pods there take the node's credentials."""
    not_on_windows: str = ""
    """Why nothing of it runs on Windows, and what to use instead."""
    values: Values = field(default_factory=dict[str, Any])
    """What differs from its defaults."""
    linux_selectors: tuple[Keys, ...] = ()
    """Node selectors that keep its Linux parts on Linux, by ``values`` or its defaults; nobody may unset them."""
    closed_selectors: tuple[Keys, ...] = ()
    """Node selectors to which its templates add the operating system themselves; another one would break them."""
    windows_switch: Keys = ()
    """The value that turns its Windows part on."""
    needs: tuple[str, ...] = ()
    """Further add-ons that it needs."""
    needs_unless: Keys = ()
    """The value that, set to false, does away with ``needs``."""
    needs_slots: tuple[Slot, ...] = ()
    """Slots that the caller has to fill."""
    image_of_minor: Keys = ()
    """The value that says which release of it fits the cluster's Kubernetes minor."""
    after: tuple[str, ...] = ()
    """Add-ons that come before it, where both are there."""
    source: str
    """Where keys and versions come from."""


_ROWS = (
    Addon(
        name="aws-ebs-csi-driver",
        service_account="ebs-csi-controller-sa",
        managed_policies=("AmazonEBSCSIDriverPolicyV2",),
        windows=True,
        windows_since="1.32.0",
        releases_since={"2025": "1.56.0"},
        # The node plug-in tolerates every taint by default, so it reaches tainted Windows nodes too.
        values={"node": {"enableWindows": Slot.WINDOWS}},
        closed_selectors=(("controller", "nodeSelector"), ("node", "nodeSelector")),
        windows_switch=("node", "enableWindows"),
        source="https://github.com/aws/containers-roadmap/issues/2221",
    ),
    Addon(
        name="csi-driver-smb",
        chart=Chart(chart="csi-driver-smb", repository="https://kubernetes-csi.github.io/csi-driver-smb",
                    version="1.20.3"),
        windows=True,
        windows_since="1.20.0",
        values={
            "windows": {
                "enabled": Slot.WINDOWS,
                # HostProcess pods reach the disk themselves; without them csi-proxy has to run.
                "useHostProcessContainers": True,
                # The chart tolerates a taint of another key than EKS' usual os=windows.
                "tolerations": list(TOLERATE_ALL),
            },
        },
        closed_selectors=(("controller", "nodeSelector"), ("node", "nodeSelector")),
        windows_switch=("windows", "enabled"),
        after=("aws-load-balancer-controller",),
        source="https://github.com/kubernetes-csi/csi-driver-smb/tree/master/charts/v1.20.3",
    ),
    Addon(
        name="amazon-cloudwatch-observability",
        namespace="amazon-cloudwatch",
        service_account="cloudwatch-agent",
        managed_policies=("CloudWatchAgentServerPolicy", "AWSXrayWriteOnlyAccess"),
        windows=True,
        windows_needs_role=True,
        windows_since="1.5.0",
        windows_node_policies=("CloudWatchAgentServerPolicy",),
        linux_selectors=(("manager", "nodeSelector"), ("agent", "nodeSelector"), ("kubeStateMetrics", "nodeSelector"),
                         ("containerLogs", "fluentBit", "nodeSelector"), ("dcgmExporter", "nodeSelector"),
                         ("neuronMonitor", "nodeSelector"), ("nodeExporter", "nodeSelector")),
        source="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-EKS-addon.html",
    ),
    Addon(
        name="metrics-server",
        chart=Chart(chart="metrics-server", repository="https://kubernetes-sigs.github.io/metrics-server/",
                    version="3.13.1"),
        not_on_windows="it reads the kubelets of Windows nodes from Linux",
        values={"nodeSelector": ON_LINUX},
        linux_selectors=(("nodeSelector",),),
        after=("aws-load-balancer-controller",),
        source="https://github.com/kubernetes-sigs/metrics-server/tree/master/charts/metrics-server",
    ),
    Addon(
        name="cluster-autoscaler",
        chart=Chart(chart="cluster-autoscaler", repository="https://kubernetes.github.io/autoscaler",
                    version="9.59.0"),
        service_account="cluster-autoscaler",
        role_annotations=("rbac", "serviceAccount", "annotations"),
        document="cluster_autoscaler",
        not_on_windows="it scales Windows groups from Linux",
        values={
            "cloudProvider": "aws",
            "awsRegion": Slot.REGION,
            "autoDiscovery": {"clusterName": Slot.CLUSTER_NAME},
            "image": {"tag": Slot.AUTOSCALER_IMAGE},
            "rbac": {"serviceAccount": {"name": "cluster-autoscaler"}},
            "nodeSelector": ON_LINUX,
        },
        linux_selectors=(("nodeSelector",),),
        image_of_minor=("image", "tag"),
        after=("aws-load-balancer-controller",),
        source="https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/charts/cluster-autoscaler",
    ),
    Addon(
        name="karpenter",
        chart=Chart(chart="oci://public.ecr.aws/karpenter/karpenter", version="1.14.1"),
        service_account="karpenter",
        role_annotations=("serviceAccount", "annotations"),
        document="karpenter_controller",
        not_on_windows="it starts Windows nodes from Linux; KarpenterWindowsNodes defines them",
        values={
            "settings": {"clusterName": Slot.CLUSTER_NAME, "interruptionQueue": Slot.QUEUE},
            "serviceAccount": {"name": "karpenter"},
            "nodeSelector": ON_LINUX,
        },
        linux_selectors=(("nodeSelector",),),
        needs_slots=(Slot.NODE_ROLES,),
        after=("aws-load-balancer-controller",),
        source="https://github.com/aws/karpenter-provider-aws/tree/v1.14.1/charts/karpenter",
    ),
    Addon(
        name="aws-load-balancer-controller",
        chart=Chart(chart="aws-load-balancer-controller", repository="https://aws.github.io/eks-charts",
                    version="3.5.0"),
        service_account="aws-load-balancer-controller",
        role_annotations=("serviceAccount", "annotations"),
        document="load_balancer_controller",
        not_on_windows="it registers Windows pods and nodes from Linux",
        values={
            "clusterName": Slot.CLUSTER_NAME,
            # Pods do not reach the instance metadata at a hop limit of 1, where it would look these two up.
            "region": Slot.REGION,
            "vpcId": Slot.VPC_ID,
            # Pods have addresses of the VPC, Windows ones too: the chart's own advice for the VPC CNI.
            "defaultTargetType": "ip",
            "serviceAccount": {"name": "aws-load-balancer-controller"},
            "nodeSelector": ON_LINUX,
        },
        linux_selectors=(("nodeSelector",),),
        needs_slots=(Slot.VPC_ID,),
        source="https://github.com/aws/eks-charts/tree/master/stable/aws-load-balancer-controller",
    ),
    Addon(
        name="cert-manager",
        namespace="cert-manager",
        chart=Chart(chart="oci://quay.io/jetstack/charts/cert-manager", version="v1.21.1"),
        not_on_windows="it serves the whole cluster from Linux",
        values={
            "crds": {"enabled": True},
            "nodeSelector": ON_LINUX,
            "webhook": {"nodeSelector": ON_LINUX},
            "cainjector": {"nodeSelector": ON_LINUX},
            "startupapicheck": {"nodeSelector": ON_LINUX},
        },
        linux_selectors=(("nodeSelector",), ("webhook", "nodeSelector"), ("cainjector", "nodeSelector"),
                         ("startupapicheck", "nodeSelector")),
        after=("aws-load-balancer-controller",),
        source="https://github.com/cert-manager/cert-manager/tree/v1.21.1/deploy/charts/cert-manager",
    ),
    Addon(
        name="windows-gmsa",
        # Its webhook fails closed in every namespace but its own: where nothing else has to start before it.
        chart=Chart(chart="gmsa",
                    repository="https://raw.githubusercontent.com/kubernetes-sigs/windows-gmsa/master/charts/repo",
                    version="0.13.0"),
        not_on_windows="its webhook runs on Linux; the plug-in for Windows is in the node image",
        values={"certificates": {"certManager": {"enabled": True}}, "credential": {"enabled": False}},
        closed_selectors=(("nodeSelector",),),
        needs=("cert-manager",),
        needs_unless=("certificates", "certManager", "enabled"),
        after=("aws-load-balancer-controller", "cert-manager"),
        source="https://github.com/kubernetes-sigs/windows-gmsa/tree/master/charts",
    ),
    Addon(
        name="aws-efs-csi-driver",
        service_account="efs-csi-controller-sa",
        managed_policies=("service-role/AmazonEFSCSIDriverPolicy",),
        not_on_windows="Windows containers cannot mount NFS, which EFS uses; use csi-driver-smb with FSx",
        closed_selectors=(("controller", "nodeSelector"), ("node", "nodeSelector")),
        source="https://docs.aws.amazon.com/eks/latest/userguide/efs-csi.html",
    ),
    Addon(
        name="aws-mountpoint-s3-csi-driver",
        service_account="s3-csi-driver-sa",
        policy_for="its buckets: documents.mounted_buckets writes one",
        not_on_windows="Mountpoint for S3 has no Windows client; use csi-driver-smb with FSx, or the AWS SDK",
        closed_selectors=(("node", "nodeSelector"),),
        source="https://docs.aws.amazon.com/eks/latest/userguide/s3-csi.html",
    ),
    Addon(
        name="eks-pod-identity-agent",
        not_on_windows="EKS Pod Identity does not support Windows pods; use IRSA",
        source="https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html",
    ),
    Addon(
        name="eks-node-monitoring-agent",
        not_on_windows="it watches Linux nodes only, and so does node auto repair",
        source="https://docs.aws.amazon.com/eks/latest/userguide/node-health.html",
    ),
    Addon(
        name="aws-guardduty-agent",
        namespace="amazon-guardduty",
        not_on_windows="EKS runtime monitoring supports only Linux nodes",
        source="https://docs.aws.amazon.com/guardduty/latest/ug/prereq-runtime-monitoring-eks-support.html",
    ),
)  # fmt: skip
ADDONS: Mapping[str, Addon] = {row.name: row for row in _ROWS}
"""The add-ons by name."""

ELSEWHERE: Mapping[str, str] = {
    "vpc-cni": "use WindowsIpam, which installs it with Windows IPAM turned on",
    "coredns": 'use an EksAddon with addon_name "coredns"; it runs on Linux nodes or Fargate',
    "kube-proxy": 'use an EksAddon with addon_name "kube-proxy"; on Windows it is part of the node image',
    "aws-for-fluent-bit": "use FluentBitWindows for Windows nodes, or add amazon-cloudwatch-observability",
    "secrets-store-csi-driver-provider-aws": "it has no Windows image: read the secret with the AWS SDK and IRSA",
}
"""Add-ons that people look for here, with the place where they are."""
