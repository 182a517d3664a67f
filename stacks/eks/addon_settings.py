"""The settings of add-ons and of what needs them, which mirror the arguments of the components."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ..config.introspection import Model, PolicyDocument
from ..config.shared_sections import TaintSettings


class AddonSettings(Model):
    """An add-on. The CNI, kube-proxy and CoreDNS are always installed."""

    name: str = Field(examples=["metrics-server"])
    """The name of the add-on."""
    version: str | None = None
    """A pinned version. Default: that of EKS for the Kubernetes minor, or the chart version tested with winkube."""
    windows: bool | None = None
    """Whether to install its Windows part. Default: yes, if it has one and the cluster has Windows nodes."""
    values: Mapping[str, Any] = {}
    """Further values, merged into those that keep it on nodes of its operating system. Default: none."""
    identity: str = "irsa"
    """How its pods get the role: "irsa", or "pod_identity" if no Windows pod needs it. Default: irsa."""
    role_arn: str | None = None
    """The ARN of an existing role. Excludes additionalPolicies. Default: a role is created."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the created role, such as for the keys of encrypted volumes. Default: none."""


class NtfsStorageClassSettings(Model):
    """A storage class of encrypted EBS volumes for Windows pods."""

    class_name: str = "ebs-ntfs"
    """The name of the class. Default: ebs-ntfs."""
    volume_type: str = "gp3"
    """The type of the volumes. Default: gp3."""
    iops: int | None = None
    """I/O operations per second, for gp3, io1 and io2 only. Default: 3000 for gp3."""
    throughput_mib: int | None = None
    """Throughput in MiB/s, for gp3 only. Default: 125."""
    kms_key_arn: str | None = None
    """The ARN of the key of the volumes; the role of the driver needs a policy for it. Default: EBS' own."""
    reclaim_policy: str = "Delete"
    """What happens to a volume when its claim is deleted: Delete or Retain. Default: Delete."""
    allow_volume_expansion: bool = False
    """Whether claims can be expanded. Default: no, as Kubernetes does not support it on Windows."""
    default: bool = False
    """Whether it is the default class. Default: no, as Linux pods cannot use NTFS."""
    volume_tags: Mapping[str, str] = {}
    """Tags of the volumes. Default: none."""


class SmbStorageClassSettings(Model):
    """A storage class of directories on an SMB share, such as FSx for Windows File Server."""

    class_name: str = Field(examples=["smb"])
    """The name of the class."""
    share: str = Field(examples=["//fs-0123456789abcdef0.corp.example.com/share"])
    """The share as //server/share."""
    secret_name: str = Field(examples=["smb-credentials"])
    """The name of the Kubernetes secret with user name and password, which must exist."""
    secret_namespace: str = Field(examples=["kube-system"])
    """The namespace of the secret."""
    reclaim_policy: str = "Retain"
    """What happens to a directory when its claim is deleted: Retain or Delete. Default: Retain."""
    mount_options: tuple[str, ...] = ()
    """Mount options on Linux; Windows has none. Default: none."""


class StorageClassesSettings(Model):
    """Storage classes for Windows pods."""

    ntfs: tuple[NtfsStorageClassSettings, ...] = ()
    """Classes of EBS volumes with NTFS; they need the add-on aws-ebs-csi-driver. Default: none."""
    smb: tuple[SmbStorageClassSettings, ...] = ()
    """Classes of directories on SMB shares; they need the add-on csi-driver-smb. Default: none."""


class KarpenterPoolSettings(Model):
    """A pool of Windows nodes that Karpenter starts."""

    pool_name: str = Field(examples=["windows2022"])
    """The name of the node class and of the node pool."""
    windows: str = "2022"
    """The release of Windows Server, in quotes; Karpenter uses the core edition. Default: 2022."""
    instance_categories: tuple[str, ...] = ("c", "m", "r")
    """Categories of instance types; only x86_64 types with at least 4 GiB of memory are used. Default: c, m and r."""
    capacity_types: tuple[str, ...] = ("on-demand",)
    """The capacity types, on-demand or spot. Default: on-demand."""
    cpu_limit: int = 100
    """The greatest number of vCPUs in the pool, for which Windows licences are paid by the hour. Default: 100."""
    expire_after: str = "720h"
    """The lifetime of a node: Windows nodes are patched by replacement. Default: 720h, which is 30 days."""
    root_volume_size_gib: int = 80
    """The size of the root volume in GiB, at least 50. Default: 80."""
    labels: Mapping[str, str] = {}
    """Labels of the nodes. Default: none."""
    taints: tuple[TaintSettings, ...] = (TaintSettings(key="os", value="windows"),)
    """Taints of the nodes. Default: os=windows:NoSchedule."""


class KarpenterSettings(Model):
    """Windows nodes that Karpenter starts. Needs the add-on karpenter."""

    windows_pools: tuple[KarpenterPoolSettings, ...] = ()
    """Pools of Windows nodes. Default: none; node pools are then created elsewhere."""
    queue_arn: str | None = None
    """The ARN of the SQS queue for interruptions of its nodes. Default: none."""


class WindowsLogsSettings(Model):
    """Logs of Windows nodes and pods in CloudWatch by Fluent Bit, without the add-on of CloudWatch."""

    namespace: str = "kube-system"
    """The namespace of the agent; it must allow HostProcess pods. Default: kube-system."""
    log_retention_days: int = 90
    """The number of days for which CloudWatch keeps the logs. Default: 90."""
    log_kms_key_arn: str | None = None
    """The ARN of the key of the logs; its policy must admit CloudWatch Logs. Default: CloudWatch's own."""
    image: str = "public.ecr.aws/aws-observability/aws-for-fluent-bit:2.31.12-windowsservercore"
    """The image of the agent. Default: the last one in CloudWatch's chart, for Server 2019 and 2022."""


class GmsaUserSettings(Model):
    """A service account that may use an identity."""

    namespace: str = Field(examples=["team-a"])
    """The namespace of the service account."""
    service_account: str = Field(examples=["web-app"])
    """The exact name of the service account."""


class GmsaCredentialSpecSettings(Model):
    """A group managed service account of Active Directory for Windows pods. Needs the add-on windows-gmsa."""

    spec_name: str = Field(examples=["web-app"])
    """The name of the credential spec."""
    account_name: str = Field(examples=["WebApp"])
    """The name of the account in Active Directory, without the $ at its end; at most 15 characters."""
    domain_name: str = Field(examples=["corp.example.com"])
    """The DNS name of the domain."""
    netbios_name: str = Field(examples=["CORP"])
    """The NetBIOS name of the domain."""
    domain_guid: str = Field(examples=["244818ae-87ac-4fcd-92ec-e79e5252348a"])
    """The ObjectGUID of the domain (Get-ADDomain)."""
    domain_sid: str = Field(examples=["S-1-5-21-2126449477-2524075714-3094792973"])
    """The DomainSID of the domain (Get-ADDomain)."""
    forest_root: str | None = None
    """The DNS name of the root domain of the forest. Default: the domain itself."""
    credential_arn: str | None = None
    """The ARN of the secret or parameter with the portable identity, for nodes outside of the domain. Default: none."""
    credential_key_arn: str | None = None
    """The ARN of the key of that secret or parameter. Default: AWS' own."""
    users: tuple[GmsaUserSettings, ...] = Field(examples=[[{"namespace": "team-a", "serviceAccount": "web-app"}]])
    """The service accounts that may use it."""
