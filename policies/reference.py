"""The reference page of the pack, made from the rules: ``docs/policies.md``."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from .frameworks import (
    CIS_AWS_NAME,
    CIS_AWS_VERSION,
    CIS_EKS_NAME,
    CIS_EKS_VERSION,
    CIS_KUBERNETES_NAME,
    CIS_KUBERNETES_VERSION,
    FSBP_NAME,
    NOT_COVERED,
)
from .model import Rule
from .pack import RULES, TOPICS

INTRODUCTION = """\
# Policies

The rules of the policy pack in `policies/`. The pack judges any Pulumi program that creates EKS, EC2, IAM, S3 or
Kubernetes resources, with or without the components of this library. The same rules run in two places, with the same
findings.

Offline, without credentials:

```sh
winkube preview dev --policies policies
```

In the Pulumi engine, before it asks AWS for anything:

```sh title="needs AWS"
pulumi preview --policy-pack policies
```

*Mandatory* rules stop a deployment: they find what cannot work or is clearly unsafe. *Advisory* rules recommend a
better way. A file given with `--policy-pack-config` changes the level and the options of rules, and disables rules:

```json
{
  "metadata-hop-limit": {"maximum": 2},
  "eks-tagged": {"enforcementLevel": "mandatory", "keys": ["team", "environment"]},
  "load-balancer-logs": {"when": "always"},
  "bucket-access-logs": "disabled"
}
```

A value that is not known before the deployment is not judged: the rule then says which value it needs. Policy documents
and user data are mostly computed from other resources, so rules about them say nothing until the values are known, and
judge them in the deployment. They are marked *when known*. Rules marked *production* apply to production stacks, and to
resources whose tag `environment`, `env` or `stage` names production.

This page is generated from the rules by `make docs`.
"""

FRAMEWORK_TITLES = {
    FSBP_NAME: "AWS Foundational Security Best Practices and related Security Hub controls",
    CIS_AWS_NAME: f"CIS Amazon Web Services Foundations Benchmark {CIS_AWS_VERSION}",
    CIS_EKS_NAME: f"CIS Amazon EKS Benchmark {CIS_EKS_VERSION}",
    CIS_KUBERNETES_NAME: f"CIS Kubernetes Benchmark {CIS_KUBERNETES_VERSION}",
}


def policies_page() -> str:
    """The whole page."""
    lines = [INTRODUCTION, *_summary()]
    for topic, rules in TOPICS.items():
        lines += ["", f"## {topic}"]
        for rule in rules:
            lines += ["", *_rule(rule)]
    lines += ["", "## Frameworks", "", "Which rules look after which control, and why some controls have no rule."]
    for framework in FRAMEWORK_TITLES:
        lines += ["", *_framework(framework)]
    return "\n".join([*lines, ""])


def _summary() -> Iterator[str]:
    yield "| Topic | Rules | Mandatory | Advisory |"
    yield "| --- | ---: | ---: | ---: |"
    for topic, rules in [*TOPICS.items(), ("**All**", RULES)]:
        levels = Counter(rule.level for rule in rules)
        name = topic if topic.startswith("*") else f"[{topic}](#{topic.lower().replace(' ', '-')})"
        yield f"| {name} | {len(rules)} | {levels['mandatory']} | {levels['advisory']} |"


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.name}"
    yield ""
    marks = [rule.level, rule.severity, *(["when known"] if rule.late else ())]
    if "when" in rule.options:
        marks.append("production")
    yield f"{rule.title}. *{', '.join(marks)}*"
    yield ""
    why = _why(rule)
    if why:
        yield f"- Note: {why}"
    yield f"- Remedy: {rule.steps} ([page]({rule.url}))"
    if rule.references:
        yield f"- Refers to: {'; '.join(_grouped(rule))}"
    for name, option in rule.options.items():
        yield f"- Option `{name}` (`{json.dumps(option.default)}`): {option.meaning}"


def _why(rule: Rule) -> str:
    text = " ".join(((rule.resource or rule.stack).__doc__ or "").split()).removesuffix(".")
    return "" if text == rule.title else text


def _grouped(rule: Rule) -> list[str]:
    """The controls of a framework together: ``AWS FSBP EC2.8, EC2.170``."""
    groups: dict[str, list[str]] = {}
    for reference in rule.references:
        name = " ".join(part for part in (reference.framework, reference.version) if part)
        groups.setdefault(name, []).append(reference.control)
    return [f"{name}: {', '.join(controls)}" for name, controls in groups.items()]


def _framework(framework: str) -> Iterator[str]:
    yield f"### {FRAMEWORK_TITLES[framework]}"
    yield ""
    yield "| Control | Rules |"
    yield "| --- | --- |"
    for control, names in controls(framework):
        yield f"| {control} | {', '.join(f'[{name}](#{name})' for name in names)} |"
    yield ""
    yield "| Not covered, or in part | Reason |"
    yield "| --- | --- |"
    for control, reason in NOT_COVERED[framework].items():
        yield f"| {control} | {reason} |"


def controls(framework: str) -> list[tuple[str, Sequence[str]]]:
    """The controls of a framework that rules refer to, in their order, with the rules."""
    found: dict[str, list[str]] = {}
    for rule in RULES:
        for reference in rule.references:
            if reference.framework == framework:
                found.setdefault(reference.control, []).append(rule.name)
    return sorted(found.items(), key=lambda item: _order(item[0]))


def _order(control: str) -> list[tuple[str, int]]:
    """``EC2.9`` before ``EC2.10``."""
    return [
        (part.rstrip("0123456789"), int("0" + part[len(part.rstrip("0123456789")) :])) for part in control.split(".")
    ]
