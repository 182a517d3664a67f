"""Checks every recorded resource against the types of its SDK and the schemas of the Kubernetes release.

``check/inputs``
    an input that the SDK class of the resource does not accept;
``check/kubernetes-schema``
    an object that the Kubernetes release of the cluster does not accept;
``check/text-leak``
    ``None`` or the text of an ``Output`` inside a string;
``check/plain-secret``, ``check/exposed-secret``
    a secret in plain text; a secret in tags or user data.
"""

from collections.abc import Iterator

from ..model import Finding, Plan, Resource
from ..text.values import property_path
from . import kubernetes_objects, sdk_inputs
from .forbidden_text import traces
from .type_validators import Problem


def check_plan(plan: Plan, *, kubernetes_minor: str | None = None) -> list[Finding]:
    """Check every resource that the program registers, and the outputs of the stack.

    :param kubernetes_minor: the release of the Kubernetes objects, such as ``1.36``. Default: the release of the EKS
        cluster in the plan, else the newest one whose schemas are installed.
    """
    minor = kubernetes_objects.schema_minor(kubernetes_minor or kubernetes_objects.target_minor(plan))
    findings: list[Finding] = []
    for resource in plan.resources:
        if resource.read:
            continue
        if resource.custom or resource.remote:
            findings += _check_inputs(resource, minor)
        findings += _check_texts(resource)
    findings += [
        Finding(f"check/{trace.check}", trace.severity, trace.message, path=property_path(("outputs", *trace.path)),
                remedy=trace.remedy)
        for trace in traces(plan.outputs)
    ]  # fmt: skip
    return findings


def _check_inputs(resource: Resource, minor: str | None) -> Iterator[Finding]:
    """Check against the schema of the release, if there is one: the SDK covers all releases and is less strict."""
    of_release = minor if resource.type.startswith("kubernetes:") else None
    validator = kubernetes_objects.validator_of(resource.type, of_release) if of_release else None
    code = "check/kubernetes-schema" if validator else "check/inputs"
    context = f" (Kubernetes {minor})" if validator else ""
    validator = validator or sdk_inputs.validator_of(resource.type)
    for problem in (validator(resource.inputs) if validator else None) or ():
        yield _finding(code, resource, problem, context)


def _finding(code: str, resource: Resource, problem: Problem, context: str) -> Finding:
    message = problem.text() + context
    path = property_path(problem.path)
    return Finding(code, problem.severity, message, resource.urn, resource.source, path, problem.remedy)


def _check_texts(resource: Resource) -> Iterator[Finding]:
    for trace in traces(resource.inputs, resource.name):
        path = property_path(trace.path)
        message = trace.message
        yield Finding(
            f"check/{trace.check}", trace.severity, message, resource.urn, resource.source, path, trace.remedy
        )
