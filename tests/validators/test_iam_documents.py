"""Every IAM document of every stack and example: actions that exist and are written out, and what linters say."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pulumi_aws as aws
import pytest
from policy_sentry.querying.actions import get_actions_for_service
from winkube.preview.evaluation.evaluate import evaluate, evaluate_function

from tests.validators.explained import Exceptions, Finding
from tests.validators.iam_documents import Found, iam_documents
from tests.validators.linter import lint
from tests.validators.programs import PROGRAMS

pytestmark = pytest.mark.verify

EXCEPTIONS = Exceptions(Path(__file__).parent / "iam_exceptions.yaml")
TRUST = "assumeRolePolicy"


@cache
def documents(label: str) -> tuple[Found, ...]:
    folder, stack = PROGRAMS[label]
    return tuple(iam_documents(evaluate(folder, stack, mode="update"), label))


def findings(found: Found) -> Iterator[Finding]:
    def finding(check: str, text: str) -> Finding:
        return Finding(check, found.plan, found.address, text)

    for statement in found.statements:
        for action in listed(statement.get("Action", statement.get("NotAction"))):
            service, _, _ = action.partition(":")
            # A refusal may be as broad as it likes.
            if "*" in action or "?" in action:
                if statement["Effect"] == "Allow":
                    yield finding("wildcard-action", action)
            elif action.lower() not in known_actions(service):
                yield finding("unknown-action", action)
    if found.key == TRUST:
        yield from (finding("trust", text) for text in judged_trust(found))
    else:
        # parliament wants resources, which a trust policy has none of.
        yield from (finding(issue, detail) for issue, detail in lint(json.dumps(found.document)))


def listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


@cache
def known_actions(service: str) -> frozenset[str]:
    return frozenset(action.lower() for action in get_actions_for_service(service))


def judged_trust(found: Found) -> Iterator[str]:
    """A role is for one service, or for one service account whose token was made for STS."""
    for statement in found.statements:
        principal: Mapping[str, Any] = statement["Principal"]
        if not isinstance(principal, dict) or set(principal) - {"Service", "Federated"}:
            yield f"trusts {principal}"
        elif "Federated" in principal:
            equal = statement.get("Condition", {}).get("StringEquals", {})
            keys = {key.rpartition(":")[2]: value for key, value in equal.items()}
            if keys.get("aud") != "sts.amazonaws.com" or "*" in str(keys.get("sub", "*")):
                yield "is not bound to one service account"


def every_finding() -> list[Finding]:
    return [finding for label in PROGRAMS for found in documents(label) for finding in findings(found)]


@pytest.mark.parametrize("label", PROGRAMS)
def test_nothing_is_left_unexplained(label: str) -> None:
    left = EXCEPTIONS.left(finding for found in documents(label) for finding in findings(found))
    assert not left, "mend these, or explain them in iam_exceptions.yaml:\n" + "\n".join(map(str, left))


def test_every_exception_is_needed_and_explained() -> None:
    assert not list(EXCEPTIONS.useless(every_finding()))
    assert not list(EXCEPTIONS.unexplained())


def test_no_kind_of_document_is_forgotten() -> None:
    """Every property that can hold a policy is read: what is set there is a document that was judged."""
    for label, (folder, stack) in PROGRAMS.items():
        plan = evaluate(folder, stack, mode="update")
        policies = [
            (resource.name, key)
            for resource in plan.resources
            if resource.type.startswith("aws:")
            for key in resource.inputs
            if key in ("policy", "assumeRolePolicy", "inlinePolicies", "accessPolicy", "policyDocument")
        ]
        assert len(policies) == len(documents(label)) > 0


def planted(policy: Mapping[str, Any], trust: Mapping[str, Any]) -> set[str]:
    def build() -> None:
        role = aws.iam.Role("role", assume_role_policy=json.dumps(trust))
        bucket = aws.s3.Bucket("bucket")
        text = bucket.arn.apply(lambda arn: json.dumps(policy).replace("BUCKET", arn))
        aws.iam.RolePolicy("policy", role=role.id, policy=text)

    plan = evaluate_function(build, mode="update")
    return {finding.check for found in iam_documents(plan, "planted") for finding in findings(found)}


OWN_SERVICE = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
TOKEN = {"Effect": "Allow", "Principal": {"Federated": "arn:aws:iam::111122223333:oidc-provider/x"},
         "Action": "sts:AssumeRoleWithWebIdentity"}  # fmt: skip


@pytest.mark.parametrize(
    ("action", "resource", "found"),
    [
        ("s3:GetObject", "BUCKET/*", set()),
        ("s3:GetObject", "BUCKET", {"RESOURCE_MISMATCH"}),
        ("s3:GetObjekt", "BUCKET/*", {"unknown-action", "UNKNOWN_ACTION"}),
        ("s3:Get*", "*", {"wildcard-action", "RESOURCE_STAR"}),
        ("*", "*", {"wildcard-action"}),
    ],
)
def test_a_planted_action_is_found(action: str, resource: str, found: set[str]) -> None:
    """The same path finds what is wrong for sure, behind a placeholder too."""
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": resource}]}
    assert planted(policy, {"Statement": [OWN_SERVICE]}) == found


@pytest.mark.parametrize(
    ("trust", "found"),
    [
        (OWN_SERVICE, set()),
        ({**OWN_SERVICE, "Action": "sts:AssumeRoll"}, {"unknown-action"}),
        ({**OWN_SERVICE, "Principal": {"AWS": "*"}}, {"trust"}),
        ({**OWN_SERVICE, "Principal": "*"}, {"trust"}),
        (TOKEN, {"trust"}),
        ({**TOKEN, "Condition": {"StringEquals": {"x:aud": "sts.amazonaws.com"}}}, {"trust"}),
        ({**TOKEN, "Condition": {"StringEquals": {"x:aud": "sts.amazonaws.com", "x:sub": "system:*"}}}, {"trust"}),
        ({**TOKEN, "Condition": {"StringEquals": {"x:aud": "sts.amazonaws.com", "x:sub": "system:a:b"}}}, set()),
    ],
)
def test_a_planted_trust_is_found(trust: Mapping[str, Any], found: set[str]) -> None:
    policy = {"Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "BUCKET/*"}]}
    assert planted({"Version": "2012-10-17", **policy}, {"Statement": [trust]}) == found
