"""Writes what is derived from the code, or checks that it is up to date.

``--write`` writes, ``--check`` exits 1 and names what differs: the list of error codes, the JSON Schema of the
stack files, the preview that the README shows, the versions that pages name, the pictures of the concepts page.
"""

import argparse
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import partial
from html import escape
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import winkube
import yaml
from winkube.core.mistakes import Rule
from winkube.plugin.provider import current_schema
from winkube.policies.reference import policies_page
from winkube.tables.artefacts import ARCHITECTURES, DIGEST_MISSING, RUNTIMES, NodeKind, check_artefacts
from winkube.tables.kubernetes import EKS_KNOWN_MINORS, EKS_MINORS, EKS_STATE_OF, newest, oldest
from winkube.tables.releases import SELF_MANAGED_MINORS, SELF_MANAGED_RELEASES
from winkube.tables.windows import WINDOWS_RELEASES

ROOT = Path(__file__).resolve().parent.parent
ROOM_TITLES = {
    "ADD": "Add-ons", "AGT": "Node agent", "ART": "Downloads of nodes", "BKT": "State bucket",
    "CP": "Self-managed control plane", "DNS": "Zones and names", "EKS": "EKS clusters and node groups",
    "IAM": "IAM roles", "IG": "Instance groups", "INV": "Inventories", "K8S": "Kubernetes objects",
    "KAD": "kubeadm and kubelet documents",
    "NET": "Network", "OPS": "Commands for clusters", "PLG": "Other languages",
    "SCH": "Labels, taints and scheduling", "SET": "Settings", "TAG": "Tags", "WIN": "Boot of Windows nodes",
}  # fmt: skip
RETIRED = frozenset({"WK-ADD-043", "WK-K8S-017", "WK-K8S-018", "WK-K8S-019", "WK-K8S-036"})
"""Codes of rules that are gone: a code never changes its meaning."""
MISTAKES = (
    (r'windows: "2022"', 'windows: "2025"'),
    (r'kubernetesVersion: "[^"]+"', f'kubernetesVersion: "{oldest(EKS_MINORS)}"'),
    (r"maxSize", "maxsize"),
)
"""What the README's example of an error changes in the dev stack: patterns, and what stands there instead."""


def modules() -> Iterator[str]:
    """The modules of the library and of the stacks, by name."""
    for package in (winkube, importlib.import_module("stacks")):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                yield module.name


def rules() -> list[Rule]:
    """Every rule, by code.

    :raises ValueError: when two rules share a code, or one has the code of a rule that is gone.
    """
    found: dict[str, Rule] = {}
    for name in modules():
        for value in vars(importlib.import_module(name)).values():
            for rule in [value] if isinstance(value, Rule) else []:
                if found.setdefault(rule.code, rule) != rule:
                    raise ValueError(f"two rules have the code {rule.code}")
                if rule.code in RETIRED:
                    raise ValueError(f"{rule.code} was the code of another rule; take the next free one")
    return [found[code] for code in sorted(found)]


def errors_page() -> str:
    """The page of error codes."""
    lines = [
        "# Error codes",
        "",
        "Every mistake is reported with its path, the rule, the value found, what to write instead, and one of these",
        "codes. A code never changes its meaning. This page is made from the rules in the code by `make docs`.",
    ]
    room = ""
    for rule in rules():
        if room != (room := rule.code.split("-")[1]):
            lines += ["", f"## {ROOM_TITLES[room]}", ""]
        source = f" ([source]({rule.source}))" if rule.source.startswith("http") else ""
        lines.append(f"- **{rule.code}**: {rule.title}{source}")
    return "\n".join([*lines, ""])


def schema_text() -> str:
    """The JSON Schema of the stack files."""
    return importlib.import_module("stacks.config.schema").schema_text()


def published(name: str) -> str:
    """The schema of a JSON output, as the package carries it."""
    return (ROOT / "preview" / "output" / f"{name}.schema.json").read_text(encoding="utf-8")


