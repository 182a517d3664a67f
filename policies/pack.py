"""The rules as policies of the Pulumi policy SDK."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyComplianceFramework,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from .rules import RULES, UNKNOWN, Planned, Rule, Undecided


def plain(value: Any) -> Any:
    """Properties as plain data, an unknown as :data:`UNKNOWN` instead of an exception on sight."""
    if value is None or type(value) in (str, bool, float, int):
        return value
    if isinstance(value, Mapping):
        mapping = cast(Mapping[str, Any], value)
        return {key: _look(mapping, key) for key in mapping}
    if isinstance(value, Sequence):
        items = cast(Sequence[Any], value)
        return [_look(items, index) for index in range(len(items))]
    return value


def _look(holder: Any, key: Any) -> Any:
    try:
        return plain(holder[key])
    except UnknownValueError:
        return UNKNOWN


def _planned(resource: PolicyResource) -> Planned:
    return Planned(
        resource.urn,
        resource.resource_type,
        plain(resource.props),
        {key: [found.urn for found in sources] for key, sources in resource.property_dependencies.items()},
        resource.provider.urn if resource.provider else "",
    )


def _undecided(undecided: Undecided) -> UnknownValueError:
    """What the SDK raises itself, so that the engine reports the policy as not yet decidable."""
    return UnknownValueError(UNKNOWN_STRING_VALUE, undecided.path.split("."))


def policy(rule: Rule) -> Policy:
    """A rule as a policy. It reports what is certain before it says what it cannot decide."""
    about: dict[str, Any] = {
        "enforcement_level": EnforcementLevel.MANDATORY,
        "severity": Severity(rule.severity),
        "framework": PolicyComplianceFramework(
            rule.framework, rule.version or None, rule.reference or None, rule.description
        ),
        "remediation_steps": rule.steps,
        "url": rule.url,
    }

    def validate_resource(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if rule.resource is None or args.resource_type not in rule.types:
            return
        resource = Planned(args.urn, args.resource_type, plain(args.props))
        try:
            for violation in rule.resource(resource):
                report(violation.message, None)
        except Undecided as undecided:
            raise _undecided(undecided) from None

    def validate_stack(args: StackValidationArgs, report: ReportViolation) -> None:
        try:
            for violation in rule.stack(list(_relevant(args.resources, rule))) if rule.stack else ():
                report(violation.message, violation.urn or None)
        except Undecided as undecided:
            raise _undecided(undecided) from None

    if rule.stack:
        return StackValidationPolicy(rule.name, rule.description, validate_stack, **about)
    return ResourceValidationPolicy(rule.name, rule.description, validate_resource, **about)


def _relevant(resources: Sequence[PolicyResource], rule: Rule) -> Iterator[Planned]:
    return (_planned(resource) for resource in resources if resource.resource_type in rule.types)


POLICIES: list[Policy] = [policy(rule) for rule in RULES]
"""The pack, without the ``PolicyPack`` that serves it."""
