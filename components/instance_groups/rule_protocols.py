"""What the checks of instance groups need of a group and of its cluster."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .rollout import LifeLike
from .spec import GroupLike


class TargetLike(Protocol):
    """What the checks of a group need of its cluster."""

    @property
    def cluster_name(self) -> str: ...  # noqa: D102
    @property
    def kubernetes_version(self) -> str: ...  # noqa: D102
    @property
    def pod_cidr(self) -> str: ...  # noqa: D102
    @property
    def node_cidr_mask(self) -> int: ...  # noqa: D102
    @property
    def mirror(self) -> str | None: ...  # noqa: D102
    @property
    def registry_mirrors(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def artefact_digests(self) -> Mapping[str, str]: ...  # noqa: D102


class InstanceGroupLike(GroupLike, LifeLike, Protocol):
    """What the checks need of a group."""

    @property
    def subnet_ids(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def min_size(self) -> int: ...  # noqa: D102
    @property
    def desired_size(self) -> int | None: ...  # noqa: D102
    @property
    def on_demand_base(self) -> int: ...  # noqa: D102
    @property
    def image_id(self) -> Any: ...  # noqa: D102
    @property
    def ecr_credentials(self) -> bool | None: ...  # noqa: D102
    @property
    def kubelet_log(self) -> bool | None: ...  # noqa: D102
    @property
    def container_images(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def page_file_mib(self) -> int | None: ...  # noqa: D102
    @property
    def tags(self) -> Mapping[str, str]: ...  # noqa: D102
