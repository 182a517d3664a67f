"""The settings of the objects in the cluster, which mirror the arguments of the components."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ..config.introspection import Model, PolicyDocument


class PodNetworkSettings(Model):
    """The pod network: flannel with VXLAN, for Linux and Windows nodes."""

    vni: int = 4096
    """The VXLAN network identifier; Windows needs 4096 or above. Default: 4096."""
    port: int = 4789
    """The UDP port of the VXLAN; Windows supports 4789 only. Default: 4789."""
    mtu: int = 1500
    """The MTU of the network interfaces of the nodes, in bytes. Default: 1500, the initial value on Windows."""


class WindowsAdmissionSettings(Model):
    """Admission of Windows pods: missing fields are added, and unsupported ones are handled by mode."""

    mode: str = "warn"
    """What happens on a violation: "off", "audit", "warn" or "deny". Default: warn."""
    rules: Mapping[str, str] = {}
    """Modes of single rules, such as memory_limit: deny. Default: all rules have mode."""
    default_release: str | None = None
    """The Windows release of pods that select Windows without a build. Default: the oldest release of the groups."""
    linux_default: bool = False
    """Whether pods that select no operating system are placed on Linux. Default: no."""
    exempt_namespaces: tuple[str, ...] = ("kube-node-lease", "kube-public", "kube-system")
    """Namespaces without this admission; they must include kube-system. Default: the system namespaces."""
    failure_policy: str = "Fail"
    """What happens when a policy cannot be evaluated: "Fail" or "Ignore". Default: Fail."""


class SelfManagedAddonSettings(Model):
    """An add-on. CNI, kube-proxy, CoreDNS and the cloud controller manager are always installed."""

    name: str = Field(examples=["metrics-server"])
    """The name of the add-on."""
    version: str | None = None
    """A pinned version of its chart. Default: the version that was tested."""
    values: Mapping[str, Any] = {}
    """Further values, merged into those that keep it on nodes of its operating system. Default: none."""
    role_arn: str | None = None
    """The ARN of an existing role. Excludes additionalPolicies. Default: a role is created."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the created role, such as for the keys of encrypted volumes. Default: none."""


class SampleWorkloadsSettings(Model):
    """A smoke test: IIS on each Windows release, and a Linux Job that succeeds when all of them answer."""

    namespace: str = "winkube-sample"
    """The namespace of the test, which is created and deleted with it. Default: winkube-sample."""
    replicas: int = 1
    """The number of web servers for each release. Default: 1."""
