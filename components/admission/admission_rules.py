"""What the API server is to refuse of pods and Services for Windows, as CEL. Pure.

Each row: the rule with its code, an expression that lists what offends (empty: nothing does), and the words around the
list. The expressions see ``variables.spec`` (the pod's spec, of a pod or of a template), ``variables.containers``,
``variables.build`` (the Windows build that it selects) and ``variables.hostProcess``. Constants are written into the
expressions: nothing is looked up while a request waits, and regular expressions are compiled once.

A policy says all that it has found in one text: of several refusals the API server would tell the first alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.mistakes import Rule
from ..kubernetes.windows_pods import HOST_PROCESS, IMAGE_BUILD, LINUX_FIELD, MEMORY, SELECTOR, VOLUME
from ..scheduling.runtime_class_manifests import runtime_class_name
from ..tables.windows import BUILD_LABEL, WINDOWS_RELEASES

WINDOWS_NETWORK_PAGE = "https://kubernetes.io/docs/concepts/services-networking/windows-networking/"

BASE_IMAGE = Rule(
    "WK-K8S-037",
    "A Microsoft base image needs the tag of a Windows build; there is no latest tag.",
    "https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/",
)
HOST_PROCESS_NAMESPACE = Rule(
    "WK-K8S-038",
    "HostProcess pods need a namespace whose Pod Security level is explicitly privileged.",
    "https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/",
)
SERVICE = Rule(
    "WK-K8S-039",
    "Services for Windows pods must not use settings that kube-proxy on Windows ignores.",
    WINDOWS_NETWORK_PAGE,
)

OS_KEY = "kubernetes.io/os"
PRIVILEGED = "pod-security.kubernetes.io/enforce"
DEFAULT_STICKY_SECONDS = 10800


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One thing that is refused."""

    name: str
    """By which settings speak of it."""
    rule: Rule
    offends: str
    """CEL: a list of texts, one for each offence."""
    message: str
    """The words before the list."""
    remedy: str
    """What to write instead."""
    suspect: str
    """CEL: a question that is cheaper than the list, and true wherever the list is not empty."""

    def variable(self) -> dict[str, str]:
        """The variable that holds what offends."""
        return {"name": self.name, "expression": self.offends}

    def said(self) -> str:
        """CEL: the words about what offends, in a list of one; an empty list where nothing does."""
        before, _, after = f"{self.message}; {self.remedy} [{self.rule.code}]".partition("{}")
        found = f"variables.{self.name}"
        return f"(size({found}) != 0 ? [{_text(before)} + {found}.join(', ') + {_text(after)}] : [])"


def suspicion(refusals: Sequence[Refusal], spec: str, releases: Sequence[str]) -> str:
    """CEL: whether a pod may offend, without variables, as a match condition has to be.

    Whatever matches is converted for the conditions, for the validations, for their words and for annotations, each
    time anew; what does not match, for the conditions alone.
    """
    asked = " || ".join(f"({it.suspect})" for it in refusals)
    rows = {it["name"]: it["expression"] for it in variables(spec, releases)}
    for name in ("hostProcess", "build", "containers", "runtimeClass"):  # each before what it is made of
        asked = asked.replace(f"variables.{name}", f"({rows[name]})")
    return asked.replace("variables.spec", spec)


def judgement(refusals: Sequence[Refusal]) -> dict[str, list[dict[str, str]]]:
    """The variables and the one validation of a policy over these refusals."""
    codes = ", ".join(dict.fromkeys(it.rule.code for it in refusals))
    return {
        "variables": [
            *(it.variable() for it in refusals),
            {"name": "said", "expression": " + ".join(it.said() for it in refusals)},
        ],
        "validations": [
            {
                "expression": "size(variables.said) == 0",
                "messageExpression": "variables.said.join('. ')",
                # Where the words above could not be had.
                "message": f"Windows cannot do this [{codes}]",
                "reason": "Invalid",
            }
        ],
    }


def _text(words: str) -> str:
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _images_of_others() -> dict[str, str]:
    """A regular expression per build: the tags that name another one."""
    marks = {"2019": "ltsc2019|1809|10\\\\.0\\\\.17763", "2022": "ltsc2022|10\\\\.0\\\\.20348",
             "2025": "ltsc2025|10\\\\.0\\\\.26100"}  # fmt: skip
    return {
        row.build: "|".join([*(text for key, text in marks.items() if key != release), "1909", "2004", "20H2"])
        for release, row in WINDOWS_RELEASES.items()
    }


