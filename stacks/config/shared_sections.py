"""Sections that groups of nodes have in every flavour: mirrors of the components' arguments."""

from pydantic import Field

from .introspection import Model


class TaintSettings(Model):
    """What a pod must tolerate to run on the nodes of a group."""

    key: str = Field(examples=["dedicated"])
    """The key of the taint."""
    value: str = ""
    """The value of the taint. Default: empty."""
    effect: str = "NoSchedule"
    """What happens to pods that do not tolerate it. Default: NoSchedule."""


class ProxySettings(Model):
    """The proxy through which nodes reach the internet."""

    https: str = Field(examples=["http://proxy.example.com:3128"])
    """The proxy for HTTPS, such as http://proxy.example.com:3128."""
    http: str | None = None
    """The proxy for HTTP. Default: the same one."""
    no_proxy: tuple[str, ...] = ()
    """Names and networks reached directly. Default: only those that a node always needs."""


class WarmPoolSettings(Model):
    """Instances of a managed group that are made ready before they are needed: Windows takes minutes to start."""

    min_size: int = 0
    """The least number of instances in the pool. Default: none."""
    max_prepared: int | None = None
    """The greatest number of instances, in pool and group together. Default: maxSize of the group."""
    state: str = "stopped"
    """What the instances cost while they wait: "stopped" only their disks. Default: stopped."""
    reuse_on_scale_in: bool = False
    """Whether instances go back to the pool. Default: no."""
