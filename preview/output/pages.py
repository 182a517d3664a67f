"""Writes the files of a plan: the HTML page and the drawing of the topology."""

from collections.abc import Callable
from pathlib import Path

from ..comparison.difference import Difference
from ..errors import PreviewError
from ..evaluation.project import read_configuration, read_project
from ..model import Plan
from ..text.redact import Redactor
from .report.page import report_html, shower
from .topology import mermaid_dot, svg
from .topology.model import Topology, shown_topology
from .topology.topology import build_topology

DRAWINGS: dict[str, Callable[[Topology], str]] = {
    ".svg": svg.svg,
    ".mmd": mermaid_dot.mermaid,
    ".dot": mermaid_dot.dot,
}
"""File suffix to the format of the topology."""


def check_pages(report: Path | None, topology: Path | None) -> None:
    """Check the files to write before the program is evaluated.

    :raises PreviewError: a suffix is unknown, or a folder does not exist.
    """
    if topology and topology.suffix not in DRAWINGS:
        suffixes = ", ".join(DRAWINGS)
        raise PreviewError(f"--topology {topology}: the file suffix must be one of {suffixes}")
    for file in filter(None, (report, topology)):
        if not file.parent.is_dir():
            raise PreviewError(f"{file}: the folder {file.parent} does not exist; create it first")


def write_pages(
    plan: Plan, program: Path, report: Path | None, topology: Path | None, difference: Difference | None = None
) -> None:
    """Write the requested files."""
    drawn = build_topology(plan, _region(program, plan.stack))
    if report:
        _write(report, report_html(plan, topology=drawn, difference=difference))
    if topology:
        _write(topology, DRAWINGS[topology.suffix](shown_topology(drawn, shower(Redactor(plan)))))


def _region(program: Path, stack: str) -> str:
    """The region of the default provider in the stack file; ``""`` if it is not given, or is a secret."""
    configuration = read_configuration(read_project(program), stack)
    if "aws:region" in configuration.secret_keys | configuration.unknown_keys:
        return ""
    return configuration.values.get("aws:region", "")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PreviewError(f"{file} cannot be written: {error.strerror}") from error
