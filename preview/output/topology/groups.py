"""What a group of nodes in a plan is: its system and release, image, instance types, size and cluster.

Managed and self-managed groups, Fargate profiles and single instances of any program; the system is told by the
first of these that speaks: a component's own word, the AMI type, the image, the user data, labels and taints.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...model import UNKNOWN, Resource, walk
from ..artefacts import decoded_user_data
from .links import Links, part, text, texts

GROUPS: Mapping[str, str] = {
    "aws:eks/nodeGroup:NodeGroup": "subnetIds",
    "aws:eks/fargateProfile:FargateProfile": "subnetIds",
    "aws:autoscaling/group:Group": "vpcZoneIdentifiers",
    "aws:ec2/instance:Instance": "subnetId",
    "eks:index:ManagedNodeGroup": "subnetIds",
    "eks:index:NodeGroup": "nodeSubnetIds",
    "eks:index:NodeGroupV2": "nodeSubnetIds",
}
"""Types that run nodes, with the property that names their subnets."""
TEMPLATES = ("aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/launchConfiguration:LaunchConfiguration")
CLUSTERS = ("aws:eks/cluster:Cluster", "eks:index:Cluster")
_SYSTEMS: tuple[tuple[str, str, str], ...] = (
    (r"WINDOWS_(?:CORE|FULL)_(\d{4})", "windows", "Windows Server"),
    (r"Windows_Server-(\d{4})", "windows", "Windows Server"),
    (r"(?i)bottlerocket", "linux", "Bottlerocket"),
    (r"(?i)al2023|amazon-linux-2023|amazon-linux-al2023", "linux", "Amazon Linux 2023"),
    (r"AL2_|(?i:amazon-linux-2/|amzn2-)", "linux", "Amazon Linux 2"),
    (r"(?i)ubuntu", "linux", "Ubuntu"),
)
"""What names of images and AMI types look like: pattern, system, words; a first group is the release."""
_POWERSHELL = re.compile(r"(?i)<powershell>|EKSBootstrap|kubelet\.exe")
_SHELL = re.compile(r"^#!|^#cloud-config|node\.eks\.aws|\[settings\.kubernetes\]|kubeadm (?:init|join)", re.MULTILINE)
_CONTROL_PLANE = re.compile(r"(?i)control-?plane|(?:^|[/-])master$")
_SAID = frozenset({"amiParameter", "windowsRelease"})
"""By these registered outputs a component says what its group runs."""
_CLUSTER_TAG = "kubernetes.io/cluster/"


@dataclass(frozen=True, slots=True)
class Group:
    """One group of nodes, in words."""

    name: str
    urn: str
    kind: str
    """``windows``, ``linux``, ``fargate``, ``control-plane`` or ``nodes`` (the system is not known)."""
    system: str
    """``Windows Server 2022``, ``Bottlerocket``, …; ``""`` where nothing tells."""
    cluster: str
    """Name of the cluster, ``""`` where it is not known."""
    instance_types: tuple[str, ...]
    low: str
    high: str
    """Least and greatest number of nodes; ``?`` where it is not known."""
    image: str
    """AMI type, AMI, or the parameter that has it."""
    capacity: str
    """``spot`` or ``""``."""
    subnets: tuple[str, ...] = ()
    """Names of the subnets, or ids of existing ones."""

    @property
    def size(self) -> str:
        """``1–3``, or one number where both are the same."""
        return self.low if self.low == self.high else f"{self.low}–{self.high}"

    @property
    def facts(self) -> tuple[str, ...]:
        """What to say beside name and system."""
        types = ", ".join(self.instance_types[:3]) + (" …" if len(self.instance_types) > 3 else "")
        nodes = "" if self.kind == "fargate" else f"{self.size} node{'' if self.size == '1' else 's'}"
        return tuple(filter(None, (types, nodes, self.capacity, self.image)))


def read_group(links: Links, resource: Resource, cluster: Resource | None) -> Group:
    """The group that a resource of one of :data:`GROUPS` makes."""
    sources = [resource, *_templates(links, resource)]
    spoken = (component.outputs for component in links.ancestors(resource) if _SAID & component.outputs.keys())
    said = next(spoken, {})
    image = _image(sources, said)
    kind, system = _system(resource, sources, said, image)
    if _is_control_plane(links, resource):
        kind = "control-plane"
    low, high = _size(resource)
    return Group(
        name=resource.name,
        urn=resource.urn,
        kind=kind,
        system=system,
        cluster=cluster_name(cluster) if cluster else _named_cluster(resource),
        instance_types=_instance_types(sources),
        low=low,
        high=high,
        image=image,
        capacity="spot" if _is_spot(sources) else "",
    )


def cluster_name(cluster: Resource) -> str:
    """The name of a cluster, as far as it is known."""
    return text(cluster.inputs.get("name")) or cluster.name


def _templates(links: Links, resource: Resource) -> list[Resource]:
    names = ("launchTemplate", "mixedInstancesPolicy", "launchConfiguration")
    return [found for name in names for found in links.find(resource, name, TEMPLATES)]


def _first(sources: list[Resource], *paths: tuple[str | int, ...]) -> str:
    """The first known text under one of the paths in one of the resources."""
    found = (text(part(source.inputs, *path)) for path in paths for source in sources)
    return next(filter(None, found), "")


def _image(sources: list[Resource], said: Mapping[str, Any]) -> str:
    own = _first(sources, ("amiType",))
    if own and own != "CUSTOM":
        return own
    return text(said.get("amiParameter")) or _first(sources, ("imageId",), ("ami",), ("amiId",)) or own


def _system(resource: Resource, sources: list[Resource], said: Mapping[str, Any], image: str) -> tuple[str, str]:
    if "fargate" in resource.type:
        return "fargate", "Fargate"
    release = text(said.get("windowsRelease"))
    if release:
        return "windows", f"Windows Server {release}"
    for pattern, kind, words in _SYSTEMS:
        found = re.search(pattern, image)
        if found:
            return kind, " ".join(filter(None, (words, *found.groups())))
    script = next(filter(None, map(_script, sources)), "")
    if _POWERSHELL.search(script) or _speaks_of_windows(resource):
        return "windows", "Windows"
    if _SHELL.search(script):
        return "linux", "Linux"
    # EKS itself takes Amazon Linux where a managed group names neither type nor image.
    managed = resource.type.startswith("aws:eks/") and not image and "releaseVersion" not in resource.inputs
    custom = any(source.inputs.get("imageId") is not None for source in sources)
    return ("linux", "Amazon Linux") if managed and not custom else ("nodes", "")


def _script(source: Resource) -> str:
    for name in ("userData", "userDataBase64"):
        value = source.inputs.get(name)
        if isinstance(value, str):
            return decoded_user_data(value)
    return ""


def _speaks_of_windows(resource: Resource) -> bool:
    for name in ("taints", "labels", "tags"):
        for path, value in walk(resource.inputs.get(name)):
            if value == "windows" and path[-1] in ("value", "kubernetes.io/os", "os"):
                return True
    return False


def _is_control_plane(links: Links, resource: Resource) -> bool:
    if resource.type.startswith(("aws:eks/", "eks:")):
        return False
    components = [component.type.rpartition(":")[2] for component in links.ancestors(resource)]
    words = [key for key, _ in _tags(resource)] + [value for key, value in _tags(resource) if "role" in key.lower()]
    return any(_CONTROL_PLANE.search(word) for word in (*components[:1], *words, resource.name))


def _tags(resource: Resource) -> Iterator[tuple[str, str]]:
    """The tags of a resource: a mapping with most types, a list of keys and values with Auto Scaling."""
    tags = resource.inputs.get("tags")
    if isinstance(tags, dict):
        yield from ((key, text(value)) for key, value in tags.items())
    elif isinstance(tags, list):
        yield from ((text(part(tag, "key")), text(part(tag, "value"))) for tag in tags)


def _named_cluster(resource: Resource) -> str:
    named = text(resource.inputs.get("clusterName"))
    tagged = (key.removeprefix(_CLUSTER_TAG) for key, _ in _tags(resource) if key.startswith(_CLUSTER_TAG))
    return named or next(tagged, "")


def _instance_types(sources: list[Resource]) -> tuple[str, ...]:
    for source in sources:
        several = texts(source.inputs.get("instanceTypes"))
        if several:
            return tuple(several)
    one = _first(sources, ("instanceType",))
    if one:
        return (one,)
    overrides = part(sources[0].inputs, "mixedInstancesPolicy", "launchTemplate", "overrides")
    several = [text(part(override, "instanceType")) for override in overrides] if isinstance(overrides, list) else []
    return tuple(filter(None, several))


def _size(resource: Resource) -> tuple[str, str]:
    if resource.type == "aws:ec2/instance:Instance":
        return "1", "1"
    inputs = resource.inputs
    low = _number(inputs, ("scalingConfig", "minSize"), ("minSize",))
    high = _number(inputs, ("scalingConfig", "maxSize"), ("maxSize",))
    return low, high


def _number(inputs: Any, *paths: tuple[str, ...]) -> str:
    found = next((value for path in paths if (value := part(inputs, *path)) is not None), UNKNOWN)
    return text(found) or "?"


def _is_spot(sources: list[Resource]) -> bool:
    return _first(sources, ("capacityType",)) == "SPOT" or any(
        part(source.inputs, "instanceMarketOptions", "marketType") == "spot" for source in sources
    )
