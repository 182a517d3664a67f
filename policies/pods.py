"""Pods as Kubernetes objects describe them, and whether they are for Windows nodes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from winkube.core.mistakes import Rule
from winkube.kubernetes.windows_pods import check_windows_pod
from winkube.tables.windows import BUILD_LABEL, WINDOWS_RELEASES

from .model import Planned, Stack, System, Undecided, Value
from .resource_types import POD, POD_TEMPLATE_OWNERS, RUNTIME_CLASS, WORKLOADS

OS_LABEL = "kubernetes.io/os"
BETA_OS_LABEL = "beta.kubernetes.io/os"
BUILD_OF_RELEASE: Mapping[str, str] = {release: row.build for release, row in WINDOWS_RELEASES.items()}
RELEASE_OF_BUILD: Mapping[str, str] = {build: release for release, build in BUILD_OF_RELEASE.items()}
RETIRED_TAGS: Mapping[str, str] = {
    "ltsc2016": "Windows Server 2016", "1607": "Windows Server 2016", "1709": "1709", "1803": "1803", "1903": "1903",
    "1909": "1909", "2004": "2004", "20h2": "20H2",
}  # fmt: skip
"""Marks of Windows images in tags for releases that no node of EKS runs (Kubernetes, "Windows containers")."""
RELEASE_TAGS: Mapping[str, str] = {"1809": "2019", "2019": "2019", "2022": "2022", "2025": "2025"} | {
    f"ltsc{release}": release for release in WINDOWS_RELEASES
}
WINDOWS_IMAGE = re.compile(r"(?:^|/)windows(?:$|/)|nanoserver|servercore|windowsservercore|(?:^|[/:_-])ltsc\d{4}")
LINUX_IMAGE = re.compile(
    r"^(?:docker\.io/|public\.ecr\.aws/docker/)?(?:library/)?(?:alpine|debian|ubuntu|amazonlinux|centos|fedora)(?:[:@]|$)"
    r"|[:-]alpine(?:[\d.]*)$|-(?:bookworm|bullseye|trixie|jammy|noble)(?:-slim)?$"
)


@dataclass(frozen=True, slots=True)
class Pod:
    """The template of a pod."""

    spec: Value
    metadata: Value

    @property
    def security(self) -> Value:
        """Its security context."""
        return self.spec["securityContext"]

    @property
    def containers(self) -> list[Value]:
        """All containers, those that initialise included."""
        return [
            container
            for kind in ("initContainers", "containers", "ephemeralContainers")
            for container in self.spec[kind].items()
        ]

    @property
    def volumes(self) -> list[Value]:
        """Its volumes."""
        return self.spec["volumes"].items()

    def contexts(self) -> list[Value]:
        """The security context of the pod and of each container."""
        return [self.security, *(container["securityContext"] for container in self.containers)]

    def selector(self, label: str) -> str | None:
        """The value of a label that nodes must have, by selector alone: affinity is not seen by webhooks."""
        value = self.spec["nodeSelector"][label].settled
        return value if isinstance(value, str) else None

    def selected_by(self, labels: Value) -> bool:
        """Whether it has all of these labels, as far as they are known; no labels select nothing."""
        wanted, own = _mapping(labels), _mapping(self.metadata["labels"])
        return bool(wanted) and all(own.get(key) == value for key, value in wanted.items())

    def host_process(self) -> bool:
        """Whether it is a HostProcess pod, as far as that is known."""
        return any(context.at("windowsOptions", "hostProcess").settled is True for context in self.contexts())

    def system(self) -> System | None:
        """The system that it says it is for; none where it says nothing."""
        for said in (self.spec["os"]["name"].settled, self.selector(OS_LABEL), self.selector(BETA_OS_LABEL)):
            if said in ("windows", "linux"):
                return said
        if release_of_class(self.spec["runtimeClassName"].settled) or self.selector(BUILD_LABEL):
            return "windows"
        by_affinity = self._affinity()
        if by_affinity:
            return by_affinity
        if any(context.raw and context["windowsOptions"].settled for context in self.contexts()):
            return "windows"
        images = [image for container in self.containers if isinstance(image := container["image"].settled, str)]
        if any(WINDOWS_IMAGE.search(image.lower()) for image in images):
            return "windows"
        return None

    def _affinity(self) -> System | None:
        required = self.spec.at("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
        for term in required["nodeSelectorTerms"].items():
            for expression in term["matchExpressions"].items():
                if expression["key"].settled not in (OS_LABEL, BETA_OS_LABEL):
                    continue
                values = [value.settled for value in expression["values"].items()]
                operator = expression["operator"].settled
                if operator == "In" and values in (["windows"], ["linux"]):
                    return cast(System, values[0])
                if operator == "NotIn" and values in (["windows"], ["linux"]):
                    return "linux" if values == ["windows"] else "windows"
        return None

    def releases(self) -> set[str]:
        """The Windows releases of the nodes that it chooses, by build or RuntimeClass."""
        chosen = {RELEASE_OF_BUILD.get(self.selector(BUILD_LABEL) or ""),
                  release_of_class(self.spec["runtimeClassName"].settled)}  # fmt: skip
        return {release for release in chosen if release}


def pod_of(resource: Planned) -> Pod | None:
    """The pod that a workload makes.

    :raises Undecided: when the workload's own description is not known yet.
    """
    way = POD_TEMPLATE_OWNERS.get(resource.type)
    if way is None:
        return None
    if resource.type == POD:
        return Pod(resource["spec"], resource["metadata"])
    template = resource["spec"].at(*way)
    return Pod(template["spec"], template["metadata"])


def windows_pod(resource: Planned) -> Pod | None:
    """The pod that a workload makes if it says that it is for Windows nodes.

    :raises Undecided: when what would say so is not known yet.
    """
    pod = pod_of(resource)
    if pod is None:
        return None
    if pod.spec.unknown:
        raise Undecided(pod.spec.path)
    system = pod.system()
    if system is None and pod.spec["nodeSelector"].unknown:
        raise Undecided(pod.spec["nodeSelector"].path)
    return pod if system == "windows" else None


def pods(stack: Stack) -> Iterator[tuple[Planned, Pod]]:
    """The pods of all workloads."""
    for resource in stack.of(*sorted(WORKLOADS)):
        pod = pod_of(resource)
        if pod is not None:
            yield resource, pod


def windows_pods(stack: Stack) -> list[tuple[Planned, Pod]]:
    """The pods that say that they are for Windows nodes, as far as that is known."""
    found = stack.__dict__.get("_windows_pods")
    if found is None:
        found = [(resource, pod) for resource, pod in pods(stack) if pod.system() == "windows"]
        stack.__dict__["_windows_pods"] = found
    return found


def release_of_class(name: Any) -> str | None:
    """The Windows release in the name of a RuntimeClass such as ``windows-2022``."""
    found = re.fullmatch(r"windows[-_]?(?:server[-_]?)?(?:ltsc)?(\d{4})", name) if isinstance(name, str) else None
    return found[1] if found and found[1] in WINDOWS_RELEASES else None


def runtime_class_builds(stack: Stack) -> dict[str, str]:
    """Name of each RuntimeClass in the plan to the build that it selects."""
    found: dict[str, str] = {}
    for resource in stack.of(RUNTIME_CLASS):
        name = resource["metadata"]["name"].settled
        build = resource.props.get("scheduling")
        label = Value(build, "scheduling")["nodeSelector"][BUILD_LABEL].settled
        if isinstance(name, str) and isinstance(label, str):
            found[name] = label
    return found


def image_release(image: str) -> str | None:
    """The Windows release that an image's tag or name says it was built for.

    >>> image_release("mcr.microsoft.com/windows/nanoserver:ltsc2022"), image_release("registry/app:1.2")
    ('2022', None)
    """
    name, tag = split_image(image)
    for part in re.split(r"[-_.]", (tag or "").lower()):
        if part in RELEASE_TAGS and (part.startswith("ltsc") or WINDOWS_IMAGE.search(f"{name}:{tag}".lower())):
            return RELEASE_TAGS[part]
    build = re.match(r"10\.0\.(\d{5})", tag or "")
    return RELEASE_OF_BUILD.get(f"10.0.{build[1]}") if build else None


def retired_release(image: str) -> str | None:
    """The Windows release of an image's tag that no node runs any more.

    >>> retired_release("mcr.microsoft.com/windows/servercore:1909")
    '1909'
    """
    name, tag = split_image(image)
    if not WINDOWS_IMAGE.search(f"{name}:{tag}".lower()) and "ltsc" not in (tag or "").lower():
        return None
    return next((RETIRED_TAGS[part] for part in re.split(r"[-_.]", (tag or "").lower()) if part in RETIRED_TAGS), None)


def split_image(image: str) -> tuple[str, str | None]:
    """Name and tag of an image; no tag where there is none, or only a digest.

    >>> split_image("registry:5000/app:1.2"), split_image("app@sha256:0")
    (('registry:5000/app', '1.2'), ('app', None))
    """
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return (head, tag) if colon and "/" not in tag else (name, None)


def against(rule: Rule, place: Value, spec: Mapping[str, Any], depth: int) -> Iterator[str]:
    """What the component's check of pods says against one of its rules.

    ``spec`` is a pod of nothing but the place's known parts; the place lies ``depth`` steps inside of it.
    """
    for mistake in check_windows_pod(spec):
        if mistake.rule is rule:
            yield replace(mistake, path=mistake.path[depth:]).text(place.path)


def _mapping(value: Value) -> Mapping[str, Any]:
    found = value.settled
    return cast(Mapping[str, Any], found) if isinstance(found, Mapping) else {}


def container_name(container: Value) -> str:
    """A container's name for messages, its path where it has none."""
    name = container["name"].settled
    return f'container "{name}"' if isinstance(name, str) else container.path
