"""What a stack file may say of add-ons and of what they serve: mirrors of the components' arguments."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ..config.introspection import Model, PolicyDocument
from ..config.shared_sections import TaintSettings


class AddonSettings(Model):
    """One add-on of the cluster. The CNI, kube-proxy and CoreDNS are there anyway."""

    name: str = Field(examples=["metrics-server"])
    """The name of the add-on."""
    version: str | None = None
    """A pinned version. Default: EKS' own for the cluster's minor, or the chart's that winkube was tried with."""
    windows: bool | None = None
    """Whether its Windows part is installed. Default: if it has one and the cluster has Windows nodes."""
    values: Mapping[str, Any] = {}
    """Further values, upon those that keep it on its operating system. Default: none."""
    identity: str = "irsa"
    """How it gets its role: "irsa", or "pod_identity" where no Windows pod needs it. Default: irsa."""
    role_arn: str | None = None
    """The ARN of a role of your own for it. Excludes additionalPolicies. Default: a role is made."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the role that is made, such as for the keys of encrypted volumes. Default: none."""


class NtfsStorageClassSettings(Model):
    """A storage class of encrypted EBS volumes for Windows pods."""

    class_name: str = "ebs-ntfs"
    """The name by which claims ask for it. Default: ebs-ntfs."""
    volume_type: str = "gp3"
    """The type of the volumes. Default: gp3."""
    iops: int | None = None
    """Operations per second, of gp3, io1 and io2 only. Default: 3000 for gp3."""
    throughput_mib: int | None = None
    """Throughput in MiB/s, of gp3 only. Default: 125."""
    kms_key_arn: str | None = None
    """The ARN of the key of the volumes; the driver needs a policy for it. Default: EBS' own."""
    reclaim_policy: str = "Delete"
    """What becomes of a volume whose claim goes: Delete or Retain. Default: Delete."""
    allow_volume_expansion: bool = False
    """Whether claims may grow. Default: no, for Kubernetes lists it as missing on Windows."""
    default: bool = False
    """Whether claims that name no class get it. Default: no, for Linux pods cannot use NTFS."""
    volume_tags: Mapping[str, str] = {}
    """Tags of the volumes. Default: none."""


class SmbStorageClassSettings(Model):
    """A storage class of directories on an SMB share, such as of FSx for Windows File Server."""

    class_name: str = Field(examples=["smb"])
    """The name by which claims ask for it."""
    share: str = Field(examples=["//fs-0123456789abcdef0.corp.example.com/share"])
    """The share as //server/share."""
    secret_name: str = Field(examples=["smb-credentials"])
    """The name of the Kubernetes secret with user name and password. It is made elsewhere."""
    secret_namespace: str = Field(examples=["kube-system"])
    """The namespace of the secret."""
    reclaim_policy: str = "Retain"
    """What becomes of a directory whose claim goes: Retain or Delete. Default: Retain."""
    mount_options: tuple[str, ...] = ()
    """Options of the mount on Linux; Windows knows none. Default: none."""


class StorageClassesSettings(Model):
    """Storage classes for Windows pods."""

    ntfs: tuple[NtfsStorageClassSettings, ...] = ()
    """Classes of EBS volumes with NTFS; they need the add-on aws-ebs-csi-driver. Default: none."""
    smb: tuple[SmbStorageClassSettings, ...] = ()
    """Classes of directories on SMB shares; they need the add-on csi-driver-smb. Default: none."""


class KarpenterPoolSettings(Model):
    """A kind of Windows nodes that Karpenter starts."""

    pool_name: str = Field(examples=["windows2022"])
    """The name of the node class and of its pool."""
    windows: str = "2022"
    """The release of Windows Server, in quotes; Karpenter takes the core edition. Default: 2022."""
    instance_categories: tuple[str, ...] = ("c", "m", "r")
    """Categories of instance types, of x86_64 and with 4 GiB of memory or more. Default: c, m and r."""
    capacity_types: tuple[str, ...] = ("on-demand",)
    """The kinds of capacity, on-demand or spot. Default: on-demand."""
    cpu_limit: int = 100
    """How many vCPUs the pool has at most, licences of which are paid by the hour. Default: 100."""
    expire_after: str = "720h"
    """How long a node lives, for Windows nodes are patched by replacing them. Default: 720h, 30 days."""
    root_volume_size_gib: int = 80
    """The size of the root volume in GiB, 50 at least. Default: 80."""
    labels: Mapping[str, str] = {}
    """Labels of the nodes. Default: none."""
    taints: tuple[TaintSettings, ...] = (TaintSettings(key="os", value="windows"),)
    """Taints of the nodes. Default: os=windows:NoSchedule."""


class KarpenterSettings(Model):
    """Windows nodes by Karpenter. Needs the add-on karpenter."""

    windows_pools: tuple[KarpenterPoolSettings, ...] = ()
    """Kinds of Windows nodes. Default: none; then node pools are made elsewhere."""
    queue_arn: str | None = None
    """The ARN of the SQS queue in which it hears of interruptions of its nodes. Default: none."""


class WindowsLogsSettings(Model):
    """Logs of Windows nodes and pods in CloudWatch by Fluent Bit, without the rest of CloudWatch's add-on."""

    namespace: str = "kube-system"
    """The namespace of the agent; it must allow HostProcess pods. Default: kube-system."""
    log_retention_days: int = 90
    """How long CloudWatch keeps the logs, in days. Default: 90."""
    log_kms_key_arn: str | None = None
    """The ARN of the key that encrypts the logs; it must let CloudWatch Logs use it. Default: CloudWatch's own."""
    image: str = "public.ecr.aws/aws-observability/aws-for-fluent-bit:2.31.12-windowsservercore"
    """The image of the agent. Default: the last one that CloudWatch's chart names, for Server 2019 and 2022."""


class GmsaUserSettings(Model):
    """A service account that may use an identity."""

    namespace: str = Field(examples=["team-a"])
    """The namespace of the service account."""
    service_account: str = Field(examples=["web-app"])
    """Its exact name."""


class GmsaCredentialSpecSettings(Model):
    """A group managed service account of Active Directory for Windows pods. Needs the add-on windows-gmsa."""

    spec_name: str = Field(examples=["web-app"])
    """The name by which pods ask for it."""
    account_name: str = Field(examples=["WebApp"])
    """The name of the account in Active Directory, without the closing $; at most 15 characters."""
    domain_name: str = Field(examples=["corp.example.com"])
    """The DNS name of the domain."""
    netbios_name: str = Field(examples=["CORP"])
    """The NetBIOS name of the domain."""
    domain_guid: str = Field(examples=["244818ae-87ac-4fcd-92ec-e79e5252348a"])
    """ObjectGUID of the domain (Get-ADDomain)."""
    domain_sid: str = Field(examples=["S-1-5-21-2126449477-2524075714-3094792973"])
    """DomainSID of the domain (Get-ADDomain)."""
    forest_root: str | None = None
    """The DNS name of the root domain of the forest. Default: the domain itself."""
    credential_arn: str | None = None
    """The ARN of the secret or parameter with the portable identity (domainless). Default: nodes are in the domain."""
    credential_key_arn: str | None = None
    """The ARN of the key of that secret. Default: AWS' own."""
    users: tuple[GmsaUserSettings, ...] = Field(examples=[[{"namespace": "team-a", "serviceAccount": "web-app"}]])
    """The service accounts that may use it."""
