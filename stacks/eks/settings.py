"""What a stack file of an EKS cluster may say. The sections stand in modules of their own."""

from pydantic import Field

from ..config.settings import Settings
from .addon_settings import (
    AddonSettings,
    GmsaCredentialSpecSettings,
    KarpenterSettings,
    StorageClassesSettings,
    WindowsLogsSettings,
)
from .cluster_settings import ClusterSettings
from .group_settings import InstanceGroupSettings


class EksSettings(Settings):
    """One environment: everything that ``Pulumi.<stack>.yaml`` says of it."""

    cluster: ClusterSettings
    """The control plane of EKS."""
    instance_groups: tuple[InstanceGroupSettings, ...] = Field(examples=[[{"name": "system", "linux": "al2023"}]])
    """The groups of nodes: Linux ones for CoreDNS and other system pods, and Windows ones."""
    addons: tuple[AddonSettings, ...] = ()
    """What is installed in the cluster beside CNI, kube-proxy and CoreDNS. Default: nothing."""
    storage_classes: StorageClassesSettings = StorageClassesSettings()
    """Storage classes for Windows pods. Default: none."""
    karpenter: KarpenterSettings | None = None
    """Windows nodes by Karpenter. Default: by groups only."""
    windows_logs: WindowsLogsSettings | None = None
    """Logs of Windows nodes in CloudWatch; not beside amazon-cloudwatch-observability. Default: none."""
    gmsa_credential_specs: tuple[GmsaCredentialSpecSettings, ...] = ()
    """Identities of Active Directory for Windows pods. Default: none."""

    @property
    def windows_releases(self) -> tuple[str, ...]:
        """The releases of all Windows nodes, those of groups and those that Karpenter starts; none without any."""
        releases = {group.windows for group in self.instance_groups if group.windows is not None}
        pools = self.karpenter.windows_pools if self.karpenter else ()
        return tuple(sorted(releases | {pool.windows for pool in pools}))

    @property
    def addon_names(self) -> tuple[str, ...]:
        """The names of the add-ons."""
        return tuple(addon.name for addon in self.addons)


SETTINGS = EksSettings
"""The model of the flavour's stack files."""
