"""An own image for Windows nodes of EKS: updated, with container images in it, and prepared to start fast."""

from dataclasses import dataclass

import pulumi

from ..core.mistakes import Mistakes
from ..core.tags import check_tags
from ..ec2.instance_rules import check_types
from ..node_images.builder import ImageArgs, NodeImage
from ..tables.regions import check_region
from ..tables.windows import WINDOWS_RELEASES
from .image_plan import cache_component, check_windows_image


@dataclass(frozen=True, kw_only=True)
class EksWindowsImageArgs(ImageArgs):
    """The arguments of an AMI for Windows nodes."""

    region: str
    """The Region in which the image is built and used, which is that of the provider."""
    kubernetes_version: str
    """The Kubernetes minor of the cluster, such as ``1.36``."""
    windows: str = "2022"
    """``2022`` (default), ``2025`` (Kubernetes 1.35 or newer) or ``2019``."""
    root_volume_size_gib: int = 80
    """Size of the image's disk in GiB; 80 by default, at least 50."""


def check_image_args(args: EksWindowsImageArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = check_windows_image(args)
    found.take(check_types(args))
    found.take(check_region(args.region))
    found.take(check_tags(args.tags))
    return found


class EksWindowsImage(NodeImage):
    """A custom AMI for Windows nodes on EKS, for ``image_id`` of a node group.

    :raises WinkubeError: ``WK-EKS-010`` to ``-018``, ``-095`` to ``-098``, ``WK-NET-001``, ``WK-TAG``.
    """

    def __init__(self, name: str, args: EksWindowsImageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        self._args = args
        super().__init__(name, args, args.region, opts, check_image_args(args))

    def _parent_parameter(self) -> str:
        return WINDOWS_RELEASES[self._args.windows].ami_parameter(self._args.edition, self._args.kubernetes_version)

    def _create_components(self) -> list[pulumi.Input[str]]:
        images = self._args.cached_images
        return [self._create_component("cache", cache_component(images))] if images else []
