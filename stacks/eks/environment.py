"""What the parts of an environment have in common while it is built."""

from dataclasses import dataclass

import pulumi
from winkube.eks.cluster import EksCluster
from winkube.eks.security_groups import EksSecurityGroups
from winkube.network.network import Network

from .settings import EksSettings


@dataclass(frozen=True)
class Environment:
    """What every part of an environment is built with."""

    settings: EksSettings
    network: Network
    cluster: EksCluster
    security_groups: EksSecurityGroups | None
    opts: pulumi.ResourceOptions
    """The providers of AWS and of the cluster."""

    @property
    def name(self) -> str:
        """The name of the cluster, with which every resource's begins."""
        return self.settings.cluster.name

    @property
    def manages_addons(self) -> bool:
        """Whether CNI, kube-proxy and CoreDNS are EKS add-ons; else the cluster brings its own."""
        return self.settings.cluster.windows_ipam.mode == "addon"
