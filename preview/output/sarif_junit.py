"""Writes the findings of a plan for other tools: SARIF for code scanning, JUnit for test reports.

The files hold no values of properties, and messages are searched for every secret of the plan.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from ..comparison.matching import relative
from ..model import Finding, Plan, Severity
from ..text.redact import Redactor

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
CHECKS: Mapping[str, str] = {
    "check/default-provider": "A resource needs a default provider, but the configuration disables it",
    "check/exposed-secret": "A secret is in tags or user data, which many may read",
    "check/inputs": "An input that the SDK class of the resource does not accept",
    "check/kubernetes-schema": "An object that the Kubernetes release of the cluster does not accept",
    "check/plain-secret": "A secret in plain text",
    "check/remote-component": "A component whose children are not known before the deployment",
    "check/text-leak": "The text of a missing value or of an Output inside a string",
    "check/transforms": "A resource with transforms, which only the engine applies",
    "check/unanswered-function": "A provider function that only the cloud can answer",
}
"""The checks of every preview: code to description."""
_LEVELS: Mapping[Severity, str] = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def sarif_text(plan: Plan) -> str:
    """The findings as SARIF 2.1.0, each at the line of the program that declares the resource."""
    return json.dumps(to_sarif(plan), indent=2, ensure_ascii=False) + "\n"


def to_sarif(plan: Plan) -> dict[str, Any]:
    """:func:`sarif_text` as a document."""
    root = _repository(Path(plan.directory))
    codes = sorted({finding.code for finding in plan.findings})
    redactor = Redactor(plan)
    seen: dict[str, int] = {}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "winkube",
                        "semanticVersion": metadata.version("winkube"),
                        "rules": [_rule(code, plan.findings) for code in codes],
                    }
                },
                # Each stack of a commit is an analysis of its own, so that none hides the results of another.
                "automationDetails": {"id": f"winkube/{plan.project}/{plan.stack}/"},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {
                    "SRCROOT": {"description": {"text": "The top folder of the repository"}},
                },
                "results": [_result(finding, codes, plan, root, redactor, seen) for finding in plan.findings],
            }
        ],
    }


def _rule(code: str, findings: Iterable[Finding]) -> dict[str, Any]:
    worst = min((finding.severity for finding in findings if finding.code == code), key=list(Severity).index)
    return {
        "id": code,
        "shortDescription": {"text": describe(code)},
        "defaultConfiguration": {"level": _LEVELS[worst]},
    }


def describe(code: str) -> str:
    """The description of a code.

    >>> describe("policy/winkube/imds-v2")
    'Policy imds-v2 of winkube'
    """
    if code in CHECKS:
        return CHECKS[code]
    kind, _, rest = code.partition("/")
    pack, _, name = rest.rpartition("/")
    return f"Policy {name} of {pack}" if kind == "policy" and pack else rest.replace("-", " ") or code


def _result(
    finding: Finding, codes: list[str], plan: Plan, root: Path, redactor: Redactor, seen: dict[str, int]
) -> dict[str, Any]:
    words = [finding.message, finding.remedy and f"Remedy: {finding.remedy}"]
    where = f"At {finding.path} of {finding.urn}" if finding.path and finding.urn else finding.path or finding.urn
    text = redactor.text("\n".join(part for part in (*words, where) if part))
    location: dict[str, Any] = {"physicalLocation": _location(finding, plan, root)}
    if finding.urn:
        name = f"{finding.urn}#{finding.path}" if finding.path else finding.urn
        location["logicalLocations"] = [{"fullyQualifiedName": redactor.text(name), "kind": "resource"}]
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"winkubeFinding/v1": _fingerprint(finding, seen)},
    }


def _fingerprint(finding: Finding, seen: dict[str, int]) -> str:
    """A fingerprint that does not depend on the line, and is made of nothing that may be secret."""
    # Without the stack of the URN: code scanning separates stacks by their analysis.
    key = "\0".join((finding.code, relative(finding.urn), finding.path))
    seen[key] = seen.get(key, 0) + 1
    return hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "replace")).hexdigest()[:32]


def _location(finding: Finding, plan: Plan, root: Path) -> dict[str, Any]:
    """The line that declares the resource; the project file if that line is outside the repository."""
    program = Path(plan.directory)
    file, line = program / "Pulumi.yaml", 1
    if finding.source is not None:
        found = Path(_normal(program / finding.source.file))
        if found.is_relative_to(root):
            file, line = found, max(1, finding.source.line)
    place = file.relative_to(root) if file.is_relative_to(root) else Path(file.name)
    return {
        "artifactLocation": {"uri": quote(place.as_posix()), "uriBaseId": "SRCROOT"},
        "region": {"startLine": line},
    }


def _normal(path: Path) -> str:
    import os.path

    return os.path.normpath(path)


def _repository(directory: Path) -> Path:
    """The folder that holds ``.git``, else the folder of the program."""
    return next((folder for folder in (directory, *directory.parents) if (folder / ".git").exists()), directory)


# -- JUnit -------------------------------------------------------------------------------------------------------

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(plan: Plan, codes: Iterable[str] = ()) -> str:
    """The checks as JUnit test cases: one for each code, failed if it has an error or a warning.

    :param codes: further codes that were checked, such as the policies of a pack.
    """
    redactor = Redactor(plan)
    by_code: dict[str, list[Finding]] = {code: [] for code in (*CHECKS, *codes)}
    for finding in plan.findings:
        by_code.setdefault(finding.code, []).append(finding)
    failed = {code: _blocking(found) for code, found in by_code.items()}
    failures = sum(map(bool, failed.values()))
    counts = {"tests": str(len(by_code)), "failures": str(failures), "errors": "0", "skipped": "0"}
    suites = ET.Element("testsuites", {"name": "winkube preview", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": _xml(f"{plan.project}/{plan.stack}"), **counts})
    for code, found in sorted(by_code.items()):
        kind, _, name = code.rpartition("/")
        case = ET.SubElement(suite, "testcase", classname=_xml(f"winkube.{kind.replace('/', '.')}"),
                                      name=_xml(name))  # fmt: skip
        if failed[code]:
            head = failed[code][0]
            many = f"{len(failed[code])} findings: " if len(failed[code]) > 1 else ""
            message = _xml(redactor.text(many + head.message))
            failure = ET.SubElement(case, "failure", type=str(head.severity), message=message)
            failure.text = _xml(redactor.text("\n\n".join(map(_words, failed[code]))))
        notes = [finding for finding in found if finding.severity is Severity.NOTE]
        if notes:
            ET.SubElement(case, "system-out").text = _xml(redactor.text("\n\n".join(map(_words, notes))))
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _blocking(findings: Iterable[Finding]) -> list[Finding]:
    found = [finding for finding in findings if finding.severity is not Severity.NOTE]
    return sorted(found, key=lambda finding: finding.order)


def _words(finding: Finding) -> str:
    from .plan_formats import finding_lines

    return "\n".join(finding_lines(finding))


def _xml(text: str) -> str:
    return _NOT_XML.sub("�", text)
