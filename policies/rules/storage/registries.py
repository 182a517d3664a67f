"""Registries of images."""

from collections.abc import Iterator

from ...frameworks import cis_eks, controls_page, fsbp
from ...model import Planned, Settings, Stack, Undecided, Violation, resource_rule, stack_rule
from ...resource_types import ECR_LIFECYCLE, ECR_REPOSITORY


@resource_rule(
    "registry-scans",
    "Images are scanned when they are pushed",
    types=[ECR_REPOSITORY],
    references=[fsbp("ECR.1"), cis_eks("5.1.1")],
    steps="set image_scanning_configuration.scan_on_push to true; only enhanced scanning supports Windows images",
    url=controls_page("ecr"),
)
def registry_scans(resource: Planned, settings: Settings) -> Iterator[str]:
    """Disable this rule if scanning is configured for the whole registry."""
    if not resource["imageScanningConfiguration"]["scanOnPush"].flag:
        yield "images are not scanned when they are pushed"


@resource_rule(
    "registry-immutable-tags",
    "Image tags are immutable",
    types=[ECR_REPOSITORY],
    references=[fsbp("ECR.2")],
    steps='set image_tag_mutability to "IMMUTABLE"',
    url=controls_page("ecr"),
)
def registry_immutable_tags(resource: Planned, settings: Settings) -> Iterator[str]:
    """Immutable tags with exclusions are accepted."""
    if not str(resource["imageTagMutability"].text or "MUTABLE").startswith("IMMUTABLE"):
        yield "tags can be moved to other images"


@stack_rule(
    "registry-lifecycle",
    "Registries delete old images",
    types=[ECR_REPOSITORY],
    severity="low",
    references=[fsbp("ECR.3")],
    steps="add an aws.ecr.LifecyclePolicy; Windows images are several GB each",
    url=controls_page("ecr"),
)
def registry_lifecycle(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """A policy is matched by the repository that it refers to, or by name."""
    kept: set[str] = set()
    unclear = ""
    for policy in stack.of(ECR_LIFECYCLE):
        sources = stack.sources(policy, "repository", ECR_REPOSITORY)
        kept |= {source.urn for source in sources}
        kept |= {found.urn for found in stack.of(ECR_REPOSITORY)
                 if found["name"].settled and found["name"].raw == policy["repository"].raw}  # fmt: skip
        if not sources and policy["repository"].unknown:
            unclear = f"{policy.name}.repository"
    missing = [found for found in stack.of(ECR_REPOSITORY) if found.urn not in kept]
    if missing and unclear:
        raise Undecided(unclear)
    for repository in missing:
        yield Violation("images are kept forever", repository.urn)
