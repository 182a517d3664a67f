"""The check of a pull request: every stack evaluated and judged, compared with the base, written for its readers.

Into one folder go ``comment.md``, a page per stack, and the findings as SARIF and JUnit.
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
class Wish:
    """What is to be checked, and with what."""

    program: Path
    """Folder with ``Pulumi.yaml``."""
    output: Path
    """Folder that the results are written to; made where it is missing."""
    stacks: Sequence[str] = ()
    """Names of stacks; all that have a file by default."""
    base: str | None = None
    """Git revision to compare with; none by default."""
    policies: Path | None = None
    policy_config: Path | None = None
    answers: Path | None = None
    timeout_seconds: float = 120.0
    """How long each program may take where two revisions are compared."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found."""

    plans: Sequence[Plan]
    failures: Mapping[str, str]
    """Stack to message, of those that cannot be evaluated."""
    differences: Sequence[Difference]
    comparison_failure: str
    """Why there is no comparison, ``""`` where there is one or none was wished."""

    @property
    def blocking(self) -> bool:
        """Whether any stack has a finding that is more than a note."""
        return any(plan.blocking for plan in self.plans)


def check(wish: Wish) -> Result:
    """Evaluate, judge, compare and write.

    :raises PreviewError: the project is wrong, or nothing can be written.
    """
    stacks = list(wish.stacks) or read_project(wish.program).stacks()
    if not stacks:
        raise PreviewError(f"{wish.program} has no Pulumi.<stack>.yaml: there is no stack to check")
    try:
        wish.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PreviewError(f"--output {wish.output}: {error.strerror}") from None
    found, differences, comparison_failure = _evaluated(wish, stacks)
    failures = {stack: str(it) for stack, it in zip(stacks, found, strict=True) if isinstance(it, PreviewError)}
    result = Result([it for it in found if isinstance(it, Plan)], failures, differences, comparison_failure)
    _write(wish, result)
    return result


def _evaluated(wish: Wish, stacks: Sequence[str]) -> tuple[Sequence[Plan | PreviewError], Sequence[Difference], str]:
    """Each stack, evaluated once, the differences to the base, and why there are none.

    A base that cannot be evaluated does not take the rest of the check away.
    """
    if not wish.base:
        found = checked_stacks(
            wish.program, stacks, answers=wish.answers, policies=wish.policies, policy_config=wish.policy_config
        )
        return found, [], ""
    evaluation = Evaluation(answers=wish.answers, policies=wish.policies, policy_config=wish.policy_config,
                            timeout_seconds=wish.timeout_seconds)  # fmt: skip
    judged = check_and_compare(wish.program, wish.base, stacks, evaluation)
    return judged.stacks, judged.differences, judged.failure


def _write(wish: Wish, result: Result) -> None:
    texts = {"comment.md": comment(result), "findings.sarif": _sarif(result.plans), "findings.xml": _junit(result)}
    try:
        for name, text in texts.items():
            (wish.output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise PreviewError(f"{error.filename}: {error.strerror}") from None
    compared = {difference.head.stack: difference for difference in result.differences}
    for plan in result.plans:
        page = wish.output / f"{plan.stack}.html"
        pages.write_pages(plan, wish.program, page, None, compared.get(plan.stack))


def comment(result: Result, limit: int = MARKDOWN_LIMIT) -> str:
    """The comment, of at most ``limit`` bytes: failures, what changes, then each stack as far as there is room."""
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
            parts.append("\nFurther stacks have no room here: see their pages.\n")
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
