"""What is wrong with the policies that a user adds to a role. Pure; reads the table of actions only when there are any.

Refused is what IAM would refuse, what grants nothing for sure, and what grants everything: the rest is the author's.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from .actions import Action, actions, services
from .patterns import arns_can_meet, matches
from .policy_documents import VERSION, Document, Statement, rendered

IAM_GUIDE = "https://docs.aws.amazon.com/IAM/latest/UserGuide"
GRAMMAR = f"{IAM_GUIDE}/reference_policies_grammar.html"
ACTIONS = "https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies.html"
QUOTAS = f"{IAM_GUIDE}/reference_iam-quotas.html"
CONTROLS = "https://docs.aws.amazon.com/securityhub/latest/userguide/iam-controls.html"

POLICY_FORMAT = Rule(
    "WK-IAM-001", "A policy is a document, a statement, a list of statements, or JSON of one of these.", GRAMMAR
)
POLICY_ELEMENT = Rule("WK-IAM-002", "Documents and statements can have only elements of the policy language.", GRAMMAR)
POLICY_VERSION = Rule("WK-IAM-003", "The version of the policy language is 2012-10-17.", GRAMMAR)
POLICY_EFFECT = Rule("WK-IAM-004", "The effect of a statement is Allow or Deny.", GRAMMAR)
ACTION_KNOWN = Rule("WK-IAM-005", "Every action must exist.", ACTIONS)
ACTION_EVERYTHING = Rule("WK-IAM-006", "No statement may allow all actions of AWS.", f"{CONTROLS}#iam-1")
ACTION_WHOLE_SERVICE = Rule("WK-IAM-007", "No statement may allow all actions of a service.", f"{CONTROLS}#iam-21")
RESOURCE_FORMAT = Rule(
    "WK-IAM-008", "A resource is * or an ARN in the role's own partition.", f"{IAM_GUIDE}/reference-arns.html"
)
GRANTS_NOTHING = Rule("WK-IAM-009", "Every action of a statement must apply to at least one of its resources.", ACTIONS)
IDENTITY_POLICY = Rule(
    "WK-IAM-010", "A role's policy must not name a principal, and must list what it allows.", GRAMMAR
)
CONDITION_OPERATOR = Rule(
    "WK-IAM-011",
    "A condition consists of an operator, a key and a value.",
    f"{IAM_GUIDE}/reference_policies_elements_condition_operators.html",
)
INLINE_SIZE = Rule("WK-IAM-012", "The inline policies of a role can have at most 10,240 characters in total.", QUOTAS)
STATEMENT_ID = Rule("WK-IAM-013", "A statement ID has only letters and digits, and must be unique.", GRAMMAR)
POLICY_CHARACTERS = Rule("WK-IAM-014", "A policy can contain only Latin-1 characters.", QUOTAS)

INLINE_LIMIT = 10_240
DOCUMENT_ELEMENTS = ("Version", "Id", "Statement")
STATEMENT_ELEMENTS = ("Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Condition",
                      "Principal", "NotPrincipal")  # fmt: skip
EFFECTS = ("Allow", "Deny")
_OPERATORS = tuple(
    f"{kind}{comparison}"
    for kind, comparisons in (
        ("String", ("Equals", "NotEquals", "EqualsIgnoreCase", "NotEqualsIgnoreCase", "Like", "NotLike")),
        ("Numeric", ("Equals", "NotEquals", "LessThan", "LessThanEquals", "GreaterThan", "GreaterThanEquals")),
        ("Date", ("Equals", "NotEquals", "LessThan", "LessThanEquals", "GreaterThan", "GreaterThanEquals")),
        ("Arn", ("Equals", "NotEquals", "Like", "NotLike")),
        ("", ("Bool", "BinaryEquals", "IpAddress", "NotIpAddress", "Null")),
    )
    for comparison in comparisons
)
_ARN = re.compile(r"arn:(?P<partition>[a-z*?-]+):[a-zA-Z0-9*?-]*:[^:]*:[^:]*:.+", re.DOTALL)
_COMMON = {
    "s3": "s3:GetObject, s3:PutObject, s3:ListBucket",
    "ec2": "ec2:DescribeInstances, ec2:DescribeTags",
    "ssm": "ssm:GetParameter",
    "kms": "kms:Decrypt",
    "secretsmanager": "secretsmanager:GetSecretValue",
    "ecr": "ecr:GetAuthorizationToken, ecr:BatchGetImage, ecr:GetDownloadUrlForLayer",
    "logs": "logs:CreateLogStream, logs:PutLogEvents",
    "autoscaling": "autoscaling:DescribeAutoScalingGroups, autoscaling:SetDesiredCapacity",
    "route53": "route53:ChangeResourceRecordSets, route53:ListResourceRecordSets",
}
"""What is usually meant by ``<service>:*``."""

PolicySource = Mapping[str, Any] | Sequence[Mapping[str, Any]] | str
"""A policy as users write it: a document, one statement, a list of statements, or any of them as JSON."""


def policy_document(source: PolicySource) -> Document:
    """The whole document that a valid source means.

    >>> policy_document('[{"Effect": "Allow", "Action": "ec2:DescribeTags", "Resource": "*"}]')["Version"]
    '2012-10-17'
    """
    value: Any = json.loads(source) if isinstance(source, str) else source
    if isinstance(value, Mapping):
        mapping = cast(Mapping[str, Any], value)
        if "Statement" in mapping:
            return {"Version": VERSION, **mapping}
        value = [mapping]
    return {"Version": VERSION, "Statement": [dict(statement) for statement in cast(Sequence[Statement], value)]}


def check_policy_documents(
    documents: Sequence[PolicySource],
    path: Path = ("additional_policies",),
    *,
    partition: str | None = None,
    beside: Sequence[PolicySource] = (),
) -> Mistakes:
    """Everything that is wrong with inline policies (``WK-IAM-001`` to ``WK-IAM-014``).

    :param partition: of the role; a resource of another one is refused. None leaves that out.
    :param beside: further inline policies of the role, unchecked, which take their share of the room.
    """
    found = Mistakes()
    size = sum(map(_size, beside)) if documents else 0
    for index, source in enumerate(documents):
        inner = _check_source(source, partition)
        found.take(inner, *path, index)
        if not any(mistake.rule is POLICY_FORMAT for mistake in inner):
            size += _size(source)
    if size > INLINE_LIMIT:
        found.add(INLINE_SIZE, path, f"the inline policies of a role can have at most {INLINE_LIMIT:,} characters, "
                  f"and these have {size:,}", "turn the largest into managed policies and list them in "
                  "external_policies")  # fmt: skip
    return found


def _size(source: PolicySource) -> int:
    """What IAM counts of a policy: everything but white space."""
    return len("".join(rendered(policy_document(source)).split()))


def _check_source(source: PolicySource, partition: str | None) -> Mistakes:
    found = Mistakes()
    value: Any = source
    if isinstance(source, str):
        try:
            value = json.loads(source)
        except ValueError as error:
            found.add(POLICY_FORMAT, (), f"is not JSON: {error}", "correct the text, or write the policy as a mapping",
                      source)  # fmt: skip
            return found
    text = _plain_text(value)
    beyond = "" if text.isascii() else "".join(sorted({letter for letter in text if ord(letter) > 0xFF}))
    if beyond:
        found.add(
            POLICY_CHARACTERS,
            (),
            "a policy can contain only characters up to U+00FF",
            "replace the other characters",
            beyond,
        )
    statements: list[tuple[Path, Any]] = _numbered(value, ())
    if isinstance(value, Mapping):
        mapping = cast(Mapping[str, Any], value)
        statements = [((), mapping)]
        if "Statement" in mapping:
            found.take(_check_document(mapping))
            inner: Any = mapping["Statement"]
            path: Path = ("Statement",)
            statements = [(path, inner)] if isinstance(inner, Mapping) else _numbered(inner, path)
    seen: set[str] = set()
    for path, statement in statements:
        if isinstance(statement, Mapping):
            found.take(_check_statement(cast(Mapping[str, Any], statement), partition, seen), *path)
        else:
            found.add(POLICY_FORMAT, path, "a statement is a mapping with Effect, Action and Resource",
                      "write one", statement)  # fmt: skip
    return found


def _numbered(value: Any, path: Path) -> list[tuple[Path, Any]]:
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return [((*path, index), item) for index, item in enumerate(cast(Sequence[Any], value))]
    return [(path, value)]


def _plain_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _check_document(document: Mapping[str, Any]) -> Mistakes:
    found = Mistakes()
    _check_elements(document, DOCUMENT_ELEMENTS, found)
    version = document.get("Version", VERSION)
    if version != VERSION:
        found.add(POLICY_VERSION, ("Version",), "is not the version of the policy language",
                  f'write "{VERSION}", which is a fixed date', version)  # fmt: skip
    return found


def _check_elements(element: Mapping[str, Any], allowed: Sequence[str], found: Mistakes) -> None:
    for key in element:
        if key not in allowed:
            near = nearest(key, allowed)
            remedy = f'write "{near}"' if near else f"remove it; the elements are {', '.join(allowed)}"
            found.add(POLICY_ELEMENT, (key,), "is not an element of the policy language", remedy)


def _check_statement(statement: Mapping[str, Any], partition: str | None, seen: set[str]) -> Mistakes:
    found = Mistakes()
    _check_elements(statement, STATEMENT_ELEMENTS, found)
    _check_id(statement, seen, found)
    effect = statement.get("Effect")
    if effect not in EFFECTS:
        near = nearest(str(effect), EFFECTS)
        message = "is missing" if effect is None else f"is not {one_of(EFFECTS)}"
        found.add(
            POLICY_EFFECT, ("Effect",), message, f'write "{near}"' if near else f"write {one_of(EFFECTS)}", effect
        )
    for element in ("Principal", "NotPrincipal"):
        if element in statement:
            found.add(IDENTITY_POLICY, (element,), "a role's policy must not name a principal",
                      f"remove {element}", statement[element])  # fmt: skip
    if effect == "Allow" and "NotAction" in statement:
        found.add(IDENTITY_POLICY, ("NotAction",), "Allow with NotAction allows all other actions of AWS",
                  "list the actions in Action", statement["NotAction"])  # fmt: skip
    matched = _check_actions(statement, found)
    resources = _check_resources(statement, partition, found)
    if effect == "Allow" and resources is not None and not any(mistake.path[0] == "Resource" for mistake in found):
        _check_grants(matched, resources, found)
    _check_conditions(statement.get("Condition", {}), found)
    return found


def _check_id(statement: Mapping[str, Any], seen: set[str], found: Mistakes) -> None:
    sid = statement.get("Sid")
    if sid is None or sid == "":
        return
    if not isinstance(sid, str) or not re.fullmatch(r"[A-Za-z0-9]+", sid):
        found.add(STATEMENT_ID, ("Sid",), "a statement ID has only letters and digits",
                  "remove the other characters", sid)  # fmt: skip
    elif sid in seen:
        found.add(STATEMENT_ID, ("Sid",), "another statement of the document has this ID", "change one of the two", sid)
    seen.add(str(sid))


def _entries(statement: Mapping[str, Any], element: str, found: Mistakes) -> list[tuple[Path, str]]:
    """The texts of an element that is a text or a list of texts, each with its path."""
    value = statement[element]
    listed = [((element,), value)] if isinstance(value, str) else _numbered(value, (element,))
    texts: list[tuple[Path, str]] = []
    for path, item in listed:
        if isinstance(item, str):
            texts.append((path, item))
        else:
            found.add(
                POLICY_FORMAT, path, f"{element} must be a string or a list of strings", "correct the value", item
            )
    return texts


def _check_actions(statement: Mapping[str, Any], found: Mistakes) -> list[tuple[Path, str, list[Action]]]:
    """Note unknown and boundless actions; give the patterns that are neither, with the actions they match."""
    element = next((name for name in ("Action", "NotAction") if name in statement), None)
    if element is None:
        found.add(POLICY_FORMAT, ("Action",), "is missing", 'name the actions, such as "ec2:DescribeTags"')
        return []
    broad = element == "Action" and statement.get("Effect") != "Deny"
    matched: list[tuple[Path, str, list[Action]]] = []
    for path, pattern in _entries(statement, element, found):
        service, _, name = pattern.partition(":")
        if not pattern.strip("*?:"):
            if broad:
                found.add(ACTION_EVERYTHING, path, "allows every action of AWS",
                          "list the needed actions", pattern)  # fmt: skip
        elif service.lower() not in services():
            near = nearest(service, services())
            remedy = f'write "{near}:{name or "…"}"' if near else 'write "service:Action", such as "s3:GetObject"'
            message = f"AWS has no service {json.dumps(service)}" if name else "an action is a service and a name"
            found.add(ACTION_KNOWN, path, message, remedy, pattern)
        elif not name.strip("*?"):
            if broad:
                usual = _COMMON.get(service.lower())
                found.add(ACTION_WHOLE_SERVICE, path, f"allows every action of {service}, including future ones",
                          f"list the needed actions{f', such as {usual}' if usual else ''}",
                          pattern)  # fmt: skip
        elif found_actions := _matching(service.lower(), name.lower()):
            matched.append((path, pattern, found_actions))
        else:
            found.add(ACTION_KNOWN, path, *_unknown_action(service.lower(), name), pattern)
    return matched


def _matching(service: str, name: str) -> list[Action]:
    known = actions(service)
    if "*" not in name and "?" not in name:
        return [known[name]] if name in known else []
    return [action for key, action in known.items() if matches(key, name)]


def _unknown_action(service: str, name: str) -> tuple[str, str]:
    if "*" in name or "?" in name:
        return f"no action of {service} matches", "correct the pattern"
    near = nearest(name, [action.name for action in actions(service).values()])
    return f"{service} has no such action", f'write "{service}:{near}"' if near else f"see {ACTIONS}"


def _check_resources(statement: Mapping[str, Any], partition: str | None, found: Mistakes) -> list[str] | None:
    """Note what is no resource; give the resources, or None where there are none to judge."""
    element = next((name for name in ("Resource", "NotResource") if name in statement), None)
    if element is None:
        found.add(RESOURCE_FORMAT, ("Resource",), "is missing", 'name the ARNs, or write "*"')
        return None
    resources: list[str] = []
    for path, resource in _entries(statement, element, found):
        resources.append(resource)
        arn = _ARN.fullmatch(resource)
        if resource.strip("*") and arn is None:
            found.add(RESOURCE_FORMAT, path, 'is neither "*" nor an ARN',
                      "write it as arn:partition:service:region:account:resource", resource)  # fmt: skip
        elif arn and partition and not matches(partition, arn["partition"]):
            _, _, rest = resource.removeprefix("arn:").partition(":")
            found.add(RESOURCE_FORMAT, path, f"is not in the role's partition, {partition}",
                      f'write "arn:{partition}:{rest}"', resource)  # fmt: skip
    return resources if element == "Resource" else None


def _check_grants(matched: Iterable[tuple[Path, str, list[Action]]], resources: list[str], found: Mistakes) -> None:
    if any(not resource.strip("*") for resource in resources):
        return
    for path, pattern, candidates in matched:
        arn_formats = [arn for action in candidates for arn in action.resources]
        if not arn_formats:
            found.add(GRANTS_NOTHING, path, "cannot be limited to a resource, so this statement grants nothing",
                      'move it to a separate statement with "Resource": "*"', pattern)  # fmt: skip
        elif not any(arns_can_meet(arn, resource) for arn in arn_formats for resource in resources):
            found.add(
                GRANTS_NOTHING,
                path,
                "does not apply to any of the statement's resources, so this grants nothing",
                f"use a resource in the format {one_of(dict.fromkeys(arn_formats))}",
                pattern,
            )


def _check_conditions(conditions: Any, found: Mistakes) -> None:
    if not isinstance(conditions, Mapping):
        found.add(POLICY_FORMAT, ("Condition",), "a condition maps operators to keys and values",
                  'write it as {"StringEquals": {"key": "value"}}', conditions)  # fmt: skip
        return
    for operator, keys in cast(Mapping[str, Any], conditions).items():
        bare = operator.removeprefix("ForAllValues:").removeprefix("ForAnyValue:")
        if bare not in _OPERATORS and (bare == "NullIfExists" or bare.removesuffix("IfExists") not in _OPERATORS):
            near = nearest(bare.removesuffix("IfExists"), _OPERATORS)
            found.add(CONDITION_OPERATOR, ("Condition", operator), "is not a condition operator",
                      f'write "{near}"' if near else f"see {CONDITION_OPERATOR.source}", operator)  # fmt: skip
        elif not isinstance(keys, Mapping) or not keys:
            found.add(CONDITION_OPERATOR, ("Condition", operator), "an operator maps keys to values",
                      f'write it as {{"{operator}": {{"key": "value"}}}}', keys)  # fmt: skip
