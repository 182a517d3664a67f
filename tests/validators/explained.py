"""What a validator finds, and what of it is left for a reason."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import shorten
from typing import Any

import yaml

SHORTEST_REASON = 6
"""In words: less explains nothing."""

LONGEST_TEXT = 300


@dataclass(frozen=True, order=True)
class Finding:
    """What a validator has against one resource of one plan."""

    check: str
    plan: str
    address: str
    text: str
    """What the validator says."""

    @property
    def place(self) -> str:
        """What the patterns of exceptions are matched with."""
        return f"{self.plan}/{self.address}"

    def __str__(self) -> str:
        return f"{self.check} {self.place}: {shorten(self.text, LONGEST_TEXT)}"


def findings_of(report: Mapping[str, Any], result: str = "failed_checks") -> list[Finding]:
    """What a report of checkov lists, by plan."""
    return sorted(
        Finding(row["check_id"], Path(row["file_path"]).stem, row["resource"], row["check_name"])
        for row in report["results"][result]
    )


class Exceptions:
    """A file of exceptions: check → pattern of ``<plan>/<address>`` → why."""

    def __init__(self, path: Path) -> None:
        rows: Mapping[str, Mapping[str, str]] = yaml.safe_load(path.read_text())
        self.rows = [(check, pattern, why) for check, reasons in rows.items() for pattern, why in reasons.items()]

    def left(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that nothing explains."""
        return sorted(finding for finding in findings if not any(_falls(finding, *row[:2]) for row in self.rows))

    def useless(self, findings: Iterable[Finding]) -> Iterator[str]:
        """Exceptions that nothing falls under any more: they would hide the next finding."""
        found = list(findings)
        for check, pattern, _ in self.rows:
            if not any(_falls(finding, check, pattern) for finding in found):
                yield f"{check} {pattern}"

    def unexplained(self) -> Iterator[str]:
        """Exceptions without a reason worth the name."""
        for check, pattern, why in self.rows:
            if not isinstance(why, str) or len(why.split()) < SHORTEST_REASON:
                yield f"{check} {pattern}"


def _falls(finding: Finding, check: str, pattern: str) -> bool:
    return finding.check == check and fnmatchcase(finding.place, pattern)
