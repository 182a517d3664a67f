"""Admission policies for Windows pods as plain manifests. Pure.

Mutating policies put pods where they say they belong; each does its whole work by itself, for the order of two is not
fixed. Validating ones refuse what Windows cannot do: one policy for each mode in use, for the API server takes the mode
per binding. Seen on a real API server: a RuntimeClass set by a policy brings its selector and tolerations along;
DaemonSets need theirs in the template; a list of typed objects in a JSON patch would end the request in a panic, so the
values are plain maps. Source: Kubernetes, "Mutating Admission Policy", "Validating Admission Policy".
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..kubernetes.manifests import Manifest, labels
from ..scheduling.runtime_class_manifests import runtime_class_name
from ..tables.windows import BUILD_LABEL, WINDOWS_RELEASES, WINDOWS_TAINT
from . import admission_rules as rules
from .admission_rules import OS_KEY, Refusal

API = "admissionregistration.k8s.io/v1"
APP = "winkube-admission"
MODES: Mapping[str, tuple[str, ...]] = {
    "audit": ("Audit",),
    "warn": ("Warn", "Audit"),
    "deny": ("Deny", "Audit"),
    "off": (),
}
"""What happens with an offence: it is written into the audit log, said to the caller too, or refused."""

_POD = "object.spec"
_TEMPLATE = "object.spec.template.spec"
_JOB_TEMPLATE = "object.spec.jobTemplate.spec.template.spec"
_TAINT = ", ".join(f"'{key}': '{text}'" for key, text in {**WINDOWS_TAINT, "operator": "Equal"}.items())
_TOLERATION = "{" + _TAINT + "}"

Resources = tuple[tuple[str, tuple[str, ...]], ...]
_PODS: Resources = (("", ("pods",)),)
_WORKLOADS: Resources = (("apps", ("deployments", "daemonsets", "statefulsets", "replicasets")), ("batch", ("jobs",)))
_CRON_JOBS: Resources = (("batch", ("cronjobs",)),)
_SERVICES: Resources = (("", ("services",)),)
_DAEMON_SETS: Resources = (("apps", ("daemonsets",)),)


class AdmissionSettings(Protocol):
    """What the policies are made from."""

    @property
    def releases(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def default_release(self) -> str | None: ...  # noqa: D102
    @property
    def mode(self) -> str: ...  # noqa: D102
    @property
    def rules(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def linux_default(self) -> bool: ...  # noqa: D102
    @property
    def exempt_namespaces(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def failure_policy(self) -> str: ...  # noqa: D102


def admission_manifests(settings: AdmissionSettings, *, mutating: bool) -> dict[str, Manifest]:
    """Every policy and binding by part; ``mutating`` says whether the cluster knows MutatingAdmissionPolicy v1."""
    manifests: dict[str, Manifest] = {}
    if mutating:
        manifests |= _mutating("windows-pods", _place_pods(settings), settings)
        manifests |= _mutating("daemon-sets", _place_daemon_sets(settings), settings)
    for mode, actions in MODES.items():
        if actions:
            manifests |= _validating(settings, mode, actions, mutating=mutating)
    return manifests


def mode_of(settings: AdmissionSettings, refusal: Refusal) -> str:
    """The mode of one refusal."""
    return settings.rules.get(refusal.name, settings.mode)


# -- mutating ---------------------------------------------------------------------------------------------------------


def _place_pods(settings: AdmissionSettings) -> Manifest:
    """A Windows pod gets the RuntimeClass of its build; one with a RuntimeClass gets ``os``; a Linux pod a selector.

    With ``os`` the API server itself refuses what Linux alone has. A pod that only selects Windows nodes keeps its
    fields: it may be older than ``os``. One policy for all: the API server converts the object for each anew, and that
    costs more than the questions.
    """
    classes = {WINDOWS_RELEASES[it].build: runtime_class_name(it) for it in settings.releases}
    default = runtime_class_name(settings.default_release or settings.releases[0])
    known = "{" + ", ".join(f"'{key}': '{name}'" for key, name in {"": default, **classes}.items()) + "}"
    own = "[" + ", ".join(f"'{name}'" for name in classes.values()) + "]"
    build = f"has({_POD}.nodeSelector) ? {_POD}.nodeSelector[?'{BUILD_LABEL}'].orValue('') : ''"
    windows, unfinished = rules.for_windows(_POD), f"!has({_POD}.runtimeClassName) || !has({_POD}.os)"
    return {
        "matchConstraints": _constraints(_PODS, ("CREATE",)),
        "matchConditions": [
            # One question, for the API server goes on to the second where the first said no. Pods of DaemonSets are
            # left alone: their controller looks at the template, so the template is what is put right.
            {
                "name": "unplaced",
                "expression": f"!has({_POD}.nodeName) && (({windows}) ? ({unfinished}) : "
                f"({_for_linux(_POD, settings)})) && {_not_of_daemon_set()}",
            }
        ],
        "variables": [
            {"name": "windows", "expression": windows},
            {"name": "build", "expression": build},
            {"name": "classes", "expression": known},
        ],
        "mutations": [
            _json_patch(
                f"variables.windows ? (!has({_POD}.runtimeClassName) && variables.build in variables.classes ? "
                "[JSONPatch{op: 'add', path: '/spec/runtimeClassName', value: variables.classes[variables.build]}] "
                f": []) + (!has({_POD}.os) && has({_POD}.runtimeClassName) && {_POD}.runtimeClassName in {own} ? "
                "[JSONPatch{op: 'add', path: '/spec/os', value: {'name': 'windows'}}] : []) : "
                f"has({_POD}.nodeSelector) ? [JSONPatch{{op: 'add', path: '/spec/nodeSelector/' + "
                f"jsonpatch.escapeKey('{OS_KEY}'), value: 'linux'}}] : [JSONPatch{{op: 'add', "
                f"path: '/spec/nodeSelector', value: {{'{OS_KEY}': 'linux'}}}}]"
            )
        ],
    }


def _place_daemon_sets(settings: AdmissionSettings) -> Manifest:
    """The template of a DaemonSet gets what its controller looks at: selector and toleration."""
    spec = "variables.spec"
    wanted = (
        f"!variables.windows ? {{'{OS_KEY}': 'linux'}} : variables.build == '' ? {{'{OS_KEY}': 'windows'}} : "
        f"{{'{OS_KEY}': 'windows', '{BUILD_LABEL}': variables.build}}"
    )
    class_name = f"has({_TEMPLATE}.runtimeClassName) ? {_TEMPLATE}.runtimeClassName : ''"
    selects = rules.for_windows(_TEMPLATE)
    add = "JSONPatch{op: 'add', path: '/spec/template/spec/nodeSelector"
    path = "/spec/template/spec/tolerations"
    return {
        "matchConstraints": _constraints(_DAEMON_SETS, ("CREATE", "UPDATE")),
        "matchConditions": [{"name": "wanting", "expression": f"({selects}) || ({_for_linux(_TEMPLATE, settings)})"}],
        "variables": [
            {"name": "spec", "expression": _TEMPLATE},
            {"name": "windows", "expression": selects},
            {"name": "build", "expression": f"{rules.class_builds(settings.releases)}[?({class_name})].orValue('')"},
            {"name": "wanted", "expression": wanted},
            {"name": "selector", "expression": f"has({spec}.nodeSelector) ? {spec}.nodeSelector : {{}}"},
            {"name": "tolerated", "expression": f"has({spec}.tolerations) && {spec}.tolerations.exists(t, "
             f"!has(t.key) || t.key == '{WINDOWS_TAINT['key']}')"},
        ],
        "mutations": [
            _json_patch(
                f"(size(variables.selector) == 0 ? [{add}', value: variables.wanted}}] : "
                f"variables.wanted.filter(k, !(k in variables.selector)).map(k, {add}/' + jsonpatch.escapeKey(k), "
                "value: variables.wanted[k]})) + "
                "(!variables.windows || variables.tolerated ? [] : "
                f"has({spec}.tolerations) ? [JSONPatch{{op: 'add', path: '{path}/-', value: {_TOLERATION}}}] : "
                f"[JSONPatch{{op: 'add', path: '{path}', value: [{_TOLERATION}]}}])"
            )
        ],
    }  # fmt: skip


def _for_linux(spec: str, settings: AdmissionSettings) -> str:
    """CEL: whether a pod is for Linux and nothing brings it there.

    That is one that says so in ``os``, which the scheduler ignores; by the default one that says nothing, too. A pod
    that names a class of others says something: the class may bring it anywhere.
    """
    terms = f"{spec}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    silent = f"!has({spec}.runtimeClassName)" if settings.linux_default else "false"
    return (
        f"(has({spec}.os) ? {spec}.os.name == 'linux' : {silent})"
        f" && !(has({spec}.nodeSelector) && '{OS_KEY}' in {spec}.nodeSelector)"
        f" && !(has({spec}.affinity) && has({spec}.affinity.nodeAffinity)"
        f" && has({spec}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution)"
        f" && {terms}.exists(t, has(t.matchExpressions) && t.matchExpressions.exists(e, e.key == '{OS_KEY}')))"
    )


def _not_of_daemon_set() -> str:
    return "!(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet'))"


def _json_patch(expression: str) -> Manifest:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def _mutating(part: str, spec: Manifest, settings: AdmissionSettings) -> dict[str, Manifest]:
    name = f"winkube-{part}"
    whole = {"failurePolicy": settings.failure_policy, "reinvocationPolicy": "Never", **spec}
    return {
        f"place-{part}": _object("MutatingAdmissionPolicy", name, whole),
        f"place-{part}-binding": _object("MutatingAdmissionPolicyBinding", name,
                                         {"policyName": name, "matchResources": _elsewhere(settings)}),
    }  # fmt: skip


# -- validating -------------------------------------------------------------------------------------------------------


def _validating(
    settings: AdmissionSettings, mode: str, actions: Sequence[str], *, mutating: bool
) -> dict[str, Manifest]:
    """The policies of one mode: for pods, for workloads, for CronJobs and for Services."""
    chosen = [it for it in rules.POD_REFUSALS if mode_of(settings, it) == mode]
    if not mutating and mode_of(settings, rules.PLACEMENT) == mode:
        chosen.append(rules.PLACEMENT)
    services = [it for it in rules.SERVICE_REFUSALS if mode_of(settings, it) == mode]
    manifests: dict[str, Manifest] = {}
    for part, resources, spec in (("pods", _PODS, _POD), ("workloads", _WORKLOADS, _TEMPLATE),
                                  ("cron-jobs", _CRON_JOBS, _JOB_TEMPLATE)):  # fmt: skip
        if chosen:
            # Only creation of pods: a label of an older pod may still be changed. Templates are judged when written.
            operations = ("CREATE",) if part == "pods" else ("CREATE", "UPDATE")
            body: Manifest = {
                "matchConstraints": _constraints(resources, operations),
                "matchConditions": [
                    {
                        "name": "suspect",
                        "expression": f"({rules.for_windows(spec)} || {rules.with_windows_options(spec)})"
                        f" && ({rules.suspicion(chosen, spec, settings.releases)})",
                    }
                ],
                **_judged(chosen, rules.variables(spec, settings.releases)),
            }
            manifests |= _validating_pair(f"{part}-{mode}", body, actions, settings)
    if services:
        body = {
            "matchConstraints": _constraints(_SERVICES, ("CREATE", "UPDATE")),
            "matchConditions": [{"name": "windows", "expression": _service_of_windows()}],
            **_judged(services),
        }
        manifests |= _validating_pair(f"services-{mode}", body, actions, settings)
    return manifests


def _judged(refusals: Sequence[Refusal], variables: Sequence[Mapping[str, str]] = ()) -> Manifest:
    found = rules.judgement(refusals)
    return {**found, "variables": [*variables, *found["variables"]]}


def _service_of_windows() -> str:
    """CEL: whether a Service says that its pods are Windows ones, by a label or in its selector."""
    return (
        f"(has(object.metadata.labels) && '{OS_KEY}' in object.metadata.labels"
        f" && object.metadata.labels['{OS_KEY}'] == 'windows')"
        f" || (has(object.spec.selector) && '{OS_KEY}' in object.spec.selector"
        f" && object.spec.selector['{OS_KEY}'] == 'windows')"
    )


def _validating_pair(
    part: str, body: Manifest, actions: Sequence[str], settings: AdmissionSettings
) -> dict[str, Manifest]:
    name = f"winkube-windows-{part}"
    binding = {"policyName": name, "validationActions": list(actions), "matchResources": _elsewhere(settings)}
    return {
        f"check-{part}": _object("ValidatingAdmissionPolicy", name, {"failurePolicy": settings.failure_policy, **body}),
        f"check-{part}-binding": _object("ValidatingAdmissionPolicyBinding", name, binding),
    }


# -- both -------------------------------------------------------------------------------------------------------------


def _constraints(resources: Resources, operations: Sequence[str]) -> Manifest:
    # Everything that the API server would fill in is written, so that a second apply finds nothing to change.
    return {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "resourceRules": [
            {"apiGroups": [group], "apiVersions": ["v1"], "operations": list(operations), "resources": list(names),
             "scope": "*"}
            for group, names in resources
        ],
    }  # fmt: skip


def _elsewhere(settings: AdmissionSettings) -> Manifest:
    """The namespaces in which the policies hold: all but the exempt ones."""
    exempt = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": sorted(settings.exempt_namespaces)}
    return {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchExpressions": [exempt]},
        "objectSelector": {},
    }


def _object(kind: str, name: str, spec: Mapping[str, Any]) -> Manifest:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "labels": labels(APP)}, "spec": dict(spec)}
