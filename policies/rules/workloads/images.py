"""Images of containers."""

from collections.abc import Iterator

from ...frameworks import cis_eks, cis_kubernetes
from ...model import TEXTS, Option, Planned, Settings, Value, every, resource_rule
from ...pods import container_name, pod_of, split_image
from ...resource_types import WORKLOADS


@resource_rule(
    "image-tag-fixed",
    "Images have a fixed tag or a digest",
    types=WORKLOADS,
    references=[cis_eks("5.1.4"), cis_kubernetes("5.5.1")],
    steps="use a release tag or a digest",
    url="https://kubernetes.io/docs/concepts/containers/images/",
)
def image_tag_fixed(resource: Planned, settings: Settings) -> Iterator[str]:
    """`latest` can be a different image on each node, and on Windows often has another build."""

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text
        if image and "@sha256:" not in image and split_image(image)[1] in (None, "latest"):
            yield f'{container_name(container)} runs "{image}", which has no fixed tag'

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "image-registry-approved",
    "Images come from approved registries",
    types=WORKLOADS,
    references=[cis_eks("5.1.4")],
    steps="copy the image to your own registry, for example with a pull-through cache of ECR",
    url="https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html",
    options={"registries": Option([], "prefixes of approved image names; if empty, all are approved", TEXTS)},
)
def image_registry_approved(resource: Planned, settings: Settings) -> Iterator[str]:
    """Nothing is judged until the option `registries` lists some."""
    approved = tuple(settings["registries"])

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text
        if image and not image.startswith(approved):
            yield f'{container_name(container)}: "{image}" is not from an approved registry'

    pod = pod_of(resource)
    yield from every(pod.containers if pod and approved else (), check)
