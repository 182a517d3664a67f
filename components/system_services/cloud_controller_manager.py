"""The cloud controller manager of a self-managed cluster on EC2.

- a service account with the rights that its controllers use, and the right to one lease;
- a DaemonSet on the control plane, in the network of the node: it runs before there is a pod network.

Its calls to AWS take the role of the control plane. Until it runs, new nodes keep the taint
``node.cloudprovider.kubernetes.io/uninitialized``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi

from ..core.cidr import network_or_none
from ..core.component import known
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..kubernetes.component import KubernetesComponent
from ..kubernetes.manifests import check_endpoint, check_image
from ..pod_network.flannel_config import CIDRS
from ..tables.releases import SELF_MANAGED_MINORS, SELF_MANAGED_RELEASES
from .system_manifests import cloud_controller_manifests

CLOUD_CONFIG = Rule(
    "WK-K8S-030",
    "The cloud configuration can have only keys of cloud-provider-aws.",
    "https://cloud-provider-aws.sigs.k8s.io/",
)
KUBERNETES_MINOR = Rule(
    "WK-K8S-031", "The Kubernetes minor must be one that winkube supports.", "https://kubernetes.io/releases/"
)

CLOUD_CONFIG_KEYS = (
    "ClusterServiceLoadBalancerHealthProbeMode", "DisableSecurityGroupIngress", "ElbSecurityGroup",
    "KubernetesClusterID", "NLBSecurityGroupMode", "NodeIPFamilies", "Region", "RoleARN", "RouteTableID",
    "SubnetID", "VPC", "Zone",
)  # fmt: skip
"""Keys of ``[Global]``, cloud-provider-aws 1.36."""


@dataclass(frozen=True, kw_only=True)
class CloudControllerManagerArgs:
    """The arguments of the cloud controller manager."""

    cluster_name: pulumi.Input[str]
    """The cluster's name, as in the tag ``kubernetes.io/cluster/<name>`` of its instances and subnets."""
    kubernetes_version: str
    """Kubernetes minor, such as ``1.36``; it decides the version."""
    endpoint: str
    """The API server as ``host:port``."""
    pod_cidr: str = "10.244.0.0/16"
    """The pod CIDR."""
    cloud_config: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further keys of the section ``[Global]``, such as ``{"NLBSecurityGroupMode": "Managed"}``; none by default."""
    image: str | None = None
    """A custom image, for example from a mirror; by default the one of the release."""


def check_minor(minor: str) -> Mistakes:
    """Whether winkube makes objects for a Kubernetes minor (``WK-K8S-031``)."""
    found = Mistakes()
    if minor not in SELF_MANAGED_MINORS:
        near = nearest(minor, SELF_MANAGED_MINORS) or SELF_MANAGED_MINORS[-1]
        found.add(KUBERNETES_MINOR, ("kubernetes_version",), f"the Kubernetes minor is {one_of(SELF_MANAGED_MINORS)}",
                  f'write "{near}"', minor)  # fmt: skip
    return found


def check_cloud_controller_manager(args: CloudControllerManagerArgs) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-K8S-026``, ``-028`` to ``-031``)."""
    found = check_minor(args.kubernetes_version)
    found.take(check_endpoint(args.endpoint))
    if network_or_none(args.pod_cidr) is None:
        found.add(CIDRS, ("pod_cidr",), "is not an IPv4 network in CIDR notation without host bits",
                  'write one such as "10.244.0.0/16"', args.pod_cidr)  # fmt: skip
    for key, text in args.cloud_config.items():
        if key not in CLOUD_CONFIG_KEYS:
            near = nearest(key, CLOUD_CONFIG_KEYS)
            found.add(CLOUD_CONFIG, ("cloud_config", key), f"the key is {one_of(CLOUD_CONFIG_KEYS)}",
                      f'write "{near}"' if near else "remove it", key)  # fmt: skip
        if not text.strip() or "\n" in text:
            found.add(CLOUD_CONFIG, ("cloud_config", key), "a value must be one line", "write one line", text)
    if args.image is not None:
        found.take(check_image(args.image))
    return found


class CloudControllerManager(KubernetesComponent):
    """The AWS cloud controller manager: registers EC2 instances as nodes, and creates load balancers for Services.

    :raises WinkubeError: ``WK-K8S-026``, ``WK-K8S-028`` to ``WK-K8S-031``.
    """

    image: str
    """The image in use."""

    def __init__(self, name: str, args: CloudControllerManagerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_cloud_controller_manager(args))
        self.image = args.image or SELF_MANAGED_RELEASES[args.kubernetes_version].cloud_controller_manager
        plain = known(args.cluster_name)
        cluster = f"--cluster-name={args.cluster_name}" if plain else pulumi.Output.concat(
            "--cluster-name=", args.cluster_name
        )  # fmt: skip
        manifests = cloud_controller_manifests(endpoint=args.endpoint, cluster_name=cluster, image=self.image,
                                               pod_cidr=args.pod_cidr, cloud_config=args.cloud_config)  # fmt: skip
        self.apply_manifests(name, manifests)
        self.register_outputs({"image": self.image})
