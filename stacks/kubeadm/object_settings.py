"""What a stack file may say of the objects in the cluster: mirrors of the components' arguments."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ..config.introspection import Model, PolicyDocument


class PodNetworkSettings(Model):
    """The pod network: flannel over VXLAN, the one that Linux and Windows nodes on EC2 can share."""

    vni: int = 4096
    """The number of the VXLAN; Windows takes 4096 and above. Default: 4096."""
    port: int = 4789
    """The UDP port of the VXLAN; Windows speaks 4789 only. Default: 4789."""
    mtu: int = 1500
    """The MTU of the nodes' own interfaces, in bytes. Default: 1500, as Windows starts."""


class WindowsAdmissionSettings(Model):
    """What the API server does with pods for Windows that are incomplete, or that Windows cannot run."""

    mode: str = "warn"
    """What happens with offences: "off", "audit", "warn" or "deny". Default: warn."""
    rules: Mapping[str, str] = {}
    """Modes of single rules, such as memory_limit: deny. Default: all follow mode."""
    default_release: str | None = None
    """The release of pods that say Windows, but no build. Default: the oldest release of the groups."""
    linux_default: bool = False
    """Whether pods that do not say where they belong are for Linux. Default: no."""
    exempt_namespaces: tuple[str, ...] = ("kube-node-lease", "kube-public", "kube-system")
    """Namespaces in which none of this holds; kube-system must be one. Default: the system's."""
    failure_policy: str = "Fail"
    """What happens when a policy cannot be evaluated: "Fail" or "Ignore". Default: Fail."""


class SelfManagedAddonSettings(Model):
    """One add-on of the cluster. CNI, kube-proxy, CoreDNS and the cloud controller manager are there anyway."""

    name: str = Field(examples=["metrics-server"])
    """The name of the add-on."""
    version: str | None = None
    """A pinned version of its chart. Default: the one that its values were written for."""
    values: Mapping[str, Any] = {}
    """Further values, upon those that keep it on its operating system. Default: none."""
    role_arn: str | None = None
    """The ARN of a role of your own for it. Excludes additionalPolicies. Default: a role is made."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the role that is made, such as for the keys of encrypted volumes. Default: none."""


class SampleWorkloadsSettings(Model):
    """A smoke test: IIS on each Windows release, and a Linux client whose Job succeeds when all of them answer."""

    namespace: str = "winkube-sample"
    """The namespace of the test; it is made, and goes with it. Default: winkube-sample."""
    replicas: int = 1
    """Web servers for each release. Default: 1."""
