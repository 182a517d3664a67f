"""What keeps a pod apart from its node: HostProcess, users, Hyper-V."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from winkube.kubernetes.windows_pods import HYPER_V, HYPER_V_ANNOTATION, check_manifest

from ...frameworks import (
    BEST_PRACTICES,
    WINDOWS_COMPATIBILITY,
    WINDOWS_COMPATIBILITY_PAGE,
    WINDOWS_SUPPORT_PAGE,
    best_practices,
    cis_kubernetes,
    eks_guide,
    kubernetes_docs,
)
from ...model import TEXTS, Option, Planned, Settings, Value, every, resource_rule
from ...pods import windows_pod
from ...resource_types import RUNTIME_CLASS, WORKLOADS

HOST_PROCESS_PAGE = "https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/"


@resource_rule(
    "windows-host-network",
    "On Windows, only HostProcess pods use the node's network",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY, eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="remove hostNetwork, or set windowsOptions.hostProcess in the pod's security context",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_host_network(resource: Planned, settings: Settings) -> Iterator[str]:
    """Kubernetes removed the unfinished feature for other pods."""
    pod = windows_pod(resource)
    if pod and pod.spec["hostNetwork"].flag and not pod.host_process():
        yield f"{pod.spec.path}.hostNetwork is true, but the pod is not a HostProcess pod"


@resource_rule(
    "windows-host-process",
    "HostProcess pods have the settings that Windows requires",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[kubernetes_docs("Create a Windows HostProcess Pod")],
    steps='set hostNetwork to true, hostProcess for all containers, and runAsUserName to "NT AUTHORITY\\SYSTEM", '
    '"NT AUTHORITY\\Local service" or "NT AUTHORITY\\NetworkService"',
    url=HOST_PROCESS_PAGE,
)
def windows_host_process(resource: Planned, settings: Settings) -> Iterator[str]:
    """All containers are HostProcess containers or none, on the node's network. Only they can use system accounts."""
    pod = windows_pod(resource)
    if pod is None:
        return
    options = [context["windowsOptions"] for context in pod.contexts()]
    whole = options[0]["hostProcess"].flag
    single = [option["hostProcess"].flag for option in options[1:]]
    effective = [whole if flag is None else flag for flag in single] or [whole]
    if any(effective) and not all(effective):
        yield "some containers are HostProcess containers and others are not"
    elif any(effective) and pod.spec["hostNetwork"].flag is not True:
        yield "a HostProcess pod needs hostNetwork"
    elif not any(effective):
        for option in options:
            user = option["runAsUserName"].text or ""
            if user.upper().startswith("NT AUTHORITY\\"):
                yield f"{option.path}.runAsUserName is a system account, which only HostProcess containers can use"


@resource_rule(
    "windows-few-host-processes",
    "HostProcess pods run only in system namespaces",
    types=WORKLOADS,
    references=[cis_kubernetes("5.2.11")],
    steps="run it in a system namespace, list its namespace in the rule's configuration, or avoid HostProcess",
    url=HOST_PROCESS_PAGE,
    options={
        "namespaces": Option(
            ["kube-system", "kube-flannel", "kube-proxy-windows", "calico-system", "tigera-operator",
             "amazon-cloudwatch", "gmsa"],
            "namespaces that may have HostProcess pods", TEXTS,
        ),
    },
)  # fmt: skip
def windows_few_host_processes(resource: Planned, settings: Settings) -> Iterator[str]:
    """A HostProcess container has administrator rights on its node."""
    pod = windows_pod(resource)
    namespace = resource["metadata"]["namespace"]
    if pod and pod.host_process() and namespace.known() not in settings["namespaces"]:
        yield "the pod administers its node: it is a HostProcess pod outside the system namespaces"


@resource_rule(
    "windows-container-user",
    "Containers on Windows do not run as administrator",
    types=WORKLOADS,
    severity="low",
    references=[best_practices("Windows pod security")],
    steps='set windowsOptions.runAsUserName to "ContainerUser"',
    url=f"{BEST_PRACTICES}/windows-security.html",
)
def windows_container_user(resource: Planned, settings: Settings) -> Iterator[str]:
    """Reports pods that ask for it. The rule cannot see the default user of an image."""
    pod = windows_pod(resource)

    def check(context: Value) -> Iterator[str]:
        user = context["windowsOptions"]["runAsUserName"].text
        if user and user.lower() == "containeradministrator":
            yield f"{context.path}.windowsOptions.runAsUserName is ContainerAdministrator"

    yield from every(pod.contexts() if pod else (), check)


@resource_rule(
    "windows-no-hyper-v",
    "Pods and RuntimeClasses do not ask for Hyper-V isolation",
    types=[*WORKLOADS, RUNTIME_CLASS],
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps='remove the annotation, set handler to "runhcs-wcow-process", and run workloads that need isolation on '
    "separate nodes",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_hyper_v(resource: Planned, settings: Settings) -> Iterator[str]:
    """The annotation is ignored: the pod would run without the isolation that it asks for."""
    if resource.type == RUNTIME_CLASS:
        asked = resource["handler"]
        manifest: dict[str, Any] = {"kind": "RuntimeClass", "handler": asked.text}
    elif pod := windows_pod(resource):
        asked = pod.metadata["annotations"][HYPER_V_ANNOTATION]
        annotations = {HYPER_V_ANNOTATION: asked.text}
        manifest = {"kind": "Pod", "metadata": {"annotations": annotations}, "spec": {"containers": [{}]}}
    else:
        return
    for mistake in check_manifest(manifest):
        if mistake.rule is HYPER_V:
            yield replace(mistake, path=()).text(asked.path)
