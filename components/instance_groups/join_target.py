"""What workers need to know of a self-managed cluster, whoever made it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network

import pulumi

from ..core.cidr import nth_address
from ..ec2.proxy import Proxy
from ..network.ports import Ports
from ..state_bucket.layout import ClusterLayout
from ..tables.regions import REGIONS, partition
from .target_rules import WINDOWS_VNI, check_join_target

__all__ = ["JoinTarget", "check_join_target"]


@dataclass(frozen=True, kw_only=True)
class JoinTarget:
    """A self-managed cluster that instance groups can join.

    ``LinuxControlPlane.target`` is one; ``target_of_kops``, ``target_of_kubespray`` and ``target_of_kubeadm``
    create one for an existing cluster. A group checks its target with ``check_join_target``.
    """

    cluster_name: str
    """The cluster's name, such as ``prod.example.com``; it is part of object keys and tags."""
    kubernetes_version: str
    """Its Kubernetes minor, such as ``1.36``; it decides binaries, flags and images."""
    region: str
    """The Region of the nodes, the bucket and the token."""
    endpoint: str
    """Its API as ``host:port`` without a scheme, such as ``api.prod.example.com:6443``."""
    token_parameter: str
    """Name of the SSM parameter (SecureString) that holds a valid bootstrap token."""
    certificate_authority: pulumi.Input[str]
    """Its certificate authority as PEM."""
    vpc_id: pulumi.Input[str]
    """The VPC of the nodes."""
    bucket: pulumi.Input[str]
    """Name of the bucket from which nodes fetch boot code and documents."""
    bucket_arn: pulumi.Input[str]
    """ARN of that bucket."""
    bucket_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key that encrypts the bucket, if it is a customer managed key."""
    token_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key that encrypts the token; ``aws/ssm`` by default."""
    pod_cidr: str = "10.244.0.0/16"
    """The pod CIDR; ``10.244.0.0/16`` by default."""
    service_cidr: str = "10.96.0.0/12"
    """The service CIDR; ``10.96.0.0/12`` by default."""
    cluster_domain: str = "cluster.local"
    """The domain that the cluster's DNS serves; ``cluster.local`` by default."""
    dns_ip: str | None = None
    """Address of the cluster DNS; the tenth of the service CIDR by default. Kubespray uses the third."""
    node_cidr_mask: int = 24
    """Prefix length of each node's subnet of the pod CIDR; 24 (254 addresses) by default."""
    pod_network: str = "flannel-vxlan"
    """``flannel-vxlan`` (default), or ``calico-vxlan`` if Calico's operator manages the nodes."""
    vxlan_vni: int = WINDOWS_VNI
    """VNI of the pod network; Windows nodes need 4096 (default)."""
    vxlan_port: int = Ports.vxlan
    """UDP port of the pod network; Windows nodes need 4789 (default)."""
    cloud_provider: str = "external"
    """``external`` (default) if the AWS cloud controller manager runs in the cluster; ``none`` if it does not, so that
    kubelets do not wait for it."""
    incarnation: int = 1
    """The cluster's number in its bucket; a new cluster with the same name needs a new number."""
    control_plane_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups of the control plane; they may reach the kubelets."""
    node_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups of all nodes that share the pod network, including the control plane."""
    api_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups in front of the API, which get an ingress rule for the workers' own groups. None by default."""
    linux_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Existing security groups for Linux workers; by default each group creates its own."""
    windows_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Existing security groups for Windows workers; by default each group creates its own."""
    mirror: str | None = None
    """Base address (https, http or s3) from which nodes fetch what upstream offers: ``https://host/path`` becomes
    ``<mirror>/host/path``. Upstream itself by default."""
    registry_mirrors: Mapping[str, str] = field(default_factory=dict[str, str])
    """Host of a container registry to the address of its mirror; none by default."""
    artefact_digests: Mapping[str, str] = field(default_factory=dict[str, str])
    """File name of a download to its digest, if upstream publishes none or you use another build."""
    image_repository: str | None = None
    """Registry of the system's container images; ``registry.k8s.io`` by default."""
    proxy: Proxy | None = None
    """The proxy through which nodes reach the internet; none by default."""

    @property
    def dns_service_ip(self) -> str:
        """The address of the cluster's DNS: what is said of it, or the tenth of the service CIDR."""
        return self.dns_ip or str(nth_address(IPv4Network(self.service_cidr), 10))

    @property
    def partition(self) -> str:
        """The partition of the region, as in ARNs; ``aws`` for a region that the checks refuse."""
        return partition(self.region) if self.region in REGIONS else "aws"

    @property
    def layout(self) -> ClusterLayout:
        """What of the cluster lies where in the bucket."""
        return ClusterLayout(self.cluster_name)
