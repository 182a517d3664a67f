"""What the SDK's own servicer says of a plan: the same requests that the engine sends, without its transport."""

from collections.abc import Iterable, Iterator
from typing import Any

import pulumi_policy
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy.policy import _PolicyAnalyzerServicer
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE
from winkube.preview.checks.sdk_inputs import computed_names
from winkube.preview.model import Finding, Plan, Resource

Verdict = tuple[str, str, str, str]
"""Policy, severity, logical name of the resource, message."""


def verdicts_of_servicer(plan: Plan, policies: list[pulumi_policy.Policy]) -> list[Verdict]:
    """Everything that the servicer reports, about each resource and about the stack."""
    servicer = _PolicyAnalyzerServicer("winkube", "0.1.0", policies, pulumi_policy.EnforcementLevel.ADVISORY)
    found: list[Verdict] = []
    resources = [resource for resource in plan.resources if not resource.read]
    for resource in resources:
        request = analyzer_pb2.AnalyzeRequest(
            type=resource.type, urn=resource.urn, name=resource.name, properties=resource.raw_inputs,
            provider=_provider(plan, resource),
        )  # fmt: skip
        found += _verdicts(servicer.Analyze(request, None).diagnostics, resource.urn)
    request = analyzer_pb2.AnalyzeStackRequest(resources=[_in_stack(plan, resource) for resource in plan.resources])
    found += _verdicts(servicer.AnalyzeStack(request, None).diagnostics, "")
    return sorted(found)


def verdicts(findings: Iterable[Finding]) -> list[Verdict]:
    """The findings of the previewer in the same form."""
    return sorted(
        (finding.code.rpartition("/")[2], str(finding.severity), _name(finding.urn), finding.message)
        for finding in findings
    )


def _verdicts(diagnostics: Iterable[Any], urn: str) -> Iterator[Verdict]:
    for found in diagnostics:
        _, unknown, why = found.message.partition("during preview: ")
        if found.message.startswith("can't run") and unknown:
            message, severity = f"cannot be decided before the deployment: {why}", "note"
        else:
            message = found.message.removeprefix(f"{found.description}\n")
            severity = "error" if found.enforcementLevel == analyzer_pb2.MANDATORY else "warning"
        yield found.policyName, severity, _name(found.urn or urn), message


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _provider(plan: Plan, resource: Resource) -> analyzer_pb2.AnalyzerProviderResource | None:
    provider = plan.by_urn.get(resource.options.provider.rpartition("::")[0])
    if provider is None:
        return None
    return analyzer_pb2.AnalyzerProviderResource(
        type=provider.type, urn=provider.urn, name=provider.name, properties=provider.raw_inputs
    )


def _in_stack(plan: Plan, resource: Resource) -> analyzer_pb2.AnalyzerResource:
    properties = Struct()
    properties.CopyFrom(resource.raw_inputs)
    if resource.custom:
        for name in computed_names(resource.type):
            if name not in properties.fields:
                properties.fields[name].string_value = UNKNOWN_STRING_VALUE
    elif resource.raw_outputs is not None:
        properties.CopyFrom(resource.raw_outputs)
    options = resource.options
    return analyzer_pb2.AnalyzerResource(
        type=resource.type, urn=resource.urn, name=resource.name, properties=properties, parent=resource.parent,
        provider=_provider(plan, resource), dependencies=options.dependencies,
        propertyDependencies={
            name: analyzer_pb2.AnalyzerPropertyDependencies(urns=urns)
            for name, urns in options.property_dependencies.items()
        },
    )  # fmt: skip