def _wrong_image(build: str, others: str) -> tuple[str, str]:
    """CEL: whether a pod selects a build, and whether the image of a container names another."""
    return f"variables.build == '{build}'", f"has(c.image) && c.image.matches('[:_.-]({others})([-_.@]|$)')"


def _wrong_images() -> str:
    """CEL: the images whose tag names another build than the selected one, per build of the table."""
    cases = "[]"
    for build, others in _images_of_others().items():
        selected, wrong = _wrong_image(build, others)
        cases = f"{selected} ? variables.containers.filter(c, {wrong}).map(c, c.image) : {cases}"
    return f"variables.hostProcess ? [] : ({cases})"


def _some_wrong_image() -> str:
    """CEL: whether there is one."""
    cases = (_wrong_image(*it) for it in _images_of_others().items())
    asked = " || ".join(f"({selected} && variables.containers.exists(c, {wrong}))" for selected, wrong in cases)
    return f"!variables.hostProcess && ({asked})"


_GONE_VOLUMES = ("awsElasticBlockStore", "azureDisk", "azureFile", "cinder", "flexVolume", "gcePersistentDisk", "nfs",
                 "vsphereVolume", "glusterfs", "rbd", "cephfs", "iscsi", "fc")  # fmt: skip
_USUAL_VOLUMES = ("projected", "configMap", "secret", "persistentVolumeClaim")
_WRONG_VOLUME = (
    "!("
    + " || ".join(f"has(v.{kind})" for kind in _USUAL_VOLUMES)
    + ") && ("
    + " || ".join(f"has(v.{kind})" for kind in _GONE_VOLUMES)
    + " || (has(v.emptyDir) && has(v.emptyDir.medium) && v.emptyDir.medium != '')"
    + " || (has(v.csi) && v.csi.driver in ['efs.csi.aws.com', 's3.csi.aws.com']))"
)
_VOLUMES = f"(has(variables.spec.volumes) ? variables.spec.volumes : []).filter(v, {_WRONG_VOLUME}).map(v, v.name)"

_POD_FIELDS = (
    ("hostPID", "has(variables.spec.hostPID) && variables.spec.hostPID"),
    ("hostIPC", "has(variables.spec.hostIPC) && variables.spec.hostIPC"),
    ("hostNetwork", "has(variables.spec.hostNetwork) && variables.spec.hostNetwork && !variables.hostProcess"),
    ("shareProcessNamespace", "has(variables.spec.shareProcessNamespace) && variables.spec.shareProcessNamespace"),
    ("dnsPolicy ClusterFirstWithHostNet",
     "has(variables.spec.dnsPolicy) && variables.spec.dnsPolicy == 'ClusterFirstWithHostNet'"),
    *((f"securityContext.{key}", f"has(variables.spec.securityContext) && has(variables.spec.securityContext.{key})")
      for key in ("runAsUser", "runAsGroup", "fsGroup", "supplementalGroups", "sysctls", "seLinuxOptions")),
)  # fmt: skip
_CONTAINER_FIELDS = (
    ("privileged", "has(c.securityContext) && has(c.securityContext.privileged) && c.securityContext.privileged"),
    ("runAsUser", "has(c.securityContext) && has(c.securityContext.runAsUser)"),
    ("capabilities", "has(c.securityContext) && has(c.securityContext.capabilities)"),
    ("volumeDevices", "has(c.volumeDevices)"),
    ("mountPropagation",
     "has(c.volumeMounts) && c.volumeMounts.exists(m, has(m.mountPropagation) && m.mountPropagation != 'None')"),
    ("huge pages",
     "has(c.resources) && has(c.resources.limits) && c.resources.limits.exists(k, k.startsWith('hugepages-'))"),
)  # fmt: skip


def _fields() -> str:
    """CEL: the fields that Linux alone has. The API server refuses most of them itself, but only where os is set."""
    parts = [f"({test} ? ['{name}'] : [])" for name, test in _POD_FIELDS]
    parts += [f"variables.containers.filter(c, {test}).map(c, c.name + ': {name}')" for name, test in _CONTAINER_FIELDS]
    return "(" + " + ".join(parts) + ")"


