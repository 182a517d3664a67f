"""The values that all steps of building an environment share."""

from dataclasses import dataclass

import pulumi
from winkube.eks.cluster import EksCluster
from winkube.eks.security_groups import EksSecurityGroups
from winkube.network.network import Network

from .settings import EksSettings


@dataclass(frozen=True)
class Environment:
    """The values that all steps of building an environment share."""

    settings: EksSettings
    network: Network
    cluster: EksCluster
    security_groups: EksSecurityGroups | None
    opts: pulumi.ResourceOptions
    """The providers of AWS and of the cluster."""

    @property
    def name(self) -> str:
        """The name of the cluster, and the prefix of all resource names."""
        return self.settings.cluster.name

    @property
    def manages_addons(self) -> bool:
        """Whether CNI, kube-proxy and CoreDNS are EKS add-ons; else they are self-managed."""
        return self.settings.cluster.windows_ipam.mode == "addon"
