"""What the nodes of one Windows group are told, before it is rendered. Plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..ec2.proxy import Proxy
from ..kubeadm.config import KubeletSettings
from ..scheduling.labels import TaintLike


@dataclass(frozen=True, kw_only=True)
class WindowsNode:
    """What the nodes of one group are told. Plain: ids and certificates are resolved before."""

    cluster_name: str
    kubernetes_version: str
    """The Kubernetes minor, such as ``1.36``; the patch is that of the table."""
    endpoint: str
    """The API as ``host:port``."""
    certificate_authority: str
    """PEM."""
    region: str
    bucket: str
    token_parameter: str
    """Name of the SSM parameter with the bare bootstrap token."""
    group: str
    """Name of the instance group."""
    windows: str = "2022"
    """Release of Windows Server: ``2022`` (default) or ``2025``."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    taints: Sequence[TaintLike] = ()
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    """Reservations, pods, further flags and further fields of the KubeletConfiguration."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Feature gates of the kubelet."""
    kubelet_log: bool = True
    """Whether the kubelet runs behind ``kube-log-runner.exe``, which keeps its log; the program needs a digest from
    you (``WK-ART-001``). False: the kubelet is the service alone, and what it prints is lost."""
    ecr_credentials: bool = False
    """Whether the kubelet fetches credentials of ECR itself; its program needs a digest from you (``WK-ART-001``)."""
    auto_scaling_group: str | None = None
    """Physical name of the Auto Scaling group; None: no lifecycle hook is answered."""
    launch_hook: str | None = None
    """Name of the hook at launch, which the boot code completes or abandons."""
    terminate_hook: str | None = None
    """Name of the hook at termination, which is completed when the node is drained."""
    status_prefix: str | None = None
    """Prefix in the bucket under which nodes write ``<instance>.json``; None: tag and console alone."""
    pod_cidr: str = "10.244.0.0/16"
    service_cidr: str = "10.96.0.0/12"
    cluster_domain: str = "cluster.local"
    dns_service_ip: str = "10.96.0.10"
    pod_network: str = "flannel-vxlan"
    """``flannel-vxlan`` (default): overlay networks of an earlier life are removed; others keep theirs."""
    cloud_provider: str = "external"
    """``external`` (default) or ``none``."""
    image_repository: str | None = None
    registry_mirrors: Mapping[str, str] = field(default_factory=dict[str, str])
    mirror: str | None = None
    """Base address that stands in for all upstream addresses of artefacts; https, http or s3."""
    artefact_digests: Mapping[str, str] = field(default_factory=dict[str, str])
    proxy: Proxy | None = None
    images: Sequence[str] = ()
    """Container images that are pulled before the node joins."""
    page_file_mib: int | None = None
    """Size of a fixed page file; None leaves it to Windows. There is always one: Windows has no OOM killer."""
    bitlocker: bool = False
    """Whether BitLocker encrypts the system volume on top of EBS; needs an image with NitroTPM."""
    data_volume: str | None = None
    """Drive letter for container images and layers on a second, raw volume; the system volume by default."""
    drain_seconds: int = 600
    """How long pods may take to leave before the instance ends; two minutes at most on spot."""
    boot_seconds: int = 1800
    """After how long a start counts as failed."""