_LIMITED = "has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits"
_MEMORY_LIMIT = f"variables.containers.filter(c, !({_LIMITED})).map(c, c.name)"
_SOME_FIELD = " || ".join(
    f"({test})"
    for test in (
        *(test for _, test in _POD_FIELDS),
        "variables.containers.exists(c, " + " || ".join(f"({test})" for _, test in _CONTAINER_FIELDS) + ")",
    )
)
_MIXED = (
    "has(variables.spec.os) && variables.spec.os.name == 'linux' && (variables.runtimeClass.startsWith('windows-')"
    f" || (has(variables.spec.nodeSelector) && variables.spec.nodeSelector[?'{OS_KEY}'].orValue('') == 'windows'))"
)
_UNPLACED = (
    "has(variables.spec.os) && variables.spec.os.name == 'windows' && variables.runtimeClass == ''"
    f" && !(has(variables.spec.nodeSelector) && '{OS_KEY}' in variables.spec.nodeSelector)"
)
_UNSTEADY_IMAGE = (
    "has(c.image) && c.image.startsWith('mcr.microsoft.com/') && !c.image.contains('@')"
    " && (c.image.endsWith(':latest') || !c.image.contains(':'))"
)
_BASE_IMAGES = f"variables.containers.filter(c, {_UNSTEADY_IMAGE}).map(c, c.image)"
_OUTSIDE = "variables.hostProcess && !(has(variables.spec.hostNetwork) && variables.spec.hostNetwork)"

POD_REFUSALS: tuple[Refusal, ...] = (
    Refusal(name="memory_limit", rule=MEMORY, offends=_MEMORY_LIMIT,
            suspect=f"!variables.containers.all(c, {_LIMITED})",
            message="no memory limit in {}: Windows kills nothing when memory ends, and the node pages to a standstill",
            remedy="set resources.limits.memory, such as 1Gi"),
    Refusal(name="linux_fields", rule=LINUX_FIELD, offends=_fields(), suspect=_SOME_FIELD,
            message="Windows has no {}",
            remedy="remove them; hostNetwork is for HostProcess pods, a user is named in windowsOptions"),
    Refusal(name="image_build", rule=IMAGE_BUILD, offends=_wrong_images(), suspect=_some_wrong_image(),
            message="the tag of {} names another Windows build than that of the selected nodes",
            remedy="use the tag of that build, or a RuntimeClass of the image's"),
    Refusal(name="base_image", rule=BASE_IMAGE, offends=_BASE_IMAGES,
            suspect=f"variables.containers.exists(c, {_UNSTEADY_IMAGE})",
            message="the base image {} names no build", remedy="write a tag such as ltsc2022"),
    Refusal(name="volumes", rule=VOLUME, offends=_VOLUMES,
            suspect=f"has(variables.spec.volumes) && variables.spec.volumes.exists(v, {_WRONG_VOLUME})",
            message="Windows cannot mount the volumes {}",
            remedy="claim a volume of ebs.csi.aws.com with NTFS, or of smb.csi.k8s.io, or leave emptyDir.medium out"),
    Refusal(name="host_process_namespace", rule=HOST_PROCESS_NAMESPACE, suspect="variables.hostProcess",
            offends=("(variables.hostProcess && namespaceObject.metadata.?labels[?'" + PRIVILEGED
                     + "'].orValue('') != 'privileged' ? [namespaceObject.metadata.name] : [])"),
            message="HostProcess pods act as the node and may not run in {}",
            remedy=f"label the namespace {PRIVILEGED}=privileged, or leave hostProcess out"),
    Refusal(name="host_process", rule=HOST_PROCESS, suspect=_OUTSIDE, offends=f"({_OUTSIDE} ? ['hostNetwork'] : [])",
            message="a HostProcess pod is in the network of the node, but {} is not set",
            remedy="set hostNetwork to true"),
    Refusal(name="operating_system", rule=SELECTOR, suspect=_MIXED, offends=f"({_MIXED} ? ['os.name is linux'] : [])",
            message="{} in a pod that selects Windows nodes", remedy="set os.name to windows, or leave it out"),
)  # fmt: skip
"""For pods, and for the templates of workloads."""

