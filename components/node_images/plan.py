"""An own image of Windows nodes: what both flavours build into it, and what is wrong with the wish. Pure.

Sources: EC2 Image Builder user guide; EKS best practices guide, "Windows AMI" (image caching, fast launch); EC2 user
guide, "Configure EC2 Fast Launch".
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Rule
from ..kubernetes.windows_pods import image_build
from ..tables.windows import WINDOWS_RELEASES

CUSTOM_AMI_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/eks-custom-ami-windows.html"
FAST_LAUNCH_PAGE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/win-fast-launch-configure.html"

CACHED_IMAGE = Rule(
    "WK-EKS-095",
    "Images cached in a node image need full names and must match the node's Windows build.",
    CUSTOM_AMI_PAGE,
)
FAST_LAUNCH = Rule(
    "WK-EKS-096", "Fast launch needs at least one snapshot and at least six parallel launches.", FAST_LAUNCH_PAGE
)
IMAGE_VOLUME = Rule(
    "WK-EKS-097", "The disk of a node image must be as large as that of its base image.", CUSTOM_AMI_PAGE
)
IMAGE_SCHEDULE = Rule(
    "WK-EKS-098",
    "An Image Builder schedule is a cron expression.",
    "https://docs.aws.amazon.com/imagebuilder/latest/userguide/image-builder-cron.html",
)

LEAST_PARALLEL_LAUNCHES = 6
_IMAGE = re.compile(r"[a-z0-9.-]+(:\d+)?/[a-z0-9._/-]+(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})")
_ECR = re.compile(r"\d{12}\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn|\.eu)?/")


@dataclass(frozen=True, kw_only=True)
class FastLaunch:
    """Windows fast launch: pre-provisioned snapshots let nodes start up to 65% faster, at the cost of their storage."""

    account_id: str
    """ID of the account that owns the image, twelve digits."""
    snapshots: int = 5
    """Number of pre-provisioned snapshots; 5 by default."""
    max_parallel_launches: int = LEAST_PARALLEL_LAUNCHES
    """Maximum number of parallel instances that prepare snapshots; 6 by default, the minimum of EC2."""


class WindowsImageLike(Protocol):
    """What the checks need of an image."""

    @property
    def windows(self) -> str: ...  # noqa: D102
    @property
    def cached_images(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def fast_launch(self) -> FastLaunch | None: ...  # noqa: D102
    @property
    def root_volume_size_gib(self) -> int: ...  # noqa: D102
    @property
    def schedule(self) -> str | None: ...  # noqa: D102


def check_image(image: WindowsImageLike, least_gib: int) -> Mistakes:
    """Every mistake in what an image of either flavour holds, paths relative to it.

    :param least_gib: size of the disk of the image below it.
    """
    found = Mistakes()
    release = WINDOWS_RELEASES.get(image.windows)
    for index, name in enumerate(image.cached_images):
        build = image_build(name)
        if not _IMAGE.fullmatch(name):
            found.add(CACHED_IMAGE, ("cached_images", index), "an image needs a registry and a tag or digest",
                      'write a name such as "mcr.microsoft.com/windows/servercore:ltsc2022"', name)  # fmt: skip
        elif release and build and build != release.build:
            found.add(CACHED_IMAGE, ("cached_images", index),
                      f"this image has build {build}, and Windows Server {image.windows} runs {release.build}",
                      f'use the tag "{release.image_tag}"', name)  # fmt: skip
    if image.root_volume_size_gib < least_gib:
        found.add(IMAGE_VOLUME, ("root_volume_size_gib",), f"the base image has {least_gib} GiB",
                  f"set it to {least_gib} or more", image.root_volume_size_gib)  # fmt: skip
    if image.schedule is not None and not re.fullmatch(r"cron\(\S+( \S+){5}\)", image.schedule):
        found.add(IMAGE_SCHEDULE, ("schedule",), "a schedule needs six fields inside cron(…)",
                  'write a schedule such as "cron(0 4 ? * WED#3 *)", after the second Tuesday\'s updates',
                  image.schedule)  # fmt: skip
    if image.fast_launch is not None:
        found.take(_check_fast_launch(image.fast_launch), "fast_launch")
    return found


def _check_fast_launch(wish: FastLaunch) -> Mistakes:
    found = Mistakes()
    if not re.fullmatch(r"\d{12}", wish.account_id):
        found.add(
            FAST_LAUNCH,
            ("account_id",),
            "an account ID has twelve digits",
            "write the ID of the account that owns the image, in quotes",
            wish.account_id,
        )
    if wish.snapshots < 1:
        found.add(
            FAST_LAUNCH,
            ("snapshots",),
            "fast launch needs at least one snapshot",
            "set snapshots to 1 or more, or leave fast_launch out",
            wish.snapshots,
        )
    if wish.max_parallel_launches < LEAST_PARALLEL_LAUNCHES:
        found.add(FAST_LAUNCH, ("max_parallel_launches",), f"must be {LEAST_PARALLEL_LAUNCHES} or more",
                  f"set it to {LEAST_PARALLEL_LAUNCHES}", wish.max_parallel_launches)  # fmt: skip
    return found


def cache_component(images: Sequence[str]) -> str:
    """The build component that pulls images into the namespace of containerd that the kubelet sees.

    JSON, which is YAML as well, so that no name can end its line.
    """
    return powershell_component("cache-images", "Pull", [*map(_pull, images)])


def powershell_component(name: str, step: str, commands: Sequence[str], *, seconds: int = 7200) -> str:
    """A build component of one step that runs commands in PowerShell and ends at the first error.

    An exit code of 3010 has the machine restarted, and the step run again.
    """
    return json.dumps({
        "name": name,
        "schemaVersion": 1.0,
        "phases": [{"name": "build", "steps": [{
            "name": step,
            "action": "ExecutePowerShell",
            "timeoutSeconds": seconds,
            "onFailure": "Abort",
            "inputs": {"commands": ["$ErrorActionPreference = 'Stop'", *commands]},
        }]}],
    }, indent=1)  # fmt: skip


def _pull(image: str) -> str:
    registry = _ECR.match(image)
    login = ""
    if registry:
        login = f' --user "AWS:$((Get-ECRLoginCommand -Region {registry["region"]}).Password)"'
    return f"& ctr -n k8s.io images pull{login} '{image}'; if ($LASTEXITCODE -ne 0) {{ exit $LASTEXITCODE }}"


def update_component_arn(region: str, partition: str) -> str:
    """AWS' own build component that installs the newest updates of Windows."""
    return f"arn:{partition}:imagebuilder:{region}:aws:component/update-windows/x.x.x"


def fast_launch_configuration(wish: FastLaunch) -> dict[str, Any]:
    """Fast launch, as Image Builder's distribution takes it."""
    return {
        "account_id": wish.account_id,
        "enabled": True,
        "max_parallel_launches": wish.max_parallel_launches,
        "snapshot_configuration": {"target_resource_count": wish.snapshots},
    }
