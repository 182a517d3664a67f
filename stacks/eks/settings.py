"""The settings of an EKS environment. The sections are in the other modules."""

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
    """The settings of an EKS environment in ``Pulumi.<stack>.yaml``."""

    cluster: ClusterSettings
    """The EKS control plane."""
    instance_groups: tuple[InstanceGroupSettings, ...] = Field(examples=[[{"name": "system", "linux": "al2023"}]])
    """The node groups: Linux groups for CoreDNS and other system pods, and Windows groups."""
    addons: tuple[AddonSettings, ...] = ()
    """Add-ons besides the CNI, kube-proxy and CoreDNS. Default: none."""
    storage_classes: StorageClassesSettings = StorageClassesSettings()
    """Storage classes for Windows pods. Default: none."""
    karpenter: KarpenterSettings | None = None
    """Windows nodes that Karpenter starts. Default: groups only."""
    windows_logs: WindowsLogsSettings | None = None
    """Logs of Windows nodes in CloudWatch; excludes amazon-cloudwatch-observability. Default: none."""
    gmsa_credential_specs: tuple[GmsaCredentialSpecSettings, ...] = ()
    """Active Directory identities for Windows pods. Default: none."""

    @property
    def windows_releases(self) -> tuple[str, ...]:
        """The Windows releases of all groups and Karpenter pools."""
        releases = {group.windows for group in self.instance_groups if group.windows is not None}
        pools = self.karpenter.windows_pools if self.karpenter else ()
        return tuple(sorted(releases | {pool.windows for pool in pools}))

    @property
    def addon_names(self) -> tuple[str, ...]:
        """The names of the add-ons."""
        return tuple(addon.name for addon in self.addons)


SETTINGS = EksSettings
"""The model of the stack files of this flavour."""
