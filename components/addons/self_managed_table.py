"""The add-ons of self-managed clusters with Windows nodes, as one table. Pure.

Charts at fixed versions, as published by August 2026; what EKS installs itself comes from a chart here, and what a
self-managed cluster lacks is added: the webhook that gives service accounts their roles, and the handler that drains
nodes before EC2 ends them. Rows that are the same on EKS are taken from there. Sources beside each row.
"""

from collections.abc import Mapping
from dataclasses import replace

from ..roles.policy_documents import Document, allow, document
from .addon_table import ADDONS, ON_LINUX, Addon, Chart, Slot
from .chart_values import merged

WEBHOOK = "amazon-eks-pod-identity-webhook"
TERMINATION_HANDLER = "aws-node-termination-handler"

_ROWS = (
    replace(
        ADDONS["cert-manager"],
        after=(),
    ),
    Addon(
        name=WEBHOOK,
        chart=Chart(chart=WEBHOOK, repository="https://jkroepke.github.io/helm-charts", version="2.6.5"),
        not_on_windows="it serves the cluster from Linux, and detects Windows pods by their nodeSelector",
        values={"replicaCount": 2, "config": {"defaultAwsRegion": Slot.REGION}, "nodeSelector": ON_LINUX},
        linux_selectors=(("nodeSelector",),),
        needs=("cert-manager",),
        needs_unless=("pki", "certManager", "enabled"),
        after=("cert-manager",),
        source="https://github.com/jkroepke/helm-charts/tree/main/charts/amazon-eks-pod-identity-webhook",
    ),
    replace(
        ADDONS["aws-ebs-csi-driver"],
        chart=Chart(chart="aws-ebs-csi-driver", repository="https://kubernetes-sigs.github.io/aws-ebs-csi-driver",
                    version="2.64.0"),
        role_annotations=("controller", "serviceAccount", "annotations"),
        # Those of the row are versions of the EKS add-on, not of the chart.
        windows_since="",
        releases_since={},
        values={
            "controller": {"region": Slot.REGION, "k8sTagClusterId": Slot.CLUSTER_NAME},
            # HostProcess pods reach the disks themselves; without them csi-proxy would have to run on every node.
            "node": {"enableWindows": Slot.WINDOWS, "windowsHostProcess": True},
        },
        after=(WEBHOOK,),
        source="https://github.com/kubernetes-sigs/aws-ebs-csi-driver/tree/master/charts/aws-ebs-csi-driver",
    ),
    replace(ADDONS["csi-driver-smb"], after=()),
    replace(
        ADDONS["metrics-server"],
        # The kubelets' serving certificates are of the cluster's authority here, Windows nodes' too.
        after=(),
    ),
    # The load balancers' webhook refuses every new Service until its pods run.
    replace(ADDONS["cluster-autoscaler"], after=(WEBHOOK, "aws-load-balancer-controller")),
    Addon(
        name=TERMINATION_HANDLER,
        chart=Chart(chart=f"oci://public.ecr.aws/aws-ec2/helm/{TERMINATION_HANDLER}", version="0.27.6"),
        service_account=TERMINATION_HANDLER,
        role_annotations=("serviceAccount", "annotations"),
        document="termination_handler",
        not_on_windows="it drains Windows nodes from Linux through the API; its Windows DaemonSet is not needed",
        values={
            "enableSqsTerminationDraining": True,
            "awsRegion": Slot.REGION,
            # Nodes are called by their instance id, not by EC2's private name.
            "useProviderId": True,
            "serviceAccount": {"name": TERMINATION_HANDLER},
            "nodeSelector": ON_LINUX,
        },
        linux_selectors=(("nodeSelector",),),
        after=(WEBHOOK,),
        source="https://github.com/aws/aws-node-termination-handler/tree/main/config/helm",
    ),
    replace(
        ADDONS["aws-load-balancer-controller"],
        # Pods have addresses of the overlay, which no load balancer reaches: it sends to node ports.
        values=merged(ADDONS["aws-load-balancer-controller"].values, {"defaultTargetType": "instance"}),
        after=(WEBHOOK,),
    ),
    replace(ADDONS["windows-gmsa"], after=("cert-manager",)),
    Addon(
        name="prometheus-windows-exporter",
        chart=Chart(chart="prometheus-windows-exporter", repository="https://prometheus-community.github.io/helm-charts",
                    version="0.12.8"),
        windows=True,
        values={
            # Linux alone has it, and the API server refuses it of pods that say Windows.
            "hostPID": False,
            "priorityClassName": "system-node-critical",
            "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}, "limits": {"memory": "200Mi"}},
            "configureFirewall": {"resources": {"requests": {"cpu": "50m", "memory": "150Mi"},
                                                "limits": {"memory": "150Mi"}}},
        },
        source="https://github.com/prometheus-community/helm-charts/tree/main/charts/prometheus-windows-exporter",
    ),
)  # fmt: skip

