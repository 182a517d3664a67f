"""The check of a pull request: evaluates and checks every stack, compares it with the base, and writes reports.

The output folder gets ``comment.md``, an HTML page for each stack, and the findings as SARIF and JUnit.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from ..comparison.difference import Difference
from ..errors import PreviewError
from ..evaluation.project import read_project
from ..model import Plan
from ..output import pages, plan_formats, sarif_junit
from ..output.difference_markdown import MARKDOWN_LIMIT
from ..output.difference_markdown import markdown_text as differences_text
from ..text.markdown import escape
from .revisions import Evaluation, check_and_compare
from .stacks import checked_stacks


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """The stacks to check, and how."""

    program: Path
    """Folder with ``Pulumi.yaml``."""
    output: Path
    """Folder for the results; created if it is missing."""
    stacks: Sequence[str] = ()
    """Names of stacks. Default: all stacks that have a file."""
    base: str | None = None
    """Git revision to compare with. Default: none."""
    policies: Path | None = None
    policy_config: Path | None = None
    answers: Path | None = None
    timeout_seconds: float = 120.0
    """Time limit for each program when two revisions are compared."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a check."""

    plans: Sequence[Plan]
    failures: Mapping[str, str]
    """Stack to error message, for the stacks that cannot be evaluated."""
    differences: Sequence[Difference]
    comparison_failure: str
    """Why there is no comparison; ``""`` where there is one, or none was requested."""

    @property
    def blocking(self) -> bool:
        """Whether any stack has a finding that is more than a note."""
        return any(plan.blocking for plan in self.plans)


def check(request: CheckRequest) -> Result:
    """Evaluate the stacks, check them, compare them and write the results.

    :raises PreviewError: the project is wrong, or nothing can be written.
    """
    stacks = list(request.stacks) or read_project(request.program).stacks()
    if not stacks:
        raise PreviewError(f"{request.program} has no Pulumi.<stack>.yaml, so there is no stack to check")
    try:
        request.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PreviewError(f"--output {request.output}: {error.strerror}") from None
    found, differences, comparison_failure = _evaluated(request, stacks)
    failures = {stack: str(it) for stack, it in zip(stacks, found, strict=True) if isinstance(it, PreviewError)}
    result = Result([it for it in found if isinstance(it, Plan)], failures, differences, comparison_failure)
    _write(request, result)
    return result


def _evaluated(
    request: CheckRequest, stacks: Sequence[str]
) -> tuple[Sequence[Plan | PreviewError], Sequence[Difference], str]:
    """The plan of each stack, the differences from the base, and why there are none.

    Each stack is evaluated once. A base that cannot be evaluated does not fail the rest of the check.
    """
    if not request.base:
        found = checked_stacks(
            request.program,
            stacks,
            answers=request.answers,
            policies=request.policies,
            policy_config=request.policy_config,
        )
        return found, [], ""
    evaluation = Evaluation(answers=request.answers, policies=request.policies, policy_config=request.policy_config,
                            timeout_seconds=request.timeout_seconds)  # fmt: skip
    checked = check_and_compare(request.program, request.base, stacks, evaluation)
    return checked.stacks, checked.differences, checked.failure


def _write(request: CheckRequest, result: Result) -> None:
    texts = {"comment.md": comment(result), "findings.sarif": _sarif(result.plans), "findings.xml": _junit(result)}
    try:
        for name, text in texts.items():
            (request.output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise PreviewError(f"{error.filename}: {error.strerror}") from None
    compared = {difference.head.stack: difference for difference in result.differences}
    for plan in result.plans:
        page = request.output / f"{plan.stack}.html"
        pages.write_pages(plan, request.program, page, None, compared.get(plan.stack))


def comment(result: Result, limit: int = MARKDOWN_LIMIT) -> str:
    """The comment, of at most ``limit`` bytes: failures, differences, then the stacks that fit."""
    parts: list[str] = []
    for stack, message in result.failures.items():
        lines = [escape(line) for line in message.splitlines()[:40]]
        parts.append("\n".join([f"## ❌ `{stack}` cannot be evaluated", "", *[f"> {line}  " for line in lines], ""]))
    if result.comparison_failure:
        parts.append(f"> No comparison with the base: {escape(' '.join(result.comparison_failure.split()))}\n")
    room = limit - _bytes(parts)
    if result.differences:
        parts.append(differences_text(result.differences, room // 2))
    for plan in result.plans:
        for text in (plan_formats.markdown_text(plan), plan_formats.markdown_summary(plan)):
            if _bytes([*parts, text]) <= limit - 200:
                parts.append(text)
                break
        else:
            parts.append("\nThe other stacks do not fit into this comment: see their pages.\n")
            break
    return "\n".join(parts)


def _bytes(parts: Sequence[str]) -> int:
    return sum(len(part.encode("utf-8", "replace")) + 1 for part in parts)


def _sarif(plans: Sequence[Plan]) -> str:
    """One run per stack, so that code scanning keeps them apart."""
    documents = [sarif_junit.to_sarif(plan) for plan in plans]
    runs: list[Any] = [
        {**run, "automationDetails": {"id": f"winkube/{plan.stack}/"}}
        for plan, document in zip(plans, documents, strict=True)
        for run in document["runs"]
    ]
    head = documents[0] if documents else {"version": "2.1.0"}
    return json.dumps({**head, "runs": runs}, indent=2, ensure_ascii=False) + "\n"


def _junit(result: Result) -> str:
    """One suite per stack; a stack that cannot be evaluated is a suite with an error."""
    suites = ET.Element("testsuites")
    for plan in result.plans:
        found = ET.fromstring(sarif_junit.junit_text(plan))  # noqa: S314 (made a line above)
        suites.extend([found] if found.tag == "testsuite" else list(found))
    for stack, message in result.failures.items():
        suite = ET.SubElement(suites, "testsuite", name=stack, tests="1", errors="1", failures="0")
        case = ET.SubElement(suite, "testcase", name="evaluate", classname=stack)
        ET.SubElement(case, "error", message=message.splitlines()[0]).text = message
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