def page(name: str, **blocks: str) -> str:
    """A page whose marked blocks say what the tables say now."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for block, content in blocks.items():
        text = _filled(text, block, content)
    return text


def _table(*rows: Iterable[str]) -> str:
    head, *rest = [list(row) for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rest])


def _written(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _span(minors: Iterable[str]) -> str:
    known = list(minors)
    return f"{oldest(known)} to {newest(known)}"


def flavours_table() -> str:
    """What each flavour runs, in the README."""
    eks = "Amazon Linux 2023, Bottlerocket; Windows Server 2022 and 2025 (2019 with a warning)"
    kubeadm = "Amazon Linux 2023, Ubuntu 24.04; Windows Server 2022 and 2025"
    slots = "kubeadm on 1, 3 or 5 EC2 instances"
    return _table(
        ("flavour", "control plane", "Kubernetes", "nodes", "stacks to begin with"),
        ("`eks`", "EKS", _span(EKS_MINORS), eks, "`dev`, `prod`"),
        ("`kubeadm`", slots, _span(SELF_MANAGED_MINORS), kubeadm, "`kubeadm-dev`, `kubeadm-prod`"),
    )


def eks_table() -> str:
    """The minors of EKS with their days."""
    rows = (
        (row.minor, _written(row.since), _until(row.standard_support_until), _until(row.extended_support_until))
        for row in EKS_KNOWN_MINORS.values()
    )
    return _table(("Kubernetes", "on EKS since", "standard support", "extended support"), *rows)


def _until(day: date) -> str:
    return f"{'until' if day >= EKS_STATE_OF else 'ended'} {_written(day)}"


def self_managed_table() -> str:
    """The minors of self-managed clusters with their patches."""
    rows = ((row.minor, row.patch, _written(row.end_of_life)) for row in SELF_MANAGED_RELEASES.values())
    return _table(("Kubernetes, self-managed", "patch", "upstream maintains it until"), *rows)


def windows_table() -> str:
    """The releases of Windows Server on self-managed clusters."""
    found: dict[str, list[str]] = {}
    for row in SELF_MANAGED_RELEASES.values():
        for windows in row.windows:
            found.setdefault(windows, []).append(row.minor)
    rows = ((name, WINDOWS_RELEASES[name].build, _span(minors)) for name, minors in found.items())
    return _table(("release", "build", "self-managed Kubernetes"), *rows)


def missing_digests() -> str:
    """The files whose digest the user has to give."""
    kinds = [NodeKind(os="windows")]
    linux = product(RUNTIMES, ARCHITECTURES)
    kinds += [NodeKind(role="control_plane", runtime=one, architecture=two) for one, two in linux]
    missing = {
        str(mistake.path[-1])
        for minor in SELF_MANAGED_MINORS
        for kind in kinds
        for mistake in check_artefacts(minor, [kind])
        if mistake.rule is DIGEST_MISSING
    }
    return "\n".join(f"- `{name}`" for name in sorted(missing)) or "None."


def readme() -> str:
    """The README with what the tables say and the commands print now, and the example as it is."""
    text = page("README.md", flavours=flavours_table())
    text = _filled(text, "preview", _block("text", _output("dev", "--policies", "policies")))
    with TemporaryDirectory() as folder:
        text = _filled(text, "mistake", _block("text", _output("dev", "--program", str(_mistaken(Path(folder))))))
    example = (ROOT / "examples" / "minimal_eks" / "__main__.py").read_text(encoding="utf-8")
    return _filled(text, "example", _block("python", example))


def _house() -> dict[str, list[dict[str, str]]]:
    """Folder to its floors from the ground up, each with its rooms and what they are."""
    house = yaml.safe_load((ROOT / "docs" / "rooms.yaml").read_text(encoding="utf-8"))
    return {folder: facts["floors"] for folder, facts in house.items()}


def architecture() -> str:
    """The page on the architecture with the rooms of ``docs/rooms.yaml``, the top floor first."""
    house = _house()
    lines: list[str] = []
    for folder, floors in house.items():
        lines += [f"### `{folder}/`", "", "| floor | room | what it is |", "|---|---|---|"]
        for number, rooms in reversed(list(enumerate(floors, start=1))):
            lines += [f"| {number} | `{room}` | {words} |" for room, words in rooms.items()]
        lines.append("")
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return _filled(page, "rooms", "\n".join(["", *lines]))


def rooms_picture() -> str:
    """The folders as houses side by side, each with its floors and rooms."""
    house = _house()
    width, height, gap = 128, 30, 6
    top = max(map(len, house.values()))
    parts: list[str] = []
    left = gap
    for folder, floors in house.items():
        wide = max(map(len, floors))
        middle = left + wide * (width + gap) / 2
        parts.append(f'<text class="folder" x="{middle:g}" y="{(top + 1) * (height + gap) - 10}">{folder}/</text>')
        for number, rooms in enumerate(floors):
            y = (top - 1 - number) * (height + gap) + gap
            start = middle - len(rooms) * (width + gap) / 2
            for at, (room, words) in enumerate(rooms.items()):
                x = start + at * (width + gap)
                parts.append(
                    f"<g><title>{escape(words)}</title>"
                    f'<rect x="{x:g}" y="{y}" width="{width}" height="{height}" rx="4"/>'
                    f'<text x="{x + width / 2:g}" y="{y + 19}">{room}</text></g>'
                )
        left += wide * (width + gap) + 4 * gap
    style = (
        "text{font:12px sans-serif;text-anchor:middle;fill:#222}.folder{font-weight:bold;fill:#777}"
        "rect{fill:#eef3f8;stroke:#7a93ab}"
    )
    size = f"{left:g} {(top + 1) * (height + gap)}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}"><style>{style}</style>\n' + "\n".join(
        [*parts, "</svg>", ""]
    )


def picture(stack: str) -> str:
    """What of a stack will stand where, as the program itself draws it."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "picture.svg"
        said = _output(stack, "--topology", str(file))
        if not file.exists():
            raise ValueError(f"the stack {stack} could not be drawn: {said}")
        return file.read_text(encoding="utf-8")