SELF_MANAGED_ADDONS: Mapping[str, Addon] = {row.name: row for row in _ROWS}
"""The add-ons by name."""

WINDOWS_NODES_ONLY = ("prometheus-windows-exporter",)
"""Those with nothing on Linux."""

ELSEWHERE: Mapping[str, str] = {
    "aws-for-fluent-bit": "use WindowsLogs for Windows nodes",
    "fluent-bit": "use WindowsLogs for Windows nodes",
    "karpenter": "it supports Windows nodes only on EKS; use cluster-autoscaler",
    "vpc-cni": "use Flannel; only EKS can assign VPC addresses to Windows pods",
    "coredns": "kubeadm installs it; it runs on Linux nodes",
    "kube-proxy": "kubeadm installs it on Linux nodes; use WindowsKubeProxy for Windows nodes",
    "eks-pod-identity-agent": f"it works only with EKS; use {WEBHOOK} and IRSA",
    "aws-efs-csi-driver": "Windows containers cannot mount NFS, which EFS uses; use csi-driver-smb with FSx",
    "calico": "its operator replaces Flannel; see docs/pod-network.md",
}
"""Add-ons that people look for here, with the place where they are."""

LIFECYCLE_EVENTS: Mapping[str, Mapping[str, object]] = {
    "ending": {"source": ["aws.autoscaling"], "detail-type": ["EC2 Instance-terminate Lifecycle Action"]},
    "spot": {"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]},
    "rebalance": {"source": ["aws.ec2"], "detail-type": ["EC2 Instance Rebalance Recommendation"]},
    "state": {"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"]},
    "health": {"source": ["aws.health"], "detail-type": ["AWS Health Event"],
               "detail": {"service": ["EC2"], "eventTypeCategory": ["scheduledChange"]}},
}  # fmt: skip
"""Events from which the handler hears that a node is about to end (its README, "Queue Processor")."""


def termination_handler(queue_arn: str, cluster_name: str, partition: str = "aws") -> Document:
    """Lets the handler read its queue, and finish the end of instances of this cluster's groups.

    aws-node-termination-handler ``README.md``, where the second statement may finish those of every group.
    """
    return document(
        allow(["sqs:DeleteMessage", "sqs:ReceiveMessage"], queue_arn, sid="HearOfEnds"),
        allow("autoscaling:CompleteLifecycleAction",
              f"arn:{partition}:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*", sid="FinishEnds",
              conditions={"StringEquals": {f"aws:ResourceTag/kubernetes.io/cluster/{cluster_name}": "owned"}}),
        allow(["autoscaling:DescribeAutoScalingInstances", "autoscaling:DescribeTags", "ec2:DescribeInstances"], "*",
              sid="SeeInstances"),
    )  # fmt: skip


def queue_policy(queue_arn: str, rule_arns: list[str]) -> Document:
    """Lets exactly these rules of EventBridge write into the queue."""
    return document({
        "Sid": "Events",
        "Effect": "Allow",
        "Principal": {"Service": ["events.amazonaws.com"]},
        "Action": ["sqs:SendMessage"],
        "Resource": [queue_arn],
        "Condition": {"ArnEquals": {"aws:SourceArn": sorted(rule_arns)}},
    })  # fmt: skip
