"""The settings of a self-managed environment. The sections are in the other modules."""

from pydantic import Field

from ..config.settings import Settings, StateBucketSettings, ZoneSettings
from .cluster_settings import KubeadmClusterSettings
from .group_settings import KubeadmGroupSettings
from .object_settings import (
    PodNetworkSettings,
    SampleWorkloadsSettings,
    SelfManagedAddonSettings,
    WindowsAdmissionSettings,
)


class KubeadmSettings(Settings):
    """The settings of a self-managed environment in ``Pulumi.<stack>.yaml``."""

    zone: ZoneSettings = Field(examples=[{"domain": "dev.example.com"}])  # pyright: ignore[reportIncompatibleVariableOverride]
    """The Route 53 zone of the cluster, with the name of the API."""
    state_bucket: StateBucketSettings = StateBucketSettings()  # pyright: ignore[reportIncompatibleVariableOverride]
    """The state bucket of the control plane and the nodes. Default: a bucket with its own key."""
    cluster: KubeadmClusterSettings
    """The control plane."""
    instance_groups: tuple[KubeadmGroupSettings, ...] = Field(examples=[[{"name": "system", "linux": "al2023"}]])
    """The node groups: Linux groups for CoreDNS and other system pods, and Windows groups."""
    pod_network: PodNetworkSettings = PodNetworkSettings()
    """The pod network. Default: flannel with the VNI and port that Windows needs."""
    windows_admission: WindowsAdmissionSettings = WindowsAdmissionSettings()
    """Admission of Windows pods. Default: missing fields are added, violations cause a warning."""

    addons: tuple[SelfManagedAddonSettings, ...] = ()
    """Add-ons besides the system services. Default: none."""
    sample_workloads: SampleWorkloadsSettings | None = None
    """A smoke test of the Windows nodes. Default: none."""

    @property
    def windows_releases(self) -> tuple[str, ...]:
        """The Windows releases of all groups."""
        return tuple(sorted({group.windows for group in self.instance_groups if group.windows is not None}))


SETTINGS = KubeadmSettings
"""The model of the stack files of this flavour."""
