"""Managed node groups and Fargate profiles."""

from collections.abc import Iterator

from winkube.core.mistakes import Mistake
from winkube.scheduling.labels import EKS_EFFECTS, Taint, check_labels, check_taints
from winkube.tables.instance_types import architecture

from ...frameworks import cis_eks, eks_guide, fsbp
from ...model import Planned, Settings, Value, every, resource_rule, texts
from ...resource_types import FARGATE_PROFILE, NODE_GROUP


@resource_rule(
    "node-image-maintained",
    "Nodes run an image that is still maintained",
    types=[NODE_GROUP],
    severity="high",
    references=[fsbp("EKS.2"), eks_guide("Amazon Linux 2 AMI deprecation")],
    steps="set ami_type to AL2023_x86_64_STANDARD or BOTTLEROCKET_x86_64",
    url="https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html",
)
def node_image_maintained(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS stopped publishing Amazon Linux 2 images on 26 November 2025; the last were for Kubernetes 1.32."""
    if (resource["amiType"].text or "").startswith("AL2_"):
        yield "EKS stopped publishing Amazon Linux 2 images on 26 November 2025"


@resource_rule(
    "node-group-architecture",
    "Instance types match the image of their group",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Managed node groups")],
    steps="use instance types with the architecture of ami_type; create one group for each architecture",
    url="https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
)
def node_group_architecture(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS refuses mixed architectures. Types that are not in the library's table are not judged."""
    names = texts(resource["instanceTypes"])
    known = {name: found for name in names if (found := architecture(name))}
    ami = resource["amiType"].text or ""
    wanted = "arm64" if "ARM" in ami.upper() else "x86_64" if "x86_64" in ami or ami.startswith("AL2_x86") else None
    wrong = [name for name, found in known.items() if wanted and found != wanted]
    if wrong:
        yield f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not {wanted}, which {ami} requires"
    elif len(set(known.values())) > 1:
        yield f"the instance types have different architectures: {', '.join(names)}"


@resource_rule(
    "node-group-sizes",
    "The sizes of a group are consistent",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Managed node groups")],
    steps="set 0 <= min_size <= desired_size <= max_size, and max_size to 1 or more",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html",
)
def node_group_sizes(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS refuses other sizes."""
    scaling = resource["scalingConfig"]
    low, desired, high = (scaling[name].number for name in ("minSize", "desiredSize", "maxSize"))
    if high is not None and high < 1:
        yield f"maxSize must be at least 1, got {high}"
    elif low is not None and high is not None and desired is not None and not 0 <= low <= desired <= high:
        yield f"minSize {low}, desiredSize {desired} and maxSize {high} are not in order"


@resource_rule(
    "node-group-labels",
    "EKS accepts the labels and taints of the group",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Managed node groups")],
    steps="use keys under your own domain, such as example.com/team",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html",
)
def node_group_labels(resource: Planned, settings: Settings) -> Iterator[str]:
    """Uses the checks of the node group components: syntax, reserved domains, numbers."""
    labels = {key: value.text or "" for key, value in resource["labels"].entries()}
    words = {theirs: ours for ours, theirs in EKS_EFFECTS.items()}
    taints = [
        Taint(key=taint["key"].text or "", value=taint["value"].text or "",
              effect=words.get(taint["effect"].text or "", taint["effect"].text or ""))
        for taint in resource["taints"].items()
    ]  # fmt: skip
    for mistake in [*check_labels(labels), *check_taints(taints)]:
        yield _sentence(mistake)


def _sentence(mistake: Mistake) -> str:
    field, *inner = mistake.path
    what = f', got "{inner[0]}"' if field == "labels" and inner else ""
    return f"{field}: {mistake.message}{what}; {mistake.remedy}"


@resource_rule(
    "node-group-remote-access",
    "Remote access to nodes is not open to the internet",
    types=[NODE_GROUP],
    severity="critical",
    level="mandatory",
    references=[fsbp("EC2.13"), fsbp("EC2.14"), cis_eks("5.4.3")],
    steps="remove remote_access, or list security groups in source_security_group_ids",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_RemoteAccessConfig.html",
)
def node_group_remote_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """Given a key without source groups, EKS opens port 22, or 3389 on Windows, to 0.0.0.0/0."""
    access = resource["remoteAccess"]
    key = access["ec2SshKey"]
    if key.given:
        key.known()
        groups = access["sourceSecurityGroupIds"]
        groups.known()
        if not groups.items():
            yield "EKS opens SSH, or RDP on Windows, to the whole internet: sourceSecurityGroupIds is not set"


@resource_rule(
    "fargate-selectors",
    "Fargate profiles select specific namespaces",
    types=[FARGATE_PROFILE],
    severity="low",
    references=[eks_guide("Define which Pods use Fargate")],
    steps="list namespaces in selectors, without a star that matches all",
    url="https://docs.aws.amazon.com/eks/latest/userguide/fargate-profile.html",
)
def fargate_selectors(resource: Planned, settings: Settings) -> Iterator[str]:
    """A profile for every namespace also selects Windows pods, which then never start."""

    def check(selector: Value) -> Iterator[str]:
        if selector["namespace"].text == "*" and not selector["labels"].given:
            yield "the profile selects the pods of every namespace, including those for other nodes"

    yield from every(resource["selectors"].items(), check)
