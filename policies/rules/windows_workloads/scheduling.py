"""How pods choose Windows nodes."""

import re
from collections.abc import Iterator

from winkube.tables.windows import BUILD_LABEL

from ...eks_resources import release_of_group
from ...frameworks import BEST_PRACTICES, WINDOWS_SUPPORT_PAGE, best_practices, eks_guide
from ...inventory import inventory
from ...model import Planned, Settings, Stack, Violation, every, resource_rule, stack_rule
from ...pods import OS_LABEL, RELEASE_OF_BUILD, Pod, release_of_class, runtime_class_builds, windows_pod, windows_pods
from ...resource_types import FARGATE_PROFILE, RUNTIME_CLASS, WORKLOADS

SCHEDULING_PAGE = f"{BEST_PRACTICES}/windows-scheduling.html"


@resource_rule(
    "windows-pod-selects-nodes",
    "Pods for Windows select Windows nodes by node selector or RuntimeClass",
    types=WORKLOADS,
    severity="high",
    references=[best_practices("Windows scheduling"), eks_guide("Deploy Windows nodes on EKS clusters")],
    steps='set nodeSelector "kubernetes.io/os": "windows", or runtimeClassName to a class that does',
    url=SCHEDULING_PAGE,
)
def windows_pod_selects_nodes(resource: Planned, settings: Settings) -> Iterator[str]:
    """Affinity alone is not enough: the webhooks that assign addresses and roles read only the selector."""
    pod = windows_pod(resource)
    if pod is None:
        return
    selector = pod.spec["nodeSelector"]
    selector.known()
    if pod.spec["runtimeClassName"].known() or selector["beta.kubernetes.io/os"].settled == "windows":
        return
    if selector[OS_LABEL].known() != "windows":
        yield f'the pod is for Windows, and its node selector does not say "{OS_LABEL}": "windows"'


@stack_rule(
    "windows-build-selected",
    "Pods choose a Windows release where there are several",
    types=WORKLOADS,
    references=[best_practices("Windows scheduling")],
    steps=f'set nodeSelector "{BUILD_LABEL}", or runtimeClassName to the class of the release',
    url=SCHEDULING_PAGE,
)
def windows_build_selected(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Otherwise the pod can be scheduled on a release where it cannot start."""
    releases = {release_of_group(group) for group in inventory(stack).windows_groups} - {None}
    if len(releases) < 2:
        return
    builds = runtime_class_builds(stack)

    def check(found: tuple[Planned, Pod]) -> Iterator[Violation]:
        resource, pod = found
        name = pod.spec["runtimeClassName"].known()
        if pod.host_process() or name in builds or pod.releases():
            return
        if not pod.spec["nodeSelector"][BUILD_LABEL].known():
            names = " and ".join(sorted(map(str, releases)))
            message = f"there are nodes with Windows Server {names}, and the pod chooses none"
            yield Violation(message, resource.urn)

    yield from every(windows_pods(stack), check)


@stack_rule(
    "windows-runtime-class-exists",
    "RuntimeClasses select builds that exist",
    types=[RUNTIME_CLASS],
    severity="high",
    references=[best_practices("Windows scheduling")],
    steps="correct the build in the class, or add nodes of the release",
    url=SCHEDULING_PAGE,
)
def windows_runtime_class_exists(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Reports a build that no release has, and a class that is named for one release and selects another."""

    def check(resource: Planned) -> Iterator[Violation]:
        build = resource["scheduling"]["nodeSelector"][BUILD_LABEL].text
        named = release_of_class(resource["metadata"]["name"].text)
        if build is None:
            return
        if build not in RELEASE_OF_BUILD:
            yield Violation(
                f"EKS has no nodes with build {build}; the builds are {', '.join(RELEASE_OF_BUILD)}", resource.urn
            )
        elif named and RELEASE_OF_BUILD[build] != named:
            yield Violation(
                f"the class is named for {named} and selects nodes of {RELEASE_OF_BUILD[build]}", resource.urn
            )

    yield from every(stack.of(RUNTIME_CLASS), check)


@stack_rule(
    "fargate-takes-no-windows",
    "Fargate profiles do not select pods for Windows",
    types=[FARGATE_PROFILE],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="restrict the profile with labels, or run the Windows workload in another namespace",
    url=WINDOWS_SUPPORT_PAGE,
)
def fargate_takes_no_windows(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Fargate runs Linux only: the pod stays pending."""

    def check(profile: Planned) -> Iterator[Violation]:
        for selector in profile["selectors"].items():
            namespace = selector["namespace"].text or ""
            pattern = re.escape(namespace).replace(r"\*", ".*").replace(r"\?", ".")
            for resource, pod in windows_pods(stack):
                own = resource["metadata"]["namespace"].settled or "default"
                labels = selector["labels"]
                if re.fullmatch(pattern, str(own)) and (not labels.settled or pod.selected_by(labels)):
                    yield Violation(f'the profile selects the Windows pods of "{resource.name}"', profile.urn)
                    return

    yield from every(stack.of(FARGATE_PROFILE), check)
