"""What a stack file of a cluster of one's own may say. The sections stand in modules of their own."""

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
    """One environment with a control plane of its own: everything that ``Pulumi.<stack>.yaml`` says of it."""

    zone: ZoneSettings = Field(examples=[{"domain": "dev.example.com"}])  # pyright: ignore[reportIncompatibleVariableOverride]
    """The Route 53 zone of the cluster: the API has its name in it."""
    state_bucket: StateBucketSettings = StateBucketSettings()  # pyright: ignore[reportIncompatibleVariableOverride]
    """The bucket in which control plane and nodes keep what they share. Default: one with a key of its own."""
    cluster: KubeadmClusterSettings
    """The control plane."""
    instance_groups: tuple[KubeadmGroupSettings, ...] = Field(examples=[[{"name": "system", "linux": "al2023"}]])
    """The groups of nodes: Linux ones for CoreDNS and other system pods, and Windows ones."""
    pod_network: PodNetworkSettings = PodNetworkSettings()
    """The pod network. Default: flannel with the numbers that Windows takes."""
    windows_admission: WindowsAdmissionSettings = WindowsAdmissionSettings()
    """What the API server does with pods for Windows. Default: they are completed, offences are warned of."""

    addons: tuple[SelfManagedAddonSettings, ...] = ()
    """What is installed in the cluster beside what nodes need. Default: nothing."""
    sample_workloads: SampleWorkloadsSettings | None = None
    """A smoke test of the Windows nodes. Default: none."""

    @property
    def windows_releases(self) -> tuple[str, ...]:
        """The releases of all Windows nodes; none without any."""
        return tuple(sorted({group.windows for group in self.instance_groups if group.windows is not None}))


SETTINGS = KubeadmSettings
"""The model of the flavour's stack files."""
