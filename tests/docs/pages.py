"""The pages of this project, and the code on them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NEEDS = ("needs AWS", "needs Pulumi", "needs a cluster", "needs a package index", "needs a release", "on a node")
"""What a block of commands that no test runs may say of itself."""


@dataclass(frozen=True, slots=True)
class Fence:
    """Lines of code that stand together on a page."""

    page: str
    line: int
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def fences_of(file: Path, *languages: str) -> list[Fence]:
    """The blocks of a page in one of these languages, indented ones too."""
    text = file.read_text(encoding="utf-8")
    found: list[Fence] = []
    for match in re.finditer(r"^( *)```(\w+)\b([^\n]*)\n(.*?)^ *```$", text, flags=re.M | re.S):
        indent, language, rest, body = match.groups()
        if language not in languages:
            continue
        title = re.search(r'title="([^"]*)"', rest)
        line = text.count("\n", 0, match.start()) + 1
        plain = re.sub(f"^{indent}", "", body, flags=re.M)
        found.append(Fence(str(file.relative_to(ROOT)), line, title[1] if title else "", plain))
    return found


BLOCKS = [block for file in FILES for block in fences_of(file, "sh", "bash", "shell", "console")]
RUN_HERE = [block for block in BLOCKS if not block.title]


def own_commands() -> list[tuple[str, str]]:
    """Every command of ours that stands anywhere, in a block or in the text: page and command."""
    found: list[tuple[str, str]] = []
    for file in FILES:
        page, text = str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
        without_blocks = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)
        spans = re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", without_blocks)
        lines = [line.strip() for block in BLOCKS if block.page == page for line in block.text.splitlines()]
        commands = [" ".join(span.split()) for span in spans] + lines
        ours = [command for command in commands if re.match(r"(winkube|make) [a-z]", command)]
        found += [(page, re.sub(r"\s+#.*$", "", command)) for command in ours]
    return sorted(set(found))
