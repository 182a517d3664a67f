"""How policies are written: the checks of the role components over any program."""

from collections.abc import Iterator
from functools import lru_cache

from winkube.core.mistakes import Mistake
from winkube.roles.actions import services
from winkube.roles.validation import (
    ACTION_EVERYTHING,
    ACTION_KNOWN,
    ACTION_WHOLE_SERVICE,
    GRANTS_NOTHING,
    POLICY_VERSION,
    RESOURCE_FORMAT,
    check_policy_documents,
)

from ...model import Planned, Settings, Value, every, resource_rule
from ...resource_types import IDENTITY_POLICIES
from ...statements import documents, parsed, statements

# What the shape of a policy decides by itself; what needs the table of actions is advice, as tables grow old.
_OTHER_RULES = {rule.code for rule in (ACTION_KNOWN, GRANTS_NOTHING, RESOURCE_FORMAT,
                                       ACTION_EVERYTHING, ACTION_WHOLE_SERVICE, POLICY_VERSION)}  # fmt: skip
_TABLE_RULES = {ACTION_KNOWN.code, GRANTS_NOTHING.code, RESOURCE_FORMAT.code}


@resource_rule(
    "iam-policy-shape",
    "Policies have the form that IAM accepts",
    types=IDENTITY_POLICIES,
    severity="high",
    level="mandatory",
    steps="correct the document; IAM refuses it as it stands",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html",
    late=True,
)
def iam_policy_shape(resource: Planned, settings: Settings) -> Iterator[str]:
    """Uses the checks of the role components: elements, effects, ids, conditions."""
    yield from every(documents(resource, "policy"), lambda document: _mistakes(document, others=False))


@resource_rule(
    "iam-policy-actions",
    "Policies name actions that exist, on resources that support them",
    types=IDENTITY_POLICIES,
    severity="medium",
    steps="correct the name; an action that does not exist grants nothing",
    url="https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies.html",
    late=True,
)
def iam_policy_actions(resource: Planned, settings: Settings) -> Iterator[str]:
    """Uses the library's table of actions, which may not know newer ones; the rule is therefore advisory."""
    yield from every(documents(resource, "policy"), lambda document: _mistakes(document, others=True))


def _mistakes(document: Value, *, others: bool) -> Iterator[str]:
    content = document.known()
    if content is None or (others and parsed(document) is None):
        return
    reported = _TABLE_RULES if _resources_known(document) else _TABLE_RULES - {GRANTS_NOTHING.code}
    found = _found_in(content) if isinstance(content, str) else check_policy_documents([parsed(document) or {}], ())
    for mistake in found:
        if mistake.rule.code in reported if others else mistake.rule.code not in _OTHER_RULES:
            yield f"{document.path}: {_sentence(mistake)}"


@lru_cache(maxsize=256)
def _found_in(content: str) -> tuple[Mistake, ...]:
    """Remembered, as two rules ask, and roles of one kind have the same documents."""
    return tuple(check_policy_documents([content], ()))


def _resources_known(document: Value) -> bool:
    """Whether the resources are of services that the table knows: what others are, and can be, nobody can tell."""
    arns = [resource.split(":") for statement in statements(document) for resource in statement.resources]
    return all(arn[2] in services() or "*" in arn[2] for arn in arns if len(arn) > 5)


def _sentence(mistake: Mistake) -> str:
    # Without the value: a document may hold what must not be shown.
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in mistake.path[1:]).lstrip(".")
    return f"{place}: {mistake.message}; {mistake.remedy}" if place else f"{mistake.message}; {mistake.remedy}"
