"""The sections of node groups in every flavour, which mirror the arguments of the components."""

from pydantic import Field

from .introspection import Model


class TaintSettings(Model):
    """A taint of nodes: pods need a toleration to run on them."""

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
    """Names and networks that are reached without the proxy. Default: those that every node needs."""


class WarmPoolSettings(Model):
    """Instances of a managed group that are started in advance, as Windows takes minutes to start."""

    min_size: int = 0
    """The least number of instances in the pool. Default: 0."""
    max_prepared: int | None = None
    """The greatest number of instances in the pool and the group. Default: maxSize of the group."""
    state: str = "stopped"
    """The state of waiting instances; for "stopped" ones only the disks are paid. Default: stopped."""
    reuse_on_scale_in: bool = False
    """Whether instances return to the pool when the group scales in. Default: no."""
