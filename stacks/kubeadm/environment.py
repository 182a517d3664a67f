"""What the parts of an environment have in common while it is built."""

from dataclasses import dataclass

import pulumi
from winkube.control_plane.control_plane import LinuxControlPlane
from winkube.network.network import Network

from .settings import KubeadmSettings


@dataclass(frozen=True)
class Environment:
    """What every part of an environment is built with."""

    settings: KubeadmSettings
    network: Network
    control_plane: LinuxControlPlane
    opts: pulumi.ResourceOptions
    """The providers of AWS and of the cluster."""

    @property
    def name(self) -> str:
        """With which every resource's name begins: the first label of the cluster's name."""
        return resource_prefix(self.settings.cluster.name)


def resource_prefix(cluster_name: str) -> str:
    """The first label of a cluster's name: dots do not belong into the names of resources.

    >>> resource_prefix("prod.example.com")
    'prod'
    """
    return cluster_name.partition(".")[0]
