"""An own image of Windows nodes of EKS: what is wrong with the wish. Pure; what both flavours share is in node_images.

Source: EKS user guide, "Create a custom Windows AMI with Image Builder".
"""

from typing import Protocol

from ..core.mistakes import Mistakes
from ..node_images.plan import FastLaunch, WindowsImageLike, cache_component, check_image
from .node_group_rules import WINDOWS_MINIMUM_ROOT_GIB, check_windows_release

__all__ = ["FastLaunch", "cache_component", "check_windows_image"]


class EksImageLike(WindowsImageLike, Protocol):
    """What the checks need of an image of EKS."""

    @property
    def edition(self) -> str: ...
    @property
    def kubernetes_version(self) -> str: ...


def check_windows_image(image: EksImageLike) -> Mistakes:
    """Every mistake in an image, paths relative to it."""
    found = check_windows_release(image.windows, image.edition, image.kubernetes_version)
    found.take(check_image(image, WINDOWS_MINIMUM_ROOT_GIB))
    return found