def _filled(text: str, name: str, content: str) -> str:
    start, end = f"<!-- {name}: made by `make docs` -->", f"<!-- end of {name} -->"
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"the page has no marks for {name}: {start} … {end}")
    return f"{before}{start}\n{content}\n{end}{after}"


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _output(*arguments: str) -> str:
    command = [sys.executable, "-m", "winkube.preview.cli.main", "preview", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())


def _mistaken(folder: Path) -> Path:
    """The program with a stack file in which a few things are wrong."""
    for name in ("Pulumi.yaml", "__main__.py"):
        (folder / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "stacks").symlink_to(ROOT / "stacks")
    text = (ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    for right, wrong in MISTAKES:
        text, changed = re.subn(right, wrong, text, count=1)
        if not changed:
            raise ValueError(f"Pulumi.dev.yaml no longer says {right}")
    (folder / "Pulumi.dev.yaml").write_text(text, encoding="utf-8")
    return folder


FILES: Mapping[str, Callable[[], str]] = {
    "docs/architecture.md": architecture,
    "docs/errors.md": errors_page,
    "docs/pictures/rooms.svg": rooms_picture,
    "docs/policies.md": policies_page,
    "docs/stack.schema.json": schema_text,
    "docs/plan.schema.json": lambda: published("plan"),
    "docs/difference.schema.json": lambda: published("difference"),
    **{f"docs/pictures/{stack}.svg": partial(picture, stack) for stack in ("dev", "kubeadm-prod")},
    "components/plugin/schema.json": current_schema,
    "docs/limits.md": lambda: page("docs/limits.md", eks=eks_table(), releases=self_managed_table()),
    "docs/windows-nodes.md": lambda: page("docs/windows-nodes.md", windows=windows_table()),
    "docs/air-gap.md": lambda: page("docs/air-gap.md", missing=missing_digests()),
    "README.md": readme,
}


def main() -> int:
    """Write or check every generated file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true", help="write the files")
    choice.add_argument("--check", action="store_true", help="exit 1 when a file is out of date")
    write = parser.parse_args().write
    sys.path.insert(0, str(ROOT))
    stale: list[str] = []
    for name, make in FILES.items():
        path, text = ROOT / name, make()
        if write:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"out of date: {', '.join(stale)}; run `make docs` and commit the result", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
