"""Images of containers."""

from collections.abc import Iterator

from ...frameworks import cis_eks, cis_kubernetes
from ...model import TEXTS, Option, Planned, Settings, Value, every, resource_rule
from ...pods import container_name, pod_of, split_image
from ...resource_types import WORKLOADS


@resource_rule(
    "image-tag-fixed",
    "Images are named by a tag that means one image, or by digest",
    types=WORKLOADS,
    references=[cis_eks("5.1.4"), cis_kubernetes("5.5.1")],
    steps="name the release in the tag, or the digest",
    url="https://kubernetes.io/docs/concepts/containers/images/",
)
def image_tag_fixed(resource: Planned, settings: Settings) -> Iterator[str]:
    """`latest` is another image on every node, and on Windows often of another build."""

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text
        if image and "@sha256:" not in image and split_image(image)[1] in (None, "latest"):
            yield f'{container_name(container)} runs whatever "{image}" means at the time'

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "image-registry-approved",
    "Images come from approved registries",
    types=WORKLOADS,
    references=[cis_eks("5.1.4")],
    steps="copy the image into a registry of your own, for example by a pull-through cache of ECR",
    url="https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html",
    options={"registries": Option([], "beginnings of image names that are approved; none approves all", TEXTS)},
)
def image_registry_approved(resource: Planned, settings: Settings) -> Iterator[str]:
    """Nothing is asked until registries are named."""
    approved = tuple(settings["registries"])

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text
        if image and not image.startswith(approved):
            yield f'{container_name(container)}: "{image}" is of no approved registry'

    pod = pod_of(resource)
    yield from every(pod.containers if pod and approved else (), check)