PLACEMENT = Refusal(
    name="placement", rule=SELECTOR, suspect=_UNPLACED,
    offends=f"({_UNPLACED} ? ['os.name is windows'] : [])",
    message="{}, which the scheduler ignores",
    remedy="set runtimeClassName to windows-2022, or a nodeSelector and a toleration",
)  # fmt: skip
"""Only where nothing gives such pods their RuntimeClass."""

_IGNORED = (
    "((has(object.spec.sessionAffinityConfig) && object.spec.?sessionAffinityConfig.?clientIP.?timeoutSeconds"
    f".orValue({DEFAULT_STICKY_SECONDS}) != {DEFAULT_STICKY_SECONDS}"
    " ? ['sessionAffinityConfig.clientIP.timeoutSeconds'] : [])"
    " + (has(object.spec.ports) && object.spec.ports.exists(p, has(p.protocol) && p.protocol == 'SCTP')"
    " ? ['protocol SCTP'] : [])"
    " + (has(object.spec.ipFamilies) && object.spec.ipFamilies.exists(f, f == 'IPv6') ? ['IPv6'] : [])"
    " + (has(object.spec.loadBalancerSourceRanges) ? ['loadBalancerSourceRanges'] : []))"
)
SERVICE_REFUSALS: tuple[Refusal, ...] = (
    Refusal(name="service_settings", rule=SERVICE, offends=_IGNORED, suspect=f"size({_IGNORED}) != 0",
            message="kube-proxy on Windows ignores {}",
            remedy="leave it out; the session timeout there is 10800 seconds, and source ranges are the load "
                   "balancer's"),
)  # fmt: skip

REFUSALS: tuple[str, ...] = (*(it.name for it in POD_REFUSALS), PLACEMENT.name, *(it.name for it in SERVICE_REFUSALS))
"""What settings may give a mode of its own."""


def class_builds(releases: Sequence[str]) -> str:
    """CEL: the build of each RuntimeClass, as a map.

    >>> class_builds(["2022"])
    "{'windows-2022': '10.0.20348'}"
    """
    pairs = [f"'{runtime_class_name(it)}': '{WINDOWS_RELEASES[it].build}'" for it in releases]
    return "{" + ", ".join(pairs) + "}"


def _as_host(part: str) -> str:
    """CEL: whether a pod or a container says ``hostProcess``; quicker than a chain of optional fields."""
    options = f"{part}.securityContext.windowsOptions"
    return f"has({part}.securityContext) && has({options}) && has({options}.hostProcess) && {options}.hostProcess"


def variables(spec: str, releases: Sequence[str]) -> list[dict[str, str]]:
    """The variables that the refusals of pods use; ``spec`` is where the pod's spec stands."""
    build = f"variables.spec.nodeSelector[?'{BUILD_LABEL}'].orValue('')"
    rows = {
        "spec": spec,
        "containers": "has(variables.spec.initContainers) ? variables.spec.containers + variables.spec.initContainers "
                      ": variables.spec.containers",
        "runtimeClass": "has(variables.spec.runtimeClassName) ? variables.spec.runtimeClassName : ''",
        "build": f"has(variables.spec.nodeSelector) && '{BUILD_LABEL}' in variables.spec.nodeSelector ? {build} : "
                 f"{class_builds(releases)}[?variables.runtimeClass].orValue('')",
        "hostProcess": f"({_as_host('variables.spec')}) || variables.spec.containers.exists(c, {_as_host('c')})",
    }  # fmt: skip
    return [{"name": name, "expression": expression} for name, expression in rows.items()]


def for_windows(spec: str) -> str:
    """CEL: whether a pod is for Windows; the cheap questions first, for most pods are for Linux."""
    return (
        f"(has({spec}.os) && {spec}.os.name == 'windows')"
        f" || (has({spec}.runtimeClassName) && {spec}.runtimeClassName.startsWith('windows-'))"
        f" || (has({spec}.nodeSelector) && '{OS_KEY}' in {spec}.nodeSelector"
        f" && {spec}.nodeSelector['{OS_KEY}'] == 'windows')"
    )


def with_windows_options(spec: str) -> str:
    """CEL: whether a pod has options of Windows, wherever it may run: it could be the node itself."""
    return (
        f"(has({spec}.securityContext) && has({spec}.securityContext.windowsOptions))"
        f" || {spec}.containers.exists(c, has(c.securityContext) && has(c.securityContext.windowsOptions))"
    )
