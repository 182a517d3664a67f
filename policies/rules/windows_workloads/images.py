"""Images, and the Windows release that they are built for."""

from collections.abc import Iterator

from ...eks_resources import release_of_group
from ...frameworks import WINDOWS_COMPATIBILITY, WINDOWS_COMPATIBILITY_PAGE, best_practices, eks_guide
from ...inventory import inventory
from ...model import Planned, Settings, Stack, Value, Violation, every, resource_rule, stack_rule
from ...pods import (
    LINUX_IMAGE,
    WINDOWS_IMAGE,
    Pod,
    container_name,
    image_release,
    retired_release,
    windows_pod,
    windows_pods,
)
from ...resource_types import WORKLOADS

VERSION_PAGE = "https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/version-compatibility"


@resource_rule(
    "windows-one-system",
    "All containers of a pod are for one operating system",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="split the pod, or use images for Windows",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_one_system(resource: Planned, settings: Settings) -> Iterator[str]:
    """Judged only by unambiguous image names."""
    pod = windows_pod(resource)

    def check(container: Value) -> Iterator[str]:
        image = (container["image"].text or "").lower()
        if LINUX_IMAGE.search(image) and not WINDOWS_IMAGE.search(image):
            yield f'{container_name(container)} runs the Linux image "{image}" in a pod for Windows'

    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "windows-image-fits-build",
    "Images are built for the Windows release of their nodes",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="use the image tag for the nodes' release, or nodes with the image's release",
    url=VERSION_PAGE,
)
def windows_image_fits_build(resource: Planned, settings: Settings) -> Iterator[str]:
    """Process isolation needs the same build for images and nodes."""
    pod = windows_pod(resource)
    if pod is None:
        return
    chosen = pod.releases()
    releases: dict[str, str] = {}

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text or ""
        retired, release = retired_release(image), image_release(image)
        if retired:
            yield f'{container_name(container)}: EKS has no nodes for images of {retired}: "{image}"'
        elif release and len(chosen) == 1 and release not in chosen:
            wanted = next(iter(chosen))
            built = f'"{image}" is built for Windows Server {release}'
            yield f"{container_name(container)}: {built}, but its nodes run {wanted}"
        elif release:
            releases[release] = image

    yield from every(pod.containers, check)
    if len(releases) > 1:
        yield f"the containers are built for different releases: {' and '.join(sorted(releases))}"


@stack_rule(
    "windows-image-has-nodes",
    "There are nodes for the Windows release of every image",
    types=WORKLOADS,
    severity="high",
    references=[best_practices("Windows scheduling")],
    steps="add a node group of that release, or rebuild the image",
    url=VERSION_PAGE,
)
def windows_image_has_nodes(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Compares with the Windows groups that the program creates. Says nothing if the image of one is unknown."""
    groups = inventory(stack).windows_groups
    releases = {release_of_group(group) for group in groups}
    if not groups or None in releases:
        return

    def check(found: tuple[Planned, Pod]) -> Iterator[Violation]:
        for container in found[1].containers:
            release = image_release(container["image"].text or "")
            if release and release not in releases:
                have = " and ".join(sorted(name for name in releases if name))
                message = f"{container_name(container)} is built for Windows Server {release}, but the nodes run {have}"
                yield Violation(message, found[0].urn)

    yield from every(windows_pods(stack), check)
