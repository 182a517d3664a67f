"""The registry of rules, and the rules as policies of the Pulumi policy SDK."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyComplianceFramework,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from .model import UNKNOWN, Planned, Rule, Stack, Undecided
from .resource_types import KNOWN_TYPES
from .rules import (
    eks,
    identity,
    instances,
    load_balancing,
    network,
    storage,
    windows_nodes,
    windows_workloads,
    workloads,
)

TOPICS: Mapping[str, Sequence[Rule]] = {
    "Instances": instances.RULES,
    "Networks": network.RULES,
    "Load balancers": load_balancing.RULES,
    "Storage": storage.RULES,
    "Identity and keys": identity.RULES,
    "EKS": eks.RULES,
    "Windows nodes": windows_nodes.RULES,
    "Workloads": workloads.RULES,
    "Workloads on Windows": windows_workloads.RULES,
}
"""The rules by topic, in the order of the reference page."""

RULES: tuple[Rule, ...] = tuple(rule for rules in TOPICS.values() for rule in rules)
"""All rules."""


def plain(value: Any) -> Any:
    """Properties as plain data, an unknown as :data:`UNKNOWN` instead of an exception on sight."""
    if type(value) in _PLAIN:
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
        value = holder[key]
    except UnknownValueError:
        return UNKNOWN
    return value if type(value) in _PLAIN else plain(value)


_PLAIN = frozenset((str, bool, float, int, type(None)))


class TypedResourcePolicy(ResourceValidationPolicy):
    """A policy that says which types it looks at, so that it need not be asked about others."""

    resource_types: frozenset[str] = frozenset()


class TypedStackPolicy(StackValidationPolicy):
    """The same for the stack: it has nothing to say of one that has none of its types, and it changes no resource."""

    resource_types: frozenset[str] = frozenset()


class _Memory(threading.local):
    """What was decoded for the rule before is used for the next: each policy is given the properties anew.

    The engine asks the policies in their order, first all about one resource, then all about the next, or about the
    stack. A policy that is not behind the last one therefore begins anew.
    """

    def __init__(self) -> None:
        self.subject = ""
        self.last = -1
        self.found: Any = None

    def recall(self, subject: str, index: int, make: Callable[[], Any]) -> Any:
        """What was made for the subject in this round, else what ``make`` makes."""
        if self.found is None or subject != self.subject or index <= self.last:
            self.subject, self.found = subject, make()
        self.last = index
        return self.found


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


def _about(rule: Rule) -> dict[str, Any]:
    first = rule.references[0] if rule.references else None
    framework = None
    if first:
        framework = PolicyComplianceFramework(first.framework, first.version or None, first.control, rule.title)
    schema = None
    if rule.options:
        schema = PolicyConfigSchema({
            name: {**option.schema, "default": option.default, "description": option.meaning}
            for name, option in rule.options.items()
        })  # fmt: skip
    return {
        "enforcement_level": EnforcementLevel(rule.level),
        "severity": Severity(rule.severity),
        "framework": framework,
        "tags": [str(reference) for reference in rule.references],
        "remediation_steps": rule.steps,
        "url": rule.url,
        "config_schema": schema,
    }


def _settings(rule: Rule, given: Mapping[str, Any]) -> dict[str, Any]:
    # The CLI applies the schema's defaults, the SDK in process does not.
    return {**rule.settings, **{name: value for name, value in given.items() if value is not None}}


def _resource_policy(rule: Rule, index: int, memory: _Memory) -> Policy:
    check = rule.resource
    assert check is not None  # noqa: S101

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if args.resource_type not in rule.types:
            return
        urn, kind = args.urn, args.resource_type
        planned = memory.recall(urn, index, lambda: Planned(urn, kind, plain(args.props)))
        try:
            for message in check(planned, _settings(rule, args.get_config())):
                report(message, None)
        except Undecided as undecided:
            if rule.late:
                args.not_applicable(str(undecided))
            raise _undecided(undecided) from None

    policy = TypedResourcePolicy(rule.name, rule.title, validate, **_about(rule))
    policy.resource_types = rule.types
    return policy


def _stack_policy(rule: Rule, index: int, memory: _Memory) -> Policy:
    check = rule.stack
    assert check is not None  # noqa: S101

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        def make() -> Stack:
            return Stack([_planned(resource) for resource in args.resources if resource.resource_type in KNOWN_TYPES])

        stack: Stack = memory.recall("the stack", index, make)
        if not any(kind in stack.by_type for kind in rule.types):
            return
        try:
            for violation in check(stack, _settings(rule, args.get_config())):
                report(violation.message, violation.urn or None)
        except Undecided as undecided:
            if rule.late:
                args.not_applicable(str(undecided))
            raise _undecided(undecided) from None

    policy = TypedStackPolicy(rule.name, rule.title, validate, **_about(rule))
    policy.resource_types = rule.types
    return policy


def make_policies(rules: Iterable[Rule] = RULES) -> list[Policy]:
    """The rules as policies, with a memory of their own."""
    memory = _Memory()
    return [
        _resource_policy(rule, index, memory) if rule.resource else _stack_policy(rule, index, memory)
        for index, rule in enumerate(rules)
    ]


POLICIES: list[Policy] = make_policies()
"""The pack, without the ``PolicyPack`` that serves it."""
