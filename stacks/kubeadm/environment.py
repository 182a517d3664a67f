"""The values that all steps of building an environment share."""

from dataclasses import dataclass

import pulumi
from winkube.control_plane.control_plane import LinuxControlPlane
from winkube.network.network import Network

from .settings import KubeadmSettings


@dataclass(frozen=True)
class Environment:
    """The values that all steps of building an environment share."""

    settings: KubeadmSettings
    network: Network
    control_plane: LinuxControlPlane
    opts: pulumi.ResourceOptions
    """The providers of AWS and of the cluster."""

    @property
    def name(self) -> str:
        """The prefix of all resource names: the first label of the cluster name."""
        return resource_prefix(self.settings.cluster.name)


def resource_prefix(cluster_name: str) -> str:
    """The first label of a cluster name, as names of resources have no dots.

    >>> resource_prefix("prod.example.com")
    'prod'
    """
    return cluster_name.partition(".")[0]
